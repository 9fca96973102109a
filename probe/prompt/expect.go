package prompt

import (
	"fmt"
	"regexp"
	"strings"
)

// Bounds of an answer check. RE2 is linear in pattern times text; the bounds keep that product small.
const (
	MaxPattern = 1_000   // bytes of Expect.Regex
	MaxAnswer  = 1 << 20 // bytes of an answer that Check looks at
)

// Expect is what an answer must look like. All given conditions must hold.
type Expect struct {
	Contains string `koanf:"contains"` // case-sensitive substring
	Regex    string `koanf:"regex"`    // RE2

	compiled *regexp.Regexp // of Regex, set by Compile
}

// Compile checks e and prepares its regular expression. Call it once, before e is shared; the error says what is
// wrong with the pattern and the fix.
func (e *Expect) Compile() error {
	if e.Contains == "" && e.Regex == "" {
		return fmt.Errorf("expect names no condition: give contains or regex")
	}
	if e.Regex == "" {
		return nil
	}
	re, err := compile(e.Regex)
	if err != nil {
		return err
	}
	e.compiled = re
	return nil
}

func compile(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > MaxPattern {
		return nil, fmt.Errorf("regex has %d bytes: use at most %d", len(pattern), MaxPattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("regex %q is not valid RE2 (no look-around, no back-references): %w", pattern, err)
	}
	return re, nil
}

// Check reports whether answer meets every condition; only its first MaxAnswer bytes are looked at. A nil Expect holds
// for every answer, a pattern that does not compile for none. Check is safe for concurrent use.
func (e *Expect) Check(answer string) bool {
	if e == nil {
		return true
	}
	if len(answer) > MaxAnswer {
		answer = answer[:MaxAnswer]
	}
	if e.Contains != "" && !strings.Contains(answer, e.Contains) {
		return false
	}
	if e.Regex == "" {
		return true
	}
	re := e.compiled
	if re == nil || re.String() != e.Regex {
		var err error
		if re, err = compile(e.Regex); err != nil {
			return false
		}
	}
	return re.MatchString(answer)
}
