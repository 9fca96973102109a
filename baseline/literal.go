package baseline

import "math"

// literalLevel is the plain mean and deviation, in seconds, of exactly the slot's regular values, excluded ones too.
func (s *Series) literalLevel(start int64) *Level {
	p := s.pool(start, 0, true)
	lv := &Level{Slot: start, N: len(p.y), Days: p.days, LeftOut: p.leftOut, Ready: len(p.y) >= literalMin}
	if !lv.Ready {
		return lv
	}
	for i, y := range p.y {
		p.y[i] = math.Exp(y)
	}
	lv.Mean, lv.SD = meanSD(p.y)
	return lv
}

func (s *Series) literalBand(lv *Level) Band {
	b := s.newBand("ready", lv)
	b.Mean, b.SD = lv.Mean, lv.SD
	b.Limit, b.Low = lv.Mean+s.th.Sigma*lv.SD, lv.Mean-s.th.Sigma*lv.SD
	return b
}

// tie is how near to a limit a value is on it: one like all before it must not breach by the last digit of a point.
const tie = 1e-6

// judgeLiteral makes every value breach or calm. Values without any scatter have no z.
func (s *Series) judgeLiteral(t int64, lv *Level, value float64) Verdict {
	if !lv.Ready {
		b := s.learning(t, lv)
		return Verdict{Ruling: Ruling{Call: NotJudged, Why: "learning", Value: value}, Band: &b}
	}
	b := s.literalBand(lv)
	out := Verdict{Ruling: Ruling{Call: Calm, Value: value, Mean: b.Mean, Limit: b.Limit, Ratio: value / b.Mean}, Band: &b}
	if b.SD > 0 {
		out.Z = (value - b.Mean) / b.SD
	}
	out.Low = value < b.Low*(1-tie)
	if value > b.Limit*(1+tie) {
		out.Call = Breach
	}
	return out
}
