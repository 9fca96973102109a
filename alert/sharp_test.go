package alert

import (
	"math"
	"testing"
	"time"

	"serin/baseline"
	"serin/probe"
)

func ratios(every time.Duration, list ...float64) []Vote {
	var votes []Vote
	for i, x := range list {
		votes = append(votes, Vote{At: day0.Add(time.Duration(i) * every), Verdict: baseline.Verdict{Mean: 1, Ratio: x}})
	}
	return votes
}

// TestSharpen holds the sharp rule against numbers worked out by hand: sw .1, sl .05.
func TestSharpen(t *testing.T) {
	f := func(what string, votes []Vote, wantFirst, wantMost float64, wantN int) {
		t.Helper()
		v := sharpen(votes, spread{sw: .1, sl: .05}, math.Log(1.25), time.Hour)
		if math.Abs(v.first-wantFirst) > .001 || math.Abs(v.most-wantMost) > .001 || v.n != wantN {
			t.Errorf("%s: %+v, want %.3f, %.3f and %d", what, v, wantFirst, wantMost, wantN)
		}
	}
	tOf := func(q float64, n int) float64 { return (q + .0524) / math.Sqrt(.0025+.01738/float64(n)) }
	half := math.Log(1.5)
	f("one check is not enough", ratios(time.Minute, 1.5), tOf(half, 1), tOf(half, 1), 0)
	f("five are not", ratios(time.Minute, 1.5, 1.5, 1.5, 1.5, 1.5), tOf(half, 1), tOf(half, 5), 0)
	f("six are", ratios(time.Minute, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5), tOf(half, 1), tOf(half, 6), 6)
	f("two calm ones of eight: their quantile is between the second and the third", ratios(time.Minute, 1, 1, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5),
		tOf(half, 1), tOf(half, 7), 6)
	f("the newest is calm", ratios(time.Minute, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.1), tOf(math.Log(1.1), 1), tOf(half, 8), 0)
	f("older than the span", ratios(15*time.Minute, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5), tOf(half, 1), tOf(half, 5), 0)
	f("under the least ratio", ratios(time.Minute, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17, 1.17),
		tOf(math.Log(1.17), 1), tOf(math.Log(1.17), 16), 0)
}

func sharpRule() Rule {
	r := DefaultRule()
	r.Preset, r.Reprobes, r.Corroborate = "sharp", 9, false
	return r
}

// TestSharpFiresOnAgreement fires with the fifth slow check of six.
func TestSharpFiresOnAgreement(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, sharpRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), slower(1.5))
	r.run(4 * time.Hour)
	fired := r.log.fired(KindTTFT)
	if len(fired) != 1 {
		t.Fatalf("%d alerts", len(fired))
	}
	a := fired[0]
	if d := a.Fired.Sub(begin); d < 2*time.Minute || d > 3*time.Minute {
		t.Errorf("fired after %s: five checks, 30 s apart, are 2 min", d)
	}
	if d := a.FirstBreach.Sub(begin); d < -5*time.Minute || d > time.Second {
		t.Errorf("first breach %s after the beginning: it is the oldest of the six, of which five are slow", d)
	}
	if a.Resolved.IsZero() || r.sent == 0 || r.sent > 9 {
		t.Errorf("resolved %s, %d re-probes", a.Resolved, r.sent)
	}
}

// TestSharpStopsLooking sees one slow check: the re-probes end once they agree that nothing is wrong.
func TestSharpStopsLooking(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, sharpRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(10*time.Second), slower(1.6))
	r.run(2 * time.Hour)
	if n := len(r.log.fired(KindTTFT)); n != 0 || r.sent == 0 || r.sent >= 9 {
		t.Errorf("%d alerts, %d re-probes", n, r.sent)
	}
}

// TestSharpenRise holds eight rounds of ×1.4 against a level that half hours move by 10 % anyway: beside the usual that
// is not enough, beside the time before them it is, until that time was high as well.
func TestSharpenRise(t *testing.T) {
	s := spread{sl: .1, rises: baseline.Rises{.04, .05, .06}}
	f := func(what string, before float64, s spread, wantN int, wantRise bool) {
		t.Helper()
		votes := ratios(time.Minute, 1.4, 1.4, 1.4, 1.4, 1.4, 1.4, 1.4, 1.4)
		for i := range votes {
			votes[i].Verdict.Mean, votes[i].Round = 0, &RoundVote{E: math.Log(1.4), SW: .05, Before: &before}
		}
		v := sharpen(votes, s, math.Log(1.25), time.Hour)
		if v.n != wantN || v.risen != wantRise {
			t.Errorf("%s: %+v, want %d and %v", what, v, wantN, wantRise)
		}
		q, own := math.Log(1.4)+.524*.05, math.Sqrt(1.738*.0025/8)
		usual := q / math.Hypot(.1, own)
		if want := min((q-before)/math.Hypot(.04, own)/4.4, usual/3); s.rises != (baseline.Rises{}) && math.Abs(v.rise-want) > 1e-9 {
			t.Errorf("%s: rise %.4f, want %.4f", what, v.rise, want)
		}
		if math.Abs(v.most-usual) > 1e-9 {
			t.Errorf("%s: most %.4f, want %.4f", what, v.most, usual)
		}
	}
	f("risen", 0, s, 6, true)
	f("high before", .25, s, 0, false)
	f("rises not known", 0, spread{sl: .1}, 0, false)
}
