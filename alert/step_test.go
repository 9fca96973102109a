package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"serin/baseline"
	"serin/probe"
)

var day0 = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // a Monday

// latencyObs makes an observation from a letter: B breach, b steep breach, C calm, N neither, m missing, l learning, U urgent.
func latencyObs(letter rune, at time.Time) Observation {
	o := Observation{At: at, Outcome: probe.OK}
	set := func(c baseline.Call, ratio float64) {
		o.Call, o.Verdict = c, baseline.Ruling{Call: c, Ratio: ratio, Value: ratio * .4, Mean: .4}
	}
	switch letter {
	case 'B':
		set(baseline.Breach, 2)
	case 'b':
		set(baseline.Breach, 3.5)
	case 'U':
		set(baseline.Breach, 2)
		o.Urgent = true
	case 'C':
		set(baseline.Calm, 1)
	case 'N':
		set(baseline.Neither, 1.2)
	case 'm':
		o.Call, o.Verdict.Why = baseline.NotJudged, whyMissing
	case 'l':
		o.Call, o.Verdict.Why = baseline.NotJudged, whyLearning
	}
	return o
}

// failureObs: F fails, A fails with auth, O fails otherwise, G good, m missing.
func failureObs(letter rune, at time.Time) Observation {
	o := Observation{At: at}
	switch letter {
	case 'F':
		o.Call, o.Outcome = baseline.Breach, probe.HTTP5xx
	case 'A':
		o.Call, o.Outcome = baseline.Breach, probe.Auth
	case 'O':
		o.Call, o.Outcome = baseline.Neither, probe.TimeoutTotal
	case 'G':
		o.Call, o.Outcome = baseline.Calm, probe.OK
	case 'm':
		o.Call = baseline.NotJudged
	}
	o.Verdict.Call = o.Call
	return o
}

// letters shortens a state: o ok, l learning, p pending, F firing, C firing and critical, r recovering.
func letter(a Alert) string {
	if a.State == StateFiring && SeverityOf(a, Surroundings{Canaries: 3}) == Critical {
		return "C"
	}
	return map[State]string{StateOK: "o", StateLearning: "l", StatePending: "p", StateFiring: "F", StateRecovering: "r"}[a.State]
}

// walk feeds letters, one an interval ("." lets an interval pass, "^" sets the clock back by one hour), and returns the
// states after each.
func walk(start Alert, q Quorum, every time.Duration, in string, obs func(rune, time.Time) Observation) string {
	a, now := start, day0
	var out strings.Builder
	for _, l := range in {
		now = now.Add(every)
		switch l {
		case '.':
			out.WriteByte('.')
			continue
		case '^':
			now = now.Add(-time.Hour)
			out.WriteByte('^')
			continue
		}
		var t Turn
		a, t = Step(a, q, obs(l, now), now)
		if t.Resolved {
			a = Alert{Series: a.Series, Kind: a.Kind, State: StateOK}
		}
		out.WriteString(letter(a))
	}
	return out.String()
}

func TestStepLatency(t *testing.T) {
	rule := DefaultRule()
	literal := DefaultRule()
	literal.Preset = "literal"
	f := func(name string, r Rule, every time.Duration, in, want string) {
		t.Helper()
		q := NewQuorum(r, KindTTFT, every)
		if got := walk(Alert{Series: "s", Kind: KindTTFT, State: StateOK}, q, every, in, latencyObs); got != want {
			t.Errorf("%s: %s gives %s, want %s", name, in, got, want)
		}
	}
	f("4 of 5", rule, 5*time.Minute, "CBBBB", "opppF")
	f("newest must breach", rule, 5*time.Minute, "BBBCB", "ppppF")
	f("4 of 5 with the newest calm", rule, 5*time.Minute, "BBBNCB", "pppppp")
	f("missing is no observation", rule, 5*time.Minute, "BmBmBmB", "ppppppF")
	f("resolve after 3 over 10 min", rule, 5*time.Minute, "BBBBCCC", "pppFrro")
	f("missing between calm ones", rule, 5*time.Minute, "BBBBCmCmC", "pppFrrrro")
	f("neither counts against calm", rule, 5*time.Minute, "BBBBCCNCCC", "pppFrrrrro")
	f("a breach is no end", rule, 5*time.Minute, "BBBBCCBCCC", "pppFrrFrro")
	f("the window is empty after a resolve", rule, 5*time.Minute, "BBBBCCCBBBB", "pppFrropppF")
	f("fast: 5 of 6", rule, time.Minute, "BBBBB", "ppppF")
	f("fast: 10 min of calm", rule, time.Minute, "BBBBBCCCCCCCCCCC", "ppppFrrrrrrrrroo")
	f("votes older than the window", rule, 5*time.Minute, "BBB.............B", "ppp.............p")
	f("six intervals where they are longer", rule, 30*time.Minute, "BB.BB", "pp.pF")
	f("steep for 15 min", rule, 5*time.Minute, "bbbb", "pppC")
	f("steep, then less", rule, 5*time.Minute, "bbBbbbb", "pppFFFC")
	f("above a critical limit", rule, 5*time.Minute, "BBBU", "pppC")
	f("raised while firing", rule, 5*time.Minute, "BBBBU", "pppFC")
	f("literal", literal, 5*time.Minute, "CBBNB", "oFFoF")
	f("no band any more", rule, 5*time.Minute, "BBBBl", "pppFo")
	f("learning", rule, 5*time.Minute, "lCl", "lol")
	f("clock set back", rule, 5*time.Minute, "BB^BB", "pp^pF")
	f("clock set back while calm", rule, 5*time.Minute, "BBBBCC^CCC", "pppFrr^rro")
}

func TestStepFailures(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		q := NewQuorum(DefaultRule(), KindError, 5*time.Minute)
		if got := walk(Alert{Series: "s", Kind: KindError, State: StateOK}, q, 5*time.Minute, in, failureObs); got != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
	f("FFF", "ppF")
	f("FGFF", "pppF")
	f("FGFGF", "ppppp")
	f("FFFGG", "ppFro")
	f("FFFGFGG", "ppFrFro")
	f("FFFOO", "ppFFF") // another family is no recovery
	f("FFFGmG", "ppFrro")
	f("A", "F")
	f("AG", "Fo")
	f("FFAG", "ppFo")
	f("AFGG", "FFro")
	f("FFFAG", "ppFFo")
}

// TestStepIsPure shows that a step writes to none of the slices it got.
func TestStepIsPure(t *testing.T) {
	q := NewQuorum(DefaultRule(), KindTTFT, 5*time.Minute)
	a, now := Alert{State: StateOK}, day0
	for i, l := range "BBBBCCNBBCCCBB" {
		now = now.Add(5 * time.Minute)
		before := fmt.Sprintf("%+v", a)
		one, _ := Step(a, q, latencyObs(l, now), now)
		two, _ := Step(a, q, latencyObs(l, now), now)
		if got := fmt.Sprintf("%+v", a); got != before {
			t.Fatalf("step %d wrote to its argument: %s, was %s", i, got, before)
		}
		if fmt.Sprintf("%+v", one) != fmt.Sprintf("%+v", two) {
			t.Fatalf("step %d gives two answers", i)
		}
		a = one
	}
}

func TestFirstCalmAndEvidence(t *testing.T) {
	q := NewQuorum(DefaultRule(), KindTTFT, 5*time.Minute)
	a, now := Alert{Series: "s", Kind: KindTTFT, State: StateOK}, day0
	var got Turn
	for _, l := range "BbBBC" {
		now = now.Add(5 * time.Minute)
		a, got = Step(a, q, latencyObs(l, now), now)
	}
	if !got.Calm || got.Resolved {
		t.Errorf("turn %+v, want the first calm", got)
	}
	if a.Worst.Ratio != 3.5 || a.Last.Ratio != 1 || a.FirstBreach != day0.Add(5*time.Minute) || a.Probes != 4 {
		t.Errorf("worst %v, last %v, first breach %s, %d probes", a.Worst.Ratio, a.Last.Ratio, a.FirstBreach, a.Probes)
	}
	if want := "s/ttft@20260302T002000.000000000Z"; a.ID != want {
		t.Errorf("id %s, want %s", a.ID, want)
	}
}

func TestFixedUntilTheBandAgrees(t *testing.T) {
	q := NewQuorum(DefaultRule(), KindTTFT, 5*time.Minute)
	a, now := Alert{Series: "s", Kind: KindTTFT, State: StateOK}, day0
	feed := func(l rune, fixed bool) {
		now = now.Add(5 * time.Minute)
		o := latencyObs(l, now)
		if o.Fixed = fixed; fixed {
			o.Learned = "day 3 of 7, 700 samples"
		}
		a, _ = Step(a, q, o, now)
	}
	for range 4 {
		feed('B', true)
	}
	if !a.IsFiring() || !a.Fixed || a.Learned == "" {
		t.Fatalf("%s, fixed %t, learned %q", a.State, a.Fixed, a.Learned)
	}
	if feed('C', false); !a.Fixed {
		t.Error("a calm value of the band says nothing about the limit")
	}
	if feed('B', false); a.Fixed || a.Learned != "" {
		t.Errorf("fixed %t, learned %q after a breach of the band", a.Fixed, a.Learned)
	}
}

func TestVotesOfARule(t *testing.T) {
	f := func(r Rule, every time.Duration, want string) {
		t.Helper()
		if m, n := r.Votes(every); fmt.Sprintf("%d of %d", m, n) != want {
			t.Errorf("%s every %s: %d of %d, want %s", r.Preset, every, m, n, want)
		}
	}
	literal := DefaultRule()
	literal.Preset = "literal"
	own := DefaultRule()
	own.M, own.N = 3, 7
	f(DefaultRule(), 5*time.Minute, "4 of 5")
	f(DefaultRule(), time.Minute, "5 of 6")
	f(literal, time.Minute, "1 of 1")
	f(own, time.Minute, "3 of 7")
}
