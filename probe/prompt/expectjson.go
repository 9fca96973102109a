package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// maxPath bounds Expect.JSONField, bytes.
const maxPath = 500

// jsonStep is one step into a JSON value: a member of an object, or an element of an array.
type jsonStep struct {
	member string
	index  int // counted from 0; −1 = a member
}

// parsePath reads "a.b[0].c" or "[2].name". Names are taken as they are; one with a dot or a bracket in it cannot be
// named. An empty path has no steps.
func parsePath(path string) ([]jsonStep, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("json_field has %d bytes: use at most %d", len(path), maxPath)
	}
	var steps []jsonStep
	for i, part := range strings.Split(path, ".") {
		name, rest, indexed := strings.Cut(part, "[")
		if name != "" {
			steps = append(steps, jsonStep{member: name, index: -1})
		} else if path != "" && (i > 0 || !indexed) {
			return nil, pathError(path)
		}
		for indexed {
			var number string
			var closed bool
			number, rest, closed = strings.Cut(rest, "]")
			n, err := strconv.Atoi(number)
			if err != nil || n < 0 || !closed {
				return nil, pathError(path)
			}
			steps = append(steps, jsonStep{index: n})
			if indexed = rest != ""; indexed && rest[0] != '[' {
				return nil, pathError(path)
			}
			rest = strings.TrimPrefix(rest, "[")
		}
		if strings.Contains(name, "]") {
			return nil, pathError(path)
		}
	}
	return steps, nil
}

func pathError(path string) error {
	return fmt.Errorf(`json_field %q is no path: write names and indices, such as "a.b[0]"`, path)
}

// missJSON names the condition about JSON that answer does not meet. Space around the value is allowed, anything else
// (a code fence, a sentence) is not: a program that wants JSON would fail on it too.
func (e *Expect) missJSON(answer string) string {
	if !e.JSON && e.JSONField == "" {
		return ""
	}
	whole, err := decodeJSON(answer)
	if err != nil {
		return "json"
	}
	if e.JSONField == "" {
		return ""
	}
	steps := e.steps
	if steps == nil {
		if steps, err = parsePath(e.JSONField); err != nil {
			return "json_field"
		}
	}
	value, ok := walkJSON(whole, steps)
	switch {
	case !ok:
		return "json_field"
	case e.JSONEquals != "" && !equalsJSON(value, e.JSONEquals):
		return "json_equals"
	}
	return ""
}

// decodeJSON reads exactly one value. encoding/json bounds the depth.
func decodeJSON(text string) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

func walkJSON(v any, steps []jsonStep) (any, bool) {
	for _, s := range steps {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[s.member]
			if !ok || s.index >= 0 {
				return nil, false
			}
			v = next
		case []any:
			if s.index < 0 || s.index >= len(x) {
				return nil, false
			}
			v = x[s.index]
		default:
			return nil, false
		}
	}
	return v, true
}

// equalsJSON reports whether v is a string of that text, or the value that the text is as JSON: 2 equals 2.0, and the
// order of an object's members does not matter.
func equalsJSON(v any, text string) bool {
	if s, ok := v.(string); ok && s == text {
		return true
	}
	want, err := decodeJSON(text)
	return err == nil && reflect.DeepEqual(v, want)
}
