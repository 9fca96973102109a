package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"serin/probe"
)

func TestWorldIsTheSameAgain(t *testing.T) {
	a, b := NewWorld(101, probe.TTFT, Incidents, 12), NewWorld(101, probe.TTFT, Incidents, 12)
	between := Start().Add(3*time.Hour + 30*time.Second)
	first, _ := a.Probe(1, between)
	a.Probe(1, between.Add(time.Second)) // nothing that is asked changes what comes
	for k := range canaries {
		same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
		if !slices.EqualFunc(a.grid[k], b.grid[k], same) {
			t.Errorf("canary %d differs", k)
		}
	}
	if again, _ := b.Probe(1, between); again != first || first <= 0 {
		t.Errorf("a re-probe measured %s, then %s", first, again)
	}
	if other, _ := a.Probe(1, between.Add(time.Second)); other == first {
		t.Error("two re-probes a second apart draw alike")
	}
}

func TestLoad(t *testing.T) {
	f := func(minute int, want float64) {
		t.Helper()
		if got := load(minute); math.Abs(got-want) > 1e-9 {
			t.Errorf("load at %s is %g, want %g", minuteTime(minute).Format("Mon 15:04"), got, want)
		}
	}
	f(15*60, 1)
	f(3*60, 0)
	f(9*60, .5)
	f(5*dayMinutes+15*60, .45)
	f(6*dayMinutes+15*60, .45)
	f(7*dayMinutes+15*60, 1)
}

func TestClockOfTheLoadJumps(t *testing.T) {
	at := 31*dayMinutes + 14*60
	if got := NewWorld(3, probe.TPOT, Healthy, 32).load(at); got != load(at+60) {
		t.Errorf("seed 3 on day 31: load %g, want that of an hour later, %g", got, load(at+60))
	}
	if got := NewWorld(4, probe.TPOT, Healthy, 32).load(at); got != load(at) {
		t.Errorf("seed 4 on day 31: load %g, want %g", got, load(at))
	}
}

// TestScatter measures a healthy world: the share that is missing, and one probe's own scatter around its level.
func TestScatter(t *testing.T) {
	f := func(seed uint64, m probe.Metric, sd float64) {
		t.Helper()
		w := NewWorld(seed, m, Healthy, 30)
		var logs []float64
		missing := 0
		for i, v := range w.grid[0] {
			if math.IsNaN(v) {
				missing++
				continue
			}
			logs = append(logs, math.Log(v/w.level[0][i]))
		}
		if part := float64(missing) / float64(w.Minutes); part < .008 || part > .012 {
			t.Errorf("seed %d: %.2f %% missing, want 1 %%", seed, 100*part)
		}
		slices.Sort(logs) // queues and outliers are above: the lower half tells the scatter
		median, low := logs[len(logs)/2], logs[int(.1587*float64(len(logs)))]
		if got := median - low; math.Abs(got-sd) > .12*sd || math.Abs(median) > .1*sd+.02 {
			t.Errorf("seed %d, %s: scatter %.3f around %.3f, want %.3f around 0", seed, m, got, median, sd)
		}
	}
	f(3, probe.TTFT, .06)
	f(4, probe.TTFT, .15)
	f(5, probe.TTFT, .30)
	f(5, probe.TPOT, .15)
}

func TestWanderIsWider(t *testing.T) {
	spread := func(c Course) float64 {
		w := NewWorld(4, probe.TPOT, c, 60)
		shared := w.shared()
		var sum, squares float64
		for _, x := range shared {
			sum += x
			squares += x * x
		}
		n := float64(len(shared))
		return math.Sqrt(squares/n - sum*sum/n/n)
	}
	if narrow, wide := spread(Healthy), spread(Wander); wide < 1.3*narrow {
		t.Errorf("shared spread %.3f, doubled wander %.3f", narrow, wide)
	}
}

func TestIncidentsComeInTurn(t *testing.T) {
	w := NewWorld(7, probe.TTFT, Incidents, 60)
	if n := len(w.Events); n < 12 || n > 25 {
		t.Fatalf("%d incidents in 50 days", n)
	}
	var first []string
	for i, e := range w.Events {
		if i < len(incidentNames()) {
			first = append(first, e.Name)
		}
		if i == 0 {
			continue
		}
		if gap := e.Start - w.Events[i-1].Start; gap < 48*60 || gap >= 96*60 {
			t.Errorf("%s follows after %d h", e.Name, gap/60)
		}
	}
	slices.Sort(first)
	if want := slices.Sorted(slices.Values(incidentNames())); !slices.Equal(first, want) {
		t.Errorf("the first ten are %v", first)
	}
	if w.Events[0].Start < 12*dayMinutes || w.Events[0].Start >= 14*dayMinutes {
		t.Errorf("the first starts on day %d", w.Events[0].Start/dayMinutes)
	}
}

func TestFactor(t *testing.T) {
	f := func(name string, in int, luck, want float64) {
		t.Helper()
		if got := incident(name, 1000).factor(1000+in, luck); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s after %d min: %g, want %g", name, in, got, want)
		}
	}
	f(x15for60, 0, .9, 1.5)
	f(ramp3h, 0, .9, 1)
	f(ramp3h, 90, .9, 1.5)
	f(ramp3h, 239, .9, 2)
	f(x3half, 5, .49, 3)
	f(x3half, 5, .5, 1)
	f(ramp18h, 9*60, 0, 1.5)
}

func TestShift(t *testing.T) {
	w := NewWorld(9, probe.TTFT, Shift, 40)
	if w.ShiftAt < 20*dayMinutes || w.ShiftAt >= 21*dayMinutes || len(w.Events) != 2 {
		t.Fatalf("shift on minute %d, %d events", w.ShiftAt, len(w.Events))
	}
	f := func(minute int, want float64) {
		t.Helper()
		if got := w.factor(minute, 0); math.Abs(got-want) > 1e-9 {
			t.Errorf("minute %d: factor %g, want %g", minute, got, want)
		}
	}
	f(w.ShiftAt-1, 1)
	f(w.ShiftAt, 1.4)
	f(w.ShiftAt+3*dayMinutes, 2.8)
	f(w.ShiftAt+3*dayMinutes+60, 1.4)
	f(w.ShiftAt+9*dayMinutes, 2.8)
}

func TestOutagesOfTheProber(t *testing.T) {
	w := NewWorld(10, probe.TTFT, Healthy, 60)
	out := 0
	for m := range w.Minutes {
		if w.Out(m) {
			out++
			if _, ok := w.probe(0, minuteTime(m)); ok {
				t.Fatalf("a probe was sent while the prober was out, minute %d", m)
			}
		}
	}
	if out != 240 {
		t.Errorf("out for %d min in 60 days, want 240", out)
	}
}
