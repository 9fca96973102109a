package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// episode is a stretch of trouble of some canaries.
type episode struct {
	From, To time.Time
	Size     probe.Size // "" = all
	Kind     string
}

// troubles are what an episode may do to answers.
func troubles() map[string]world {
	return map[string]world{"x2": slower(2), "x4": slower(4), "x1.3": slower(1.3), "x0.7": slower(.7), "5xx": ends(probe.HTTP5xx), "timeout": ends(probe.TimeoutFirstToken),
		"auth": ends(probe.Auth), "429": ends(probe.RateLimited), "overlap": skips(probe.ReasonOverlap),
		"flaky": func(c *probe.Canary, at time.Time) probe.Sample {
			if wobble(c.Key(), "flaky", at.UnixNano()) < -.3 {
				return bad(c, at, probe.Reset)
			}
			return healthy(c, at)
		}}
}

func script(list []episode) world {
	all := troubles()
	return func(c *probe.Canary, at time.Time) probe.Sample {
		for _, p := range list {
			if !at.Before(p.From) && at.Before(p.To) && (p.Size == "" || p.Size == c.Size) {
				return all[p.Kind](c, at)
			}
		}
		return healthy(c, at)
	}
}

func drawEpisodes(d *rand.Rand, from time.Time) []episode {
	kinds := slices.Sorted(maps.Keys(troubles()))
	var list []episode
	for range 1 + d.IntN(4) {
		begin := from.Add(time.Duration(d.IntN(400)) * time.Minute)
		list = append(list, episode{From: begin, To: begin.Add(time.Duration(1+d.IntN(150)) * time.Minute),
			Size: []probe.Size{"", probe.Short, probe.Long}[d.IntN(3)], Kind: kinds[d.IntN(len(kinds))]})
	}
	return list
}

// fork copies a rig between two events, with an engine of its own that is loaded from the copy.
func (r *rig) fork(w world) *rig {
	st := newStore()
	for key, m := range r.store.records {
		st.records[key] = maps.Clone(m)
	}
	st.blobs, st.alerts = maps.Clone(r.store.blobs), maps.Clone(r.store.alerts)
	f := &rig{t: r.t, now: r.now, store: st, watched: r.watched, world: w, every: 30 * time.Second, opt: r.opt}
	f.opt.History = st
	return f.start()
}

// difference compares all that two stores hold of what was decided.
func difference(want, got *store) string {
	f := func(s *store) (list []string) {
		for _, x := range s.transitions {
			list = append(list, "transition "+encode(x))
		}
		for _, id := range slices.Sorted(maps.Keys(s.alerts)) {
			a := decode[alert.Alert](s.alerts[id])
			a.KalmanState, a.Fit = nil, nil // the same to four digits: the level model may have been renewed between
			list = append(list, "alert "+encode(a))
		}
		list = append(list, "exclusions "+encode(s.exclusions))
		for _, key := range slices.Sorted(maps.Keys(s.records)) {
			times := slices.Sorted(maps.Keys(s.records[key]))
			for _, at := range times[max(0, len(times)-400):] {
				list = append(list, "record "+encode(s.records[key][at]))
			}
		}
		return list
	}
	a, b := f(want), f(got)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n := 0
			for n < min(len(a[i]), len(b[i])) && a[i][n] == b[i][n] {
				n++
			}
			n = max(0, n-200)
			return "-" + a[i][:min(n, 150)] + " … " + a[i][n:] + "\n+" + b[i][n:]
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d entries and %d", len(a), len(b))
	}
	return ""
}

// restarts compares a rig that runs straight with one that is restarted at random instants.
func restarts(t *testing.T, base *rig, d *rand.Rand, list []episode, length time.Duration, between int) *rig {
	t.Helper()
	straight, broken := base.fork(script(list)), base.fork(script(list))
	straight.run(length)
	for {
		step := time.Duration(1+d.IntN(between)) * time.Second
		if broken.now.Add(step).After(straight.now) {
			break
		}
		broken.run(step)
		broken.start()
	}
	broken.run(straight.now.Sub(broken.now))
	if d := difference(straight.store, broken.store); d != "" {
		t.Fatalf("a restart changes the history (-without +with):\n%s\n%+v", d, list)
	}
	return straight
}

// TestRestartChangesNothing restarts the engine at random instants of random days: everything that is decided and recorded is what it
// would have been without.
func TestRestartChangesNothing(t *testing.T) {
	sharp := single()
	sharp.Preset, sharp.Reprobes, sharp.Threshold.Sharp = "sharp", 9, true
	literal := single()
	literal.Preset, literal.Threshold.Literal, literal.Kappa, literal.MinRatio, literal.OffsetCap, literal.ResolveRatio, literal.Reprobes = "literal", true, 1, 1, 1, 1, 0
	long := alert.DefaultRule()
	long.ExcludeAfter, long.ExcludeFor = 20*time.Minute, 2*time.Hour
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]struct {
		rule  alert.Rule
		every time.Duration
		sizes []probe.Size
	}{
		"alone":    {single(), 5 * time.Minute, []probe.Size{probe.Short, probe.Long}},
		"quarter":  {single(), 15 * time.Minute, []probe.Size{probe.Short, probe.Long}},
		"hourly":   {single(), time.Hour, []probe.Size{probe.Short, probe.Long}},
		"fast":     {single(), time.Minute, []probe.Size{probe.Short}},
		"together": {long, 5 * time.Minute, probe.Sizes()},
		"sharp":    {sharp, 5 * time.Minute, []probe.Size{probe.Short, probe.Long}},
		"literal":  {literal, 15 * time.Minute, []probe.Size{probe.Short, probe.Long}},
	} {
		t.Run(name, func(t *testing.T) {
			watched := canaries("gw", f.every, f.rule, f.sizes...)
			for _, w := range watched {
				w.Canary.Scene.Zone = berlin
			}
			r := newRig(t, watched...)
			r.now = time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC) // five hours before the clocks are put forward
			base := r.learn(9).start()
			base.run(time.Minute)
			fired := 0
			for seed := range uint64(many(5, 2)) {
				d := rand.New(rand.NewPCG(seed, uint64(f.every)))
				list := []episode{{From: base.now.Add(time.Hour), To: base.now.Add(time.Duration(3+d.IntN(3)) * time.Hour), Kind: []string{"x2", "x1.3", "5xx"}[seed%3]}}
				fired += len(restarts(t, base, d, append(list, drawEpisodes(d, base.now)...), 12*time.Hour, 9000).store.alerts)
			}
			if fired == 0 {
				t.Error("nothing fired on any day")
			}
		})
	}
}

// TestRestartsOfAMonth kills and loads the engine some fifty times within a month of troubles, three canaries judged together.
func TestRestartsOfAMonth(t *testing.T) {
	if testing.Short() {
		t.Skip("a month takes long")
	}
	base := newRig(t, canaries("gw", 15*time.Minute, alert.DefaultRule(), probe.Sizes()...)...).learn(9).start()
	base.run(time.Minute)
	d := rand.New(rand.NewPCG(11, 30))
	var list []episode
	for from := base.now; from.Before(base.now.AddDate(0, 0, 30)); from = from.Add(time.Duration(20+d.IntN(40)) * time.Hour) {
		list = append(list, drawEpisodes(d, from)...)
	}
	list = append(list, episode{From: base.now.AddDate(0, 0, 12), To: base.now.AddDate(0, 0, 18), Kind: "x1.3"}) // longer than samples are excluded
	straight := restarts(t, base, d, list, 30*24*time.Hour, 26*3600)
	if n := len(straight.store.alerts); n < 20 {
		t.Errorf("%d alerts are no month of troubles", n)
	}
}
