package baseline

import (
	"slices"
	"time"
)

// Pool is what a band's mean is made of: the values in the windows of its slot on the days before.
type Pool struct {
	Slot    time.Time // start of the slot, in the series' zone
	Windows []Window  // by time; those that overlap are joined
	Used    []Point   // by time
	Left    []LeftOut // by time
}

// Window is an interval of time; To is not in it.
type Window struct{ From, To time.Time }

// LeftOut is a regular sample that is in a window and not in the pool. Y is not known where the sample had no value.
type LeftOut struct {
	At  time.Time
	Why string // excluded, spec, first, client_suspect, failed, absent
	Y   float64
}

// Pool returns what the band of the slot around a time is made of. Nothing is frozen by asking.
func (s *Series) Pool(at time.Time) Pool {
	lv := s.level(s.clock.start(at.UnixNano(), int64(s.opt.Slot)))
	by := int64(0)
	for _, w := range widths {
		if w.name == lv.Widened {
			by = w.by
		}
	}
	out := Pool{Slot: s.clock.at(lv.Slot)}
	var list []interval
	for d := s.days; d >= 1; d-- {
		open, shut := s.window(lv.Slot, d, by)
		list = s.clock.intervals(list, open, shut)
	}
	for i := range list {
		list[i].to = min(list[i].to, lv.Slot)
	}
	for _, w := range merge(list) {
		if w.from < w.to {
			out.Windows = append(out.Windows, Window{s.clock.at(w.from), s.clock.at(w.to)})
			s.collect(w, &out)
		}
	}
	slices.SortStableFunc(out.Left, func(a, b LeftOut) int { return a.At.Compare(b.At) })
	return out
}

// collect adds one window's samples.
func (s *Series) collect(w interval, out *Pool) {
	part := s.pts.in(w)
	for i := range part {
		p := part[i].export()
		p.Y = s.y(&part[i])
		if p.Excluded && !s.th.Literal {
			out.Left = append(out.Left, LeftOut{At: p.At, Why: "excluded", Y: p.Y})
			continue
		}
		out.Used = append(out.Used, p)
	}
	for _, m := range s.missesIn(w) {
		out.Left = append(out.Left, LeftOut{At: time.Unix(0, m.at).UTC(), Why: m.why})
	}
}
