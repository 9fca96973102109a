package engine

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/baseline"
	"serin/probe"
)

// rig is a daemon in virtual time: schedules, re-probes and ticks around an engine.
type rig struct {
	t           testing.TB
	now         time.Time
	log         *ledger
	engine      *Engine
	watched     []Watched
	asks        map[string][]time.Time
	sent        int // re-probes
	world       func(c *probe.Canary, at time.Time) probe.Sample
	next        map[string]time.Time
	opt         EngineOptions
	maintenance []Maintenance
	every       time.Duration // of ticks
	lag         time.Duration // of a probe behind its run: no two have one instant, also after the clock was set back
}

var _ Reprober = (*rig)(nil)

var day0 = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // a Monday

// target1 makes canaries of one target and scene, one a size, all at one interval.
func target1(name string, every time.Duration, rule Rule, sizes ...probe.Size) []Watched {
	target := probe.DefaultTarget()
	target.Name, target.Title = name, strings.ToUpper(name)
	scene := &probe.Scene{Name: "chat", Zone: time.UTC, Metrics: []probe.Metric{probe.TTFT, probe.TPOT}}
	var list []Watched
	for i, s := range sizes {
		phase := time.Duration(i) * 20 * time.Second
		list = append(list, Watched{Canary: &probe.Canary{Target: &target, Scene: scene, Size: s, Interval: every}, Spec: "s1", Rule: rule,
			Due: func(after time.Time) time.Time { return after.Add(-phase).Truncate(every).Add(every + phase) }})
	}
	return list
}

func newRig(t testing.TB, watched ...Watched) *rig {
	r := &rig{t: t, now: day0.Add(10 * time.Hour), log: newLedger(), watched: watched, world: healthy, every: 5 * time.Second}
	r.opt = EngineOptions{Journal: r.log, History: r.log, Mailbox: r.log, Reprober: r, Channels: []string{"slack"},
		Incident: DefaultIncident(), Baseline: baseline.DefaultOptions()}
	return r
}

// start loads a new engine from the ledger: a first start, or a restart.
func (r *rig) start() *rig {
	r.asks, r.next = map[string][]time.Time{}, map[string]time.Time{}
	r.engine = NewEngine(r.opt)
	r.engine.UseMaintenance(r.maintenance)
	if err := r.engine.Load(r.t.Context(), r.watched, r.log.snapshot(), r.now); err != nil {
		r.t.Fatal(err)
	}
	r.engine.open(r.now) // as the first tick does, which comes at once
	r.engine.catchUp()
	if err := r.engine.finish(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.schedule()
	return r
}

func (r *rig) schedule() {
	for _, w := range r.watched {
		r.next[w.Canary.Key()] = w.Due(r.now)
	}
}

// learn imports days of healthy history.
func (r *rig) learn(days int) *rig {
	for _, w := range r.watched {
		c := w.Canary
		m := map[int64]Record{}
		for at := w.Due(r.now.AddDate(0, 0, -days)); at.Before(r.now); at = w.Due(at) {
			m[at.UnixNano()] = Record{Sample: healthy(c, at)}
		}
		r.log.records[c.Key()] = m
	}
	return r
}

func (r *rig) Reprobe(canary string, at []time.Time) {
	r.asks[canary] = append(r.asks[canary], at...)
	slices.SortFunc(r.asks[canary], time.Time.Compare)
}

func (r *rig) CancelReprobes(canary string) { delete(r.asks, canary) }

// run lets virtual time pass.
func (r *rig) run(d time.Duration) *rig {
	end := r.now.Add(d)
	tick := r.now.Truncate(r.every).Add(r.every)
	for {
		at, what, c := tick, "", (*probe.Canary)(nil)
		for _, w := range r.watched {
			key := w.Canary.Key()
			if n := r.next[key]; !n.After(at) {
				at, what, c = n, "schedule", w.Canary
			}
			if list := r.asks[key]; len(list) > 0 && list[0].Before(at) {
				at, what, c = list[0], "reprobe", w.Canary
			}
		}
		if at.After(end) {
			r.now = end
			return r
		}
		r.now = at
		switch what {
		case "schedule":
			r.next[c.Key()] = r.due(c).Due(at)
			r.send(c, probe.Schedule)
		case "reprobe":
			r.asks[c.Key()] = r.asks[c.Key()][1:]
			r.sent++
			r.send(c, probe.Reprobe)
		default:
			r.tick()
			tick = tick.Add(r.every)
		}
	}
}

func (r *rig) due(c *probe.Canary) Watched {
	i := slices.IndexFunc(r.watched, func(w Watched) bool { return w.Canary == c })
	return r.watched[i]
}

func (r *rig) tick() {
	if err := r.engine.Tick(r.t.Context(), r.now); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) send(c *probe.Canary, why probe.Trigger) {
	s := r.world(c, r.now.Add(r.lag))
	if s.Outcome == "" {
		return // no probe was begun
	}
	s.Trigger = why
	r.observe(s)
}

func (r *rig) observe(s probe.Sample) {
	if err := r.engine.Observe(r.t.Context(), s); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) state(k Kind) State {
	return r.engine.watches[r.watched[0].Canary.Key()].alerts[k].State
}

// wobble is a number in [-1, 1) that depends on the names alone.
func wobble(parts ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, parts...)
	x := h.Sum64()
	x ^= x >> 31
	x *= 0x94D049BB133111EB
	return float64(x>>11)/(1<<52) - 1
}

// healthy answers in 400 ms ± 6 % and 20 ms ± 4 % a token.
func healthy(c *probe.Canary, at time.Time) probe.Sample { return answer(c, at, 1) }

// answer is a good sample that is slower than healthy by a factor in its first token.
func answer(c *probe.Canary, at time.Time, factor float64) probe.Sample {
	ttft := .4 * math.Exp(.06*wobble(c.Key(), "ttft", at.UnixNano())) * factor
	tpot := .02 * math.Exp(.04*wobble(c.Key(), "tpot", at.UnixNano()))
	s := bad(c, at, probe.OK)
	s.TTFT, s.TPOT = probe.Known(secs(ttft)), probe.Known(secs(tpot))
	s.E2E = probe.Known(secs(ttft + 100*tpot))
	return s
}

// bad is a sample without an answer.
func bad(c *probe.Canary, at time.Time, o probe.Outcome) probe.Sample {
	return probe.Sample{Time: at, Target: c.Target.Name, Scene: c.Scene.Name, Size: c.Size, Spec: "s1", Outcome: o, Family: o.Family()}
}

func secs(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }

// during makes a world that is other from one time on until another, and healthy else.
func during(from, to time.Time, other func(c *probe.Canary, at time.Time) probe.Sample) func(*probe.Canary, time.Time) probe.Sample {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		if at.Before(from) || !at.Before(to) {
			return healthy(c, at)
		}
		return other(c, at)
	}
}

func slower(factor float64) func(c *probe.Canary, at time.Time) probe.Sample {
	return func(c *probe.Canary, at time.Time) probe.Sample { return answer(c, at, factor) }
}

func ends(o probe.Outcome) func(c *probe.Canary, at time.Time) probe.Sample {
	return func(c *probe.Canary, at time.Time) probe.Sample { return bad(c, at, o) }
}

// silent begins no probe.
func silent(*probe.Canary, time.Time) probe.Sample { return probe.Sample{} }
