package baseline

import (
	"cmp"
	"slices"
)

const (
	enough     = 30 // samples that a window must hold
	enoughDay  = 14 // of the whole day
	enoughDays = 3  // days with a sample
	literalMin = 5  // values that the literal preset needs
)

// Level is what a slot's history says, computed once when the slot's first value comes and frozen then. It is part of
// State.
type Level struct {
	Slot     int64          `json:"slot"` // instant at which the slot began, Unix nanoseconds
	Ready    bool           `json:"ready,omitempty"`
	N        int            `json:"n,omitempty"`
	Days     int            `json:"days,omitempty"`
	Widened  string         `json:"widened,omitempty"`
	Mu       float64        `json:"mu,omitempty"`  // ln seconds
	WinsorSD float64        `json:"wsd,omitempty"` // of P, ln
	Mean     float64        `json:"mean,omitempty"`
	SD       float64        `json:"sd,omitempty"` // Mean and SD: plain, seconds; literal only
	LeftOut  map[string]int `json:"left_out,omitempty"`
}

// widths are the windows tried, narrowest first; a negative width is the whole local day.
var widths = [...]struct {
	name string
	by   int64
}{{"30m", 30 * minute}, {"1h", hour}, {"2h", 2 * hour}, {"4h", 4 * hour}, {"day", -1}}

// level computes the level of the slot that began at start.
func (s *Series) level(start int64) *Level {
	if s.th.Literal {
		return s.literalLevel(start)
	}
	lv := &Level{Slot: start}
	for _, w := range widths {
		need := enough
		if w.by < 0 {
			need = enoughDay
		}
		p := s.pool(start, w.by, false)
		lv.N, lv.Days, lv.Widened, lv.LeftOut = len(p.y), p.days, w.name, p.leftOut
		if len(p.y) < need {
			continue
		}
		if p.days < enoughDays {
			break
		}
		lv.Ready = true
		clip(p.y)
		mu, sd := meanSD(p.y)
		lv.Mu, lv.WinsorSD = mu, winsorSDFactor*sd
		break
	}
	return lv
}

// pooled is one P: what all days' windows hold.
type pooled struct {
	y       []float64
	days    int
	leftOut map[string]int
}

// pool collects the values in the windows of the slot that began at start, on each day of the window, widened by a
// width on both sides (negative: the whole day). all takes excluded ones too.
func (s *Series) pool(start, by int64, all bool) pooled {
	var p pooled
	var list []interval
	for d := s.days; d >= 1; d-- {
		from := len(list)
		open, shut := s.window(start, d, by)
		list = s.clock.intervals(list, open, shut)
		for i := from; i < len(list); i++ {
			list[i].to = min(list[i].to, start)
		}
		if s.anyIn(list[from:], all) {
			p.days++
		}
	}
	for _, w := range merge(list) {
		part := s.pts.in(w)
		p.y = slices.Grow(p.y, len(part))
		for i := range part {
			if !all && part[i].excluded {
				p.leave("excluded")
				continue
			}
			p.y = append(p.y, s.y(&part[i]))
		}
		for _, m := range s.missesIn(w) {
			p.leave(m.why)
		}
	}
	return p
}

func (p *pooled) leave(why string) {
	if p.leftOut == nil {
		p.leftOut = map[string]int{}
	}
	p.leftOut[why]++
}

// window returns the wall counts of the slot d days before the one that began at start.
func (s *Series) window(start int64, d int, by int64) (from, to int64) {
	now := s.clock.wall(start)
	slot := int64(s.opt.Slot)
	from = now - mod(now, slot) - int64(d)*day // a slot that began at a change of offset keeps its place in the day
	if by < 0 {
		from -= mod(from, day)
		return from, from + day
	}
	return from - by, from + slot + by
}

func (s *Series) anyIn(list []interval, all bool) bool {
	for _, w := range list {
		part := s.pts.in(w)
		for i := range part {
			if all || !part[i].excluded {
				return true
			}
		}
	}
	return false
}

// merge joins intervals that overlap, so that no sample is taken twice. It sorts list.
func merge(list []interval) []interval {
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	out := list[:0]
	for _, w := range list {
		if n := len(out); n > 0 && w.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, w.to)
			continue
		}
		out = append(out, w)
	}
	return out
}

// learned says how far learning is at a time: which day of it this is, and the regular samples of the window's last
// days, today included.
func (s *Series) learned(at int64) (n, days int) {
	today := s.clock.wall(at)
	today -= mod(today, day)
	list := make([]interval, 0, 2)
	n, days = s.count(s.clock.intervals(list, today, today+day)), 1
	for d := 1; d < s.days; d++ {
		from := today - int64(d)*day
		if more := s.count(s.clock.intervals(list, from, from+day)); more > 0 {
			n += more
			days++
		}
	}
	return n, days
}

func (s *Series) count(list []interval) (n int) {
	for _, w := range list {
		n += len(s.pts.in(w))
	}
	return n
}
