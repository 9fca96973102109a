package wire

import (
	"bytes"
	"strconv"
)

// Num is a count that may be absent.
type Num struct {
	V     int64
	Known bool
}

// maxCount bounds what is taken for a count, so that no sum of some overflows.
const maxCount = 1 << 53

// UnmarshalJSON takes a whole or decimal number, or a number in quotes; all else is absent, never an error.
func (n *Num) UnmarshalJSON(b []byte) error {
	if b = bytes.Trim(b, `"`); len(b) == 0 || (b[0] < '0' || b[0] > '9') && b[0] != '.' && b[0] != '+' {
		return nil
	}
	if v, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		if v >= 0 && v < maxCount {
			*n = Num{V: v, Known: true}
		}
		return nil
	}
	if f, err := strconv.ParseFloat(string(b), 64); err == nil && f >= 0 && f < maxCount {
		*n = Num{V: int64(f), Known: true}
	}
	return nil
}

// or returns n, or other where n is absent.
func (n Num) or(other Num) Num {
	if n.Known {
		return n
	}
	return other
}

// Usage is what an endpoint counted, as it said it; see Protocol.Normalise for the common meaning.
type Usage struct {
	Input      Num
	Cached     Num
	CacheWrite Num
	Output     Num
	Reasoning  Num
	Total      Num
	Outside    bool // set by Normalise: reasoning was not in the output figure
	Odd        bool // a figure went down, or the total does not add up
}

// Any reports whether a count of tokens is there.
func (u Usage) Any() bool { return u.Input.Known || u.Output.Known }

// Merge takes in a later snapshot: field by field the last known value, where a 0 does not overwrite an input or cache
// figure. A figure that goes down is odd.
func (u *Usage) Merge(later Usage) {
	u.Odd = u.Odd || later.Odd
	u.fold(&u.Input, later.Input, true)
	u.fold(&u.Cached, later.Cached, true)
	u.fold(&u.CacheWrite, later.CacheWrite, true)
	u.fold(&u.Output, later.Output, false)
	u.fold(&u.Reasoning, later.Reasoning, false)
	u.fold(&u.Total, later.Total, true)
}

func (u *Usage) fold(have *Num, later Num, keep bool) {
	if !later.Known || keep && later.V == 0 && have.V > 0 {
		return
	}
	if have.Known && later.V < have.V {
		u.Odd = true
	}
	*have = later
}

// reasoningInside is the rule of the OpenAI family: input holds the cached, output holds the reasoning, unless the total
// shows that the reasoning reported lies outside. A remainder without a reported count is odd, never a split.
func reasoningInside(u Usage) Usage {
	if !u.Total.Known || !u.Input.Known || !u.Output.Known {
		return u
	}
	rest := u.Total.V - u.Input.V - u.Output.V
	switch {
	case rest > 0 && u.Reasoning.Known && rest == u.Reasoning.V:
		u.Output.V += rest
		u.Outside, u.Odd = true, true
	case rest != 0:
		u.Odd = true
	}
	return u
}
