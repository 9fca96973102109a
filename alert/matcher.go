package alert

import (
	"encoding"
	"fmt"
	"slices"
	"strings"

	"serin/probe/glob"
)

var (
	_ encoding.TextMarshaler   = Matcher{}
	_ encoding.TextUnmarshaler = (*Matcher)(nil)
)

// Matcher holds one thing about an alert against a pattern: target, scene, size, kind and severity of the alert; any
// other name is a label of its target.
type Matcher struct {
	Name    string
	Pattern string // globs, several with | between them
	Not     bool   // matches what the pattern does not
}

// ParseMatcher reads name=pattern or name!=pattern. The error says what is wrong and the fix; whether anything has that
// name is for the caller to say.
func ParseMatcher(text string) (Matcher, error) {
	name, pattern, found := strings.Cut(text, "=")
	m := Matcher{Name: strings.TrimSpace(name), Pattern: strings.TrimSpace(pattern)}
	if n, not := strings.CutSuffix(m.Name, "!"); not {
		m.Name, m.Not = strings.TrimSpace(n), true
	}
	switch {
	case !found || m.Name == "":
		return m, fmt.Errorf("%q is no matcher: write name=pattern or name!=pattern, such as target='gw-*'", text)
	case len(text) > maxMatcher:
		return m, fmt.Errorf("a matcher has over %d characters: write several silences", maxMatcher)
	case !glob.Valid(m.Pattern):
		return m, fmt.Errorf("%q is not a pattern: write a value, a glob such as gw-*, or several with | between them", m.Pattern)
	}
	return m, nil
}

// maxMatcher bounds the text of a matcher, bytes.
const maxMatcher = 256

// String returns the matcher as ParseMatcher reads it.
func (m Matcher) String() string {
	if m.Not {
		return m.Name + "!=" + m.Pattern
	}
	return m.Name + "=" + m.Pattern
}

// MarshalText writes the matcher as String does: so it stands in JSON.
func (m Matcher) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText wrote; its errors are those of ParseMatcher.
func (m *Matcher) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMatcher(string(text))
	return err
}

// holds reports whether an alert matches. What is silenced by accident is worse than what is not: an alert of a whole
// target matches a scene or size only where all of its scenes or sizes do.
func (m Matcher) Holds(f Fact) bool {
	values := f.values(m.Name)
	if m.Name == "severity" {
		values = []string{string(f.Alert.Severity)}
	}
	for _, v := range values {
		if (v != "" && glob.Match(m.Pattern, v)) == m.Not {
			return false
		}
	}
	return len(values) > 0
}

// Matchers must all hold.
type Matchers []Matcher

func (ms Matchers) Holds(f Fact) bool {
	for _, m := range ms {
		if !m.Holds(f) {
			return false
		}
	}
	return true
}

// Without returns the matchers of other names.
func (ms Matchers) Without(names ...string) Matchers {
	return slices.DeleteFunc(slices.Clone(ms), func(m Matcher) bool { return slices.Contains(names, m.Name) })
}

// String lists the matchers as a person wrote them.
func (ms Matchers) String() string {
	texts := make([]string, len(ms))
	for i, m := range ms {
		texts[i] = m.String()
	}
	return strings.Join(texts, " ")
}
