package probe

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Span is a duration that may be unknown. The zero Span is unknown: it is absent in JSON, in the store and on
// /metrics, and never stands for 0. In JSON it is a number of milliseconds.
type Span struct {
	D     time.Duration
	Known bool
}

// Known returns d as a Span that is known, also when d is 0.
func Known(d time.Duration) Span { return Span{D: d, Known: true} }

// Seconds returns the span in seconds; it is 0 when the span is unknown, so ask Known first.
func (s Span) Seconds() float64 { return s.D.Seconds() }

// Millis returns the span in milliseconds; it is 0 when the span is unknown, so ask Known first.
func (s Span) Millis() float64 { return float64(s.D) / float64(time.Millisecond) }

// IsZero reports whether the span is unknown; encoding/json's omitzero asks it.
func (s Span) IsZero() bool { return !s.Known }

// MarshalJSON writes milliseconds, or null when unknown.
func (s Span) MarshalJSON() ([]byte, error) {
	if !s.Known {
		return []byte("null"), nil
	}
	return json.Marshal(s.Millis())
}

// maxMillis is the longest span, either way: some 292 years.
const maxMillis = float64(math.MaxInt64) / float64(time.Millisecond)

// UnmarshalJSON reads milliseconds; null is unknown. An error says that it is no number, or longer than a duration can be.
func (s *Span) UnmarshalJSON(b []byte) error {
	*s = Span{}
	if string(b) == "null" {
		return nil
	}
	ms, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		err = json.Unmarshal(b, &ms) // says what it is instead
	}
	if err != nil {
		return fmt.Errorf("read milliseconds: %w", err)
	}
	if math.Abs(ms) >= maxMillis {
		return fmt.Errorf("%v ms is longer than any duration", ms)
	}
	*s = Known(time.Duration(ms * float64(time.Millisecond)))
	return nil
}

// Maybe is a count or an amount that may be unknown. The zero Maybe is unknown and absent in JSON.
type Maybe[T int64 | float64] struct {
	V     T
	Known bool
}

// Count is a number of tokens that may be unknown.
type Count = Maybe[int64]

// Money is an amount in US dollars that may be unknown.
type Money = Maybe[float64]

// Some returns v as a known value.
func Some[T int64 | float64](v T) Maybe[T] { return Maybe[T]{V: v, Known: true} }

// IsZero reports whether the value is unknown; encoding/json's omitzero asks it.
func (m Maybe[T]) IsZero() bool { return !m.Known }

// MarshalJSON writes the value, or null when unknown.
func (m Maybe[T]) MarshalJSON() ([]byte, error) {
	if !m.Known {
		return []byte("null"), nil
	}
	return json.Marshal(m.V)
}

// UnmarshalJSON reads a number; null is unknown.
func (m *Maybe[T]) UnmarshalJSON(b []byte) error {
	var v *T
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*m = Maybe[T]{}
	if v != nil {
		*m = Some(*v)
	}
	return nil
}
