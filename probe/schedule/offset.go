package schedule

import (
	"hash/fnv"
	"time"
)

// DefaultSpread is the bound of the deterministic delay where none is given; it is also the largest that has an effect.
const DefaultSpread = 5 * time.Minute

// Offset returns the delay of every run of key behind its cron time: at least 0 and below min(spread, interval, 5 min), in
// whole milliseconds, the same in every process (a hash of the key). A spread or interval of 0 gives 0.
func Offset(key string, spread, interval time.Duration) time.Duration {
	bound := min(spread, interval, DefaultSpread).Milliseconds()
	if bound <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	z := h.Sum64()
	// Keys that differ in their last letters only must land far apart, which FNV alone does not do in its high bits.
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	z ^= z >> 31
	return time.Duration(z%uint64(bound)) * time.Millisecond
}

// Offset returns the delay of every run of e behind its cron time. It depends on key, spread and schedule alone, not on
// when it is asked for, so that a restart keeps every run in its place.
func (e Entry) Offset() time.Duration {
	return Offset(e.Key, e.Spread, Interval(e.Schedule, reference()))
}
