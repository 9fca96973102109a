package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"serin/probe"
)

// episode is a stretch of trouble of some canaries.
type episode struct {
	From, To time.Time
	Size     probe.Size // "" = all
	Kind     string
}

// kindsOfTrouble are what an episode may do to answers.
func kindsOfTrouble() []string {
	return []string{"x2", "x4", "x1.3", "5xx", "timeout", "auth", "429", "flaky", "overlap"}
}

func (p episode) answer(c *probe.Canary, at time.Time) probe.Sample {
	switch p.Kind {
	case "x2":
		return answer(c, at, 2)
	case "x4":
		return answer(c, at, 4)
	case "x0.7":
		return answer(c, at, .7)
	case "x1.3":
		return answer(c, at, 1.3)
	case "5xx":
		return bad(c, at, probe.HTTP5xx)
	case "timeout":
		return bad(c, at, probe.TimeoutFirstToken)
	case "auth":
		return bad(c, at, probe.Auth)
	case "429":
		return bad(c, at, probe.RateLimited)
	case "overlap":
		s := bad(c, at, probe.Skipped)
		s.Reason = probe.ReasonOverlap
		return s
	}
	if wobble(c.Key(), "flaky", at.UnixNano()) < -.3 {
		return bad(c, at, probe.Reset)
	}
	return healthy(c, at)
}

func script(list []episode) func(*probe.Canary, time.Time) probe.Sample {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		for _, p := range list {
			if !at.Before(p.From) && at.Before(p.To) && (p.Size == "" || p.Size == c.Size) {
				return p.answer(c, at)
			}
		}
		return healthy(c, at)
	}
}

func drawEpisodes(d *rand.Rand, from time.Time) []episode {
	var list []episode
	for range 1 + d.IntN(4) {
		begin := from.Add(time.Duration(d.IntN(400)) * time.Minute)
		list = append(list, episode{From: begin, To: begin.Add(time.Duration(1+d.IntN(150)) * time.Minute),
			Size: []probe.Size{"", probe.Short, probe.Long}[d.IntN(3)], Kind: kindsOfTrouble()[d.IntN(len(kindsOfTrouble()))]})
	}
	return list
}

// TestRestartChangesNothing restarts the engine at random instants of random days: everything that is decided, told and
// recorded is what it would have been without.
func TestRestartChangesNothing(t *testing.T) {
	for _, every := range []time.Duration{5 * time.Minute, 15 * time.Minute} {
		base := newRig(t, target1("gw", every, DefaultRule(), probe.Short, probe.Long)...).learn(9).start()
		base.run(time.Minute)
		for seed := range uint64(many(restartSeeds, 2)) {
			d := rand.New(rand.NewPCG(seed, uint64(every)))
			list := drawEpisodes(d, base.now)
			straight, broken := base.fork(script(list)), base.fork(script(list))
			straight.run(10 * time.Hour)
			end := straight.now
			for range 1 + d.IntN(4) {
				broken.run(time.Duration(1+d.IntN(9000)) * time.Second)
				broken.start()
			}
			broken.run(end.Sub(broken.now))
			if d := difference(straight.log, broken.log); d != "" {
				t.Fatalf("every %s, seed %d: a restart changes the history (-without +with):\n%s\n%+v", every, seed, d, list)
			}
			if err := paired(straight.log); err != nil {
				t.Fatalf("every %s, seed %d: %v", every, seed, err)
			}
		}
	}
}

// TestRestartChangesNothingOfWholeTargets does the same with rounds of three canaries and the sharp preset, and with
// levels that are accepted, undone, followed down and reset within days.
func TestRestartChangesNothingOfWholeTargets(t *testing.T) {
	quick := func(r Rule) Rule {
		r.ExcludeAfter, r.AcceptAfter, r.DownAfter = 20*time.Minute, 90*time.Minute, 6*time.Hour
		return r
	}
	sharp := sharpRule()
	sharp.Corroborate = true
	for name, rule := range map[string]Rule{"balanced": quick(DefaultRule()), "sharp": quick(sharp)} {
		base := newRig(t, target1("gw", 5*time.Minute, rule, probe.Short, probe.Medium, probe.Long)...).learn(9).start()
		base.run(time.Minute)
		seen := map[string]bool{}
		for seed := range uint64(many(restartSeeds/2+1, 1)) {
			d := rand.New(rand.NewPCG(seed, 77))
			list := []episode{{From: base.now.Add(time.Hour), To: base.now.Add(time.Duration(3+d.IntN(4)) * time.Hour), Kind: []string{"x2", "x1.3", "x0.7"}[seed%3]}}
			list = append(list, drawEpisodes(d, base.now)...)
			straight, broken := base.fork(script(list)), base.fork(script(list))
			order := func(r *rig) {
				t.Helper()
				if seed%2 == 0 {
					if _, err := r.engine.ResetBaseline(t.Context(), "gw/chat/medium", "me", "", r.now); err != nil {
						t.Fatal(err)
					}
				}
			}
			straight.run(8 * time.Hour)
			half := straight.now
			order(straight)
			straight.run(6 * time.Hour)
			for range 1 + d.IntN(5) {
				broken.run(min(time.Duration(1+d.IntN(7000))*time.Second, half.Sub(broken.now)))
				broken.start()
			}
			broken.run(half.Sub(broken.now))
			order(broken)
			broken.start()
			broken.run(straight.now.Sub(broken.now))
			if d := difference(straight.log, broken.log); d != "" {
				t.Fatalf("%s, seed %d: a restart changes the history (-without +with):\n%s\n%+v", name, seed, d, list)
			}
			if err := paired(straight.log); err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
			for _, x := range straight.log.transitions {
				seen[string(x.Event)+" "+string(x.To)] = true
			}
			for _, a := range straight.log.fired(KindTTFT) {
				seen[a.Series] = true
			}
		}
		for _, want := range []string{"gw", "accept firing", "reset learning", "down ok"} {
			if !seen[want] {
				t.Errorf("%s: none of the days had %q: %v", name, want, seen)
			}
		}
	}
}

// TestRestartInTheFirstRound restarts when two of three canaries have spoken for the first time.
func TestRestartInTheFirstRound(t *testing.T) {
	base := pooledRig(t, 9)
	straight, broken := base.fork(healthy), base.fork(healthy)
	straight.run(12 * time.Minute)
	broken.run(time.Minute)
	if n := len(broken.engine.targets["gw"].pools[probe.TTFT].round.Shares); n != 2 {
		t.Fatalf("%d canaries in the round, want 2", n)
	}
	broken.start()
	broken.run(straight.now.Sub(broken.now))
	if d := difference(straight.log, broken.log); d != "" {
		t.Errorf("a restart changes the history (-without +with):\n%s", d)
	}
}

// TestRestartChangesNothingWhateverTheRule does the same for the other presets and schedules, on a day on which the clocks
// change, and with a window of two weeks, whose history must be read back as far.
func TestRestartChangesNothingWhateverTheRule(t *testing.T) {
	preset := func(name string, change func(*Rule)) Rule {
		r := DefaultRule()
		r.Preset = name
		change(&r)
		return r
	}
	literal := preset("literal", func(r *Rule) {
		r.Threshold.Literal, r.Kappa, r.MinRatio, r.OffsetCap, r.ResolveRatio, r.Reprobes = true, 1, 1, 1, 1, 0
	})
	quiet := preset("quiet", func(r *Rule) { r.Kappa, r.Reprobes = 1.5, 4 })
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]struct {
		rule  Rule
		every time.Duration
		days  int
	}{"literal": {literal, 15 * time.Minute, 9}, "quiet": {quiet, 5 * time.Minute, 9}, "hourly": {DefaultRule(), time.Hour, 9},
		"two weeks": {DefaultRule(), 15 * time.Minute, 16}} {
		watched := target1("gw", f.every, f.rule, probe.Short, probe.Long)
		for _, w := range watched {
			w.Canary.Scene.Zone = berlin
		}
		r := newRig(t, watched...)
		r.now = time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC) // five hours before the clocks are put forward
		r.opt.Baseline.Window = time.Duration(f.days-2) * 24 * time.Hour
		base := r.learn(f.days).start()
		base.run(time.Minute)
		for seed := range uint64(2) {
			d := rand.New(rand.NewPCG(seed, uint64(f.every)+9))
			list := drawEpisodes(d, base.now)
			straight, broken := base.fork(script(list)), base.fork(script(list))
			straight.run(14 * time.Hour)
			for broken.now.Before(straight.now.Add(-3 * time.Hour)) {
				broken.run(time.Duration(1+d.IntN(12000)) * time.Second)
				broken.start()
			}
			broken.run(straight.now.Sub(broken.now))
			if d := difference(straight.log, broken.log); d != "" {
				t.Fatalf("%s, seed %d: a restart changes the history (-without +with):\n%s\n%+v", name, seed, d, list)
			}
		}
	}
}

// restartSeeds is how many random days a schedule is tried on.
const restartSeeds = 6

// difference compares all that two ledgers hold.
func difference(want, got *ledger) string {
	f := func(l *ledger) []string {
		var list []string
		add := func(what string, v any) { list = append(list, what+" "+encode(v)) }
		for _, x := range l.transitions {
			add("transition", x)
		}
		for _, x := range l.notices {
			add("notice", x)
		}
		add("mailed", l.mailed)
		add("alerts", l.alerts)
		add("incidents", l.incidents)
		add("exclusions", l.exclusions)
		for _, key := range slices.Sorted(maps.Keys(l.records)) {
			m := l.records[key]
			times := slices.Sorted(maps.Keys(m))
			for _, at := range times[max(0, len(times)-400):] {
				add("record", m[at])
			}
		}
		return list
	}
	a, b := f(want), f(got)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "-" + a[i] + "\n+" + b[i]
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d entries and %d", len(a), len(b))
	}
	return ""
}

// paired wants every incident's messages to be one opening, then edits, then at most one resolve; a resolve and a closed
// incident go together.
func paired(l *ledger) error {
	told := map[string]Act{}
	rev := map[string]int{}
	for _, n := range l.notices {
		was := told[n.Incident]
		switch {
		case (was == "") != (n.Act == ActOpen):
			return fmt.Errorf("incident %s: %s after %q", n.Incident, n.Act, was)
		case was == ActResolve:
			return fmt.Errorf("incident %s: %s after its resolve", n.Incident, n.Act)
		case n.Revision != rev[n.Incident]+1:
			return fmt.Errorf("incident %s: revision %d after %d", n.Incident, n.Revision, rev[n.Incident])
		}
		told[n.Incident], rev[n.Incident] = n.Act, n.Revision
	}
	for id, text := range l.incidents {
		inc := decode[Incident](text)
		if announced := told[id] != ""; announced && (inc.State == IncidentClosed) != (told[id] == ActResolve) {
			return fmt.Errorf("incident %s is %s, its last message is %s", id, inc.State, told[id])
		}
	}
	for id, text := range l.alerts {
		a := decode[Alert](text)
		if a.Announced && told[a.Incident] == "" {
			return fmt.Errorf("alert %s says it was told; its incident never was", id)
		}
	}
	return nil
}

// fork copies a rig between two events, with an engine of its own that is loaded from the copy.
func (r *rig) fork(world func(*probe.Canary, time.Time) probe.Sample) *rig {
	log := newLedger()
	for key, m := range r.log.records {
		log.records[key] = map[int64]Record{}
		for at, rec := range m {
			log.records[key][at] = rec
		}
	}
	for key, b := range r.log.blobs {
		log.blobs[key] = b
	}
	f := &rig{t: r.t, now: r.now, log: log, watched: r.watched, world: world, every: 30 * time.Second, opt: r.opt}
	f.opt.Journal, f.opt.History, f.opt.Mailbox, f.opt.Reprober = log, log, log, f
	return f.start()
}

// many is how often a random trial is made: less often with -short. The race detector is run so, for the engine is one
// goroutine: more trials show it nothing.
func many(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}
