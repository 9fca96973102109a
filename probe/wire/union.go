package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// elements cuts a JSON array.
func elements(data []byte) ([]json.RawMessage, error) {
	var list []json.RawMessage
	err := json.Unmarshal(data, &list)
	return list, err
}

// decode reads data into v. A field of an unexpected type is left out; only broken JSON is an error.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// str is a string that may come as null, a number or anything else; only strings and numbers give a value. Its text may be
// that of the event's data: what outlives the event is cloned.
type str string

// UnmarshalJSON never fails.
func (s *str) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) > 1 && b[0] == '"':
		*s = str(unquote(b))
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		*s = str(b)
	}
	return nil
}

// number returns s as a whole number, or 0.
func (s str) number() int {
	n, err := strconv.Atoi(string(s))
	if err != nil {
		return 0
	}
	return n
}

// content is what a delta may carry as its content: a string, null, one typed part or an array of typed parts.
type content struct {
	text     string // visible text
	thinking bool   // non-empty reasoning in a typed part
	other    Kind   // refusal and such
	object   bool   // an object with something in it
}

// UnmarshalJSON never fails.
func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	c.take(b, 0)
	return nil
}

func (c *content) take(b []byte, depth int) {
	b = bytes.TrimSpace(b)
	if len(b) < 2 || depth > 4 {
		return
	}
	switch b[0] {
	case '"':
		c.text += unquote(b)
	case '[':
		list, err := elements(b)
		if err != nil {
			return
		}
		for _, v := range list {
			c.take(v, depth+1)
		}
	case '{':
		c.object = c.object || filled(b)
		c.part(b, depth)
	}
}

// part takes one typed part: {"type":"text","text":…}, {"type":"thinking","thinking":…}, {"type":"refusal",…}.
func (c *content) part(b []byte, depth int) {
	var v struct {
		Type     str             `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
		Refusal  str             `json:"refusal"`
	}
	if decode(b, &v) != nil {
		return
	}
	var thought, text content
	thought.take(v.Thinking, depth+1)
	text.take(v.Text, depth+1)
	hidden := v.Type == "thinking" || v.Type == "reasoning"
	c.thinking = c.thinking || thought.text != "" || thought.thinking || hidden && text.text != ""
	if !hidden {
		c.text += text.text
	}
	if v.Refusal != "" {
		c.other |= Refusal
	}
}

// filled reports whether b is a JSON value with something in it: not null, "", {}, [], false.
func filled(b []byte) bool {
	b = bytes.TrimSpace(b)
	switch string(b) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}
