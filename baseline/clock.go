package baseline

import "time"

const (
	minute = int64(time.Minute)
	hour   = int64(time.Hour)
	day    = 24 * hour
)

// clock reads a zone's wall clock as a count. An instant is Unix nanoseconds; the wall count of an instant is the
// nanoseconds between 1970-01-01 00:00 and the date and time that the zone's clock shows, so that a local day is 24 h
// of it whatever the zone does. Where the clock is put back one wall count belongs to two instants; where it is put
// forward some belong to none.
type clock struct{ zone *time.Location }

// interval is a half-open interval of instants.
type interval struct{ from, to int64 }

func (c clock) at(t int64) time.Time { return time.Unix(0, t).In(c.zone) }

func (c clock) wall(t int64) int64 {
	_, offset := c.at(t).Zone()
	return t + int64(offset)*int64(time.Second)
}

// start returns the instant at which the run of length (a divisor of the day) around t began: when the clock showed
// its beginning, or when the zone's offset last changed, whichever is later. A repeated hour is a run of its own.
func (c clock) start(t, length int64) int64 {
	s := t - mod(c.wall(t), length)
	if since, _ := c.at(t).ZoneBounds(); !since.IsZero() {
		s = max(s, since.UnixNano())
	}
	return s
}

// intervals appends to list the instants at which the wall count is in [from, to), by time.
func (c clock) intervals(list []interval, from, to int64) []interval {
	for t := from - 15*hour; t < to+15*hour; { // no zone is further than that from UTC
		local := c.at(t)
		_, seconds := local.Zone()
		offset := int64(seconds) * int64(time.Second)
		since, until := local.ZoneBounds()
		part := interval{from - offset, to - offset}
		if !since.IsZero() {
			part.from = max(part.from, since.UnixNano())
		}
		if !until.IsZero() {
			part.to = min(part.to, until.UnixNano())
		}
		if part.from < part.to {
			list = append(list, part)
		}
		if until.IsZero() {
			break
		}
		t = until.UnixNano()
	}
	return list
}

// floorDiv rounds towards minus infinity.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// mod is never negative.
func mod(a, b int64) int64 { return a - b*floorDiv(a, b) }
