package prompt

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Bounds of an answer check. RE2 is linear in pattern times text; the bounds keep that product small.
const (
	MaxPattern = 1_000   // bytes of Expect.Regex
	MaxAnswer  = 1 << 20 // bytes of an answer that Check looks at
)

// Expect is what an answer must look like. All given conditions must hold.
type Expect struct {
	Contains   string `koanf:"contains"`    // case-sensitive substring
	Regex      string `koanf:"regex"`       // RE2
	JSON       bool   `koanf:"json"`        // the whole answer is one JSON value; implied by JSONField
	JSONField  string `koanf:"json_field"`  // it has this field: "a.b[0]"
	JSONEquals string `koanf:"json_equals"` // which is this: a string's text, or any value as JSON
	MaxLength  int    `koanf:"max_length"`  // characters; 0 = any
	Language   string `koanf:"language"`    // en, zh: most of its words are written in that language's script

	compiled *regexp.Regexp // of Regex, set by Compile
	steps    []jsonStep     // of JSONField, set by Compile
}

// Compile checks e and prepares it. Call it once, before e is shared; the error says what is wrong and the fix.
func (e *Expect) Compile() error {
	if err := e.sensible(); err != nil {
		return err
	}
	if e.Regex != "" {
		re, err := compile(e.Regex)
		if err != nil {
			return err
		}
		e.compiled = re
	}
	steps, err := parsePath(e.JSONField)
	e.steps = steps
	return err
}

// sensible refuses what asks for nothing or for something that cannot be.
func (e *Expect) sensible() error {
	switch {
	case e.Contains == "" && e.Regex == "" && !e.JSON && e.JSONField == "" && e.JSONEquals == "" && e.MaxLength == 0 && e.Language == "":
		return errors.New("expect names no condition: give contains, regex, json, json_field, max_length or language")
	case e.JSONEquals != "" && e.JSONField == "":
		return errors.New(`json_equals says nothing of which field: give json_field, such as "a.b[0]"`)
	case e.MaxLength < 0:
		return fmt.Errorf("max_length is %d: write the most characters that an answer may have", e.MaxLength)
	case e.Language != "" && e.Language != English && e.Language != Chinese:
		return fmt.Errorf("language %q has no test: use en or zh", e.Language)
	}
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

// Check reports whether answer meets every condition. A nil Expect holds for every answer, a condition that does not
// compile for none. Check is safe for concurrent use.
func (e *Expect) Check(answer string) bool { return e.Miss(answer) == "" }

// Miss names the first condition, by its config key, that answer does not meet; "" = it meets all. Only the first
// MaxAnswer bytes are looked at, but for the length.
func (e *Expect) Miss(answer string) string {
	if e == nil {
		return ""
	}
	if e.MaxLength > 0 && utf8.RuneCountInString(answer) > e.MaxLength {
		return "max_length"
	}
	if len(answer) > MaxAnswer {
		answer = answer[:MaxAnswer]
	}
	switch {
	case e.Contains != "" && !strings.Contains(answer, e.Contains):
		return "contains"
	case e.Regex != "" && !e.matches(answer):
		return "regex"
	case e.Language != "" && !writtenIn(answer, e.Language):
		return "language"
	}
	return e.missJSON(answer)
}

func (e *Expect) matches(answer string) bool {
	re := e.compiled
	if re == nil || re.String() != e.Regex {
		var err error
		if re, err = compile(e.Regex); err != nil {
			return false
		}
	}
	return re.MatchString(answer)
}
