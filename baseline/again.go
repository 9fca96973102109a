package baseline

import "time"

// Again holds a value against a band that was stored, the way it was held when it was judged. res is what was stored of the
// value; where nothing was, offset (ln) is how today ran then. A band that is not ready judges nothing.
func (t Threshold) Again(value time.Duration, b *Band, res Residual, offset float64) Verdict {
	v := value.Seconds()
	if b == nil || b.State != "ready" {
		return Verdict{Ruling: Ruling{Call: NotJudged, Why: "learning", Value: v}}
	}
	if b.Line == 0 { // of the literal rule, in seconds
		out := Verdict{Ruling: Ruling{Call: Calm, Value: v, Mean: b.Mean, Limit: b.Limit, Ratio: v / b.Mean}}
		if b.SD > 0 {
			out.Z = (v - b.Mean) / b.SD
		}
		if v > b.Limit*(1+tie) {
			out.Call = Breach
		}
		return out
	}
	r := Y(value) - b.Mu - offset
	switch {
	case b.SW == 0: // residuals were not ready: it was judged without an offset
		r = Y(value) - b.Mu
	case res.Judged:
		r = res.R
	}
	held := *b
	held.Offset = Y(value) - r - b.Mu
	held.place(t.MinAbs.Seconds())
	out := t.compare(v, &held)
	out.Band = nil
	return out
}
