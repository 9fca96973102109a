package baseline

import (
	"math"
	"time"
)

// minSD is the least scatter assumed where residuals do not tell it yet, ln units.
const minSD = .03

// Judge holds a value against the band of its slot. It does not add it: do that afterwards, with the verdict's Res.
// While learning and for a value ≤ 0 the call is NotJudged; while learning Band says what has been learned.
//
// Res holds the residual for the history. Where residual statistics are not ready the value is judged without today's
// offset, but Res has it, so that those statistics can come about.
func (s *Series) Judge(at time.Time, v time.Duration) Verdict {
	value := v.Seconds()
	if v <= 0 {
		return Verdict{Ruling: Ruling{Call: NotJudged, Why: "missing"}}
	}
	t := at.UnixNano()
	s.see(t)
	s.settle(t)
	s.renew(t)
	lv := s.levelAt(t)
	if s.th.Literal {
		return s.judgeLiteral(t, lv, value)
	}
	if !lv.Ready {
		b := s.learning(t, lv)
		return Verdict{Ruling: Ruling{Call: NotJudged, Why: "learning", Value: value}, Band: &b}
	}
	o := s.offset(t)
	s.last = Hold{Set: true, Offset: o}
	if s.hold.On {
		s.hold.Set, s.hold.Offset = true, o
	}
	b := s.band(lv, o)
	out := s.th.compare(value, &b)
	e := math.Log(value) - b.Mu + s.lowered(t)
	out.Res = Residual{E: e, O: o, R: e - o, Judged: true}
	if s.change != 0 {
		l := s.learning(t, lv)
		return Verdict{Ruling: Ruling{Call: NotJudged, Why: "learning", Value: value}, Res: out.Res, Band: &l}
	}
	return out
}

// compare is the rule of one value, given its band.
func (t Threshold) compare(value float64, b *Band) Verdict {
	r := math.Log(value) - b.Mu - b.Offset
	out := Verdict{Ruling: Ruling{Call: Neither, Value: value, Mean: b.Mean, Limit: b.Limit, Z: 2 * r / b.Line, Ratio: math.Exp(r)}, Band: b}
	switch {
	case r > b.Line && value-b.Mean >= t.MinAbs.Seconds():
		out.Call = Breach
	case r <= b.Line/2 || out.Ratio < t.ResolveRatio:
		out.Call = Calm
	}
	return out
}

// Band returns what is normal at a time. It may lie ahead or behind; then nothing is frozen by asking.
func (s *Series) Band(at time.Time) Band {
	t := at.UnixNano()
	s.renew(s.seen)
	lv := s.peek(t)
	switch {
	case !lv.Ready, s.change != 0:
		return s.learning(t, lv)
	case s.th.Literal:
		return s.literalBand(lv)
	}
	return s.band(lv, s.offset(t))
}

// levelAt returns the frozen level of the slot that t is in, and computes it where that was never asked.
func (s *Series) levelAt(t int64) *Level {
	start := s.clock.start(t, int64(s.opt.Slot))
	for _, lv := range s.levels {
		if lv != nil && lv.Slot == start {
			return lv
		}
	}
	lv := s.level(start)
	if s.levels[0] == nil || start > s.levels[0].Slot {
		s.levels[0], s.levels[1] = lv, s.levels[0]
	} else {
		s.levels[1] = lv
	}
	return lv
}

// peek is levelAt for a time that no value came from.
func (s *Series) peek(t int64) *Level {
	start := s.clock.start(t, int64(s.opt.Slot))
	for _, lv := range s.levels {
		if lv != nil && lv.Slot == start {
			return lv
		}
	}
	return s.level(start)
}

func (s *Series) offset(t int64) float64 {
	if s.hold.On && s.hold.Set {
		return s.hold.Offset
	}
	return s.todaysOffset(t)
}

// newBand fills in what every band says.
func (s *Series) newBand(state string, lv *Level) Band {
	return Band{Canary: s.key.Canary, Metric: s.key.Metric, Spec: s.key.Spec, Slot: s.clock.at(lv.Slot), State: state,
		N: lv.N, Days: lv.Days, Widened: lv.Widened, LeftOut: lv.LeftOut, Threshold: s.hash}
}

func (s *Series) learning(t int64, lv *Level) Band {
	b := s.newBand("learning", lv)
	b.Widened = ""
	b.N, b.Days = s.learned(t)
	return b
}

func (s *Series) band(lv *Level, o float64) Band {
	b := s.newBand("ready", lv)
	b.Mu = lv.Mu
	b.Kappa = kappa(s.th.Kappa, lv.Days)
	b.Sigma = max(minSD, lv.WinsorSD)
	if s.noise.Ready {
		b.Offset, b.SW, b.SL = o, s.noise.ProbeSD, s.noise.LevelSD
		b.Sigma = max(math.Hypot(b.SW, b.SL), s.noise.SD)
	}
	b.Line = max(s.th.Sigma*b.Kappa*b.Sigma, 4*b.SL, math.Log(max(1, s.th.MinRatio)))
	b.place(s.th.MinAbs.Seconds())
	return b
}

// place makes seconds of mu, offset and line; the limit is at least so much above the mean.
func (b *Band) place(least float64) {
	centre := b.Mu + b.Offset
	b.Mean = math.Exp(centre)
	b.Limit = max(math.Exp(centre+b.Line), b.Mean+least)
	b.SD = (b.Limit - b.Mean) / 2
	b.Low = math.Exp(centre - b.Line)
}
