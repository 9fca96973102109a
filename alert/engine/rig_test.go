package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/alert/engine"
	"serin/baseline"
	"serin/probe"
)

// world answers a probe that a canary sends at a time. A sample without an outcome: no probe was begun.
type world func(c *probe.Canary, at time.Time) probe.Sample

// rig is a daemon in virtual time: schedules, re-probes and ticks around an engine, and a store in memory.
type rig struct {
	t       testing.TB
	now     time.Time
	store   *store
	engine  *engine.Engine
	watched []alert.Watched
	windows []alert.Maintenance
	asks    map[string][]time.Time
	sent    int // re-probes
	world   world
	next    map[string]time.Time
	opt     engine.Options
	every   time.Duration // of ticks
	lag     time.Duration // of a probe behind its run: no two have one instant, also after the clock was set back
}

var day0 = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // a Monday

// canaries makes canaries of one target and scene, one a size, all at one interval.
func canaries(name string, every time.Duration, rule alert.Rule, sizes ...probe.Size) []alert.Watched {
	target := probe.DefaultTarget()
	target.Name, target.Title = name, strings.ToUpper(name)
	scene := &probe.Scene{Name: "chat", Zone: time.UTC, Metrics: []probe.Metric{probe.TTFT, probe.TPOT}}
	var list []alert.Watched
	for i, s := range sizes {
		phase := time.Duration(i) * 20 * time.Second
		list = append(list, alert.Watched{Canary: &probe.Canary{Target: &target, Scene: scene, Size: s, Interval: every}, Spec: "s1", Rule: rule,
			Due: func(after time.Time) time.Time { return after.Add(-phase).Truncate(every).Add(every + phase) }})
	}
	return list
}

// single is the default rule without rounds.
func single() alert.Rule {
	r := alert.DefaultRule()
	r.Corroborate = false
	return r
}

func newRig(t testing.TB, watched ...alert.Watched) *rig {
	r := &rig{t: t, now: day0.Add(10 * time.Hour), store: newStore(), watched: watched, world: healthy, every: 5 * time.Second}
	r.opt = engine.Options{History: r.store, Baseline: baseline.DefaultOptions(), Reprobes: true}
	return r
}

// shortRig is a learned canary that is probed every 5 minutes and judged by itself.
func shortRig(t testing.TB) *rig {
	return newRig(t, canaries("gw", 5*time.Minute, single(), probe.Short)...).learn(9).start()
}

// wholeRig is a learned target of three canaries that is judged as a whole.
func wholeRig(t testing.TB) *rig {
	return newRig(t, canaries("gw", 5*time.Minute, alert.DefaultRule(), probe.Short, probe.Medium, probe.Long)...).learn(9).start()
}

// start loads a new engine from the store: a first start, or a restart.
func (r *rig) start() *rig {
	r.asks, r.next = map[string][]time.Time{}, map[string]time.Time{}
	r.engine = engine.New(r.opt)
	j, err := r.engine.Load(r.t.Context(), r.watched, r.windows, r.store.snapshot(), r.now)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(j.Transitions)+len(j.Reprobes)+len(j.Alerts)+len(j.Blobs) > 0 {
		r.t.Fatalf("a start says %+v", j)
	}
	r.take(j)
	r.tick()
	r.schedule()
	return r
}

func (r *rig) schedule() {
	for _, w := range r.watched {
		r.next[w.Canary.Key()] = w.Due(r.now)
	}
}

// learn imports days of healthy history.
func (r *rig) learn(days int) *rig { return r.learnFrom(days, healthy) }

func (r *rig) learnFrom(days int, w world) *rig {
	r.world = w
	for _, x := range r.watched {
		for at := x.Due(r.now.AddDate(0, 0, -days)); at.Before(r.now); at = x.Due(at) {
			r.store.add(alert.Record{Sample: w(x.Canary, at)})
		}
	}
	return r
}

func (r *rig) take(j alert.Judged) {
	r.store.commit(j)
	for _, p := range j.Reprobes {
		r.asks[p.Canary] = p.At
	}
	for _, x := range j.Transitions {
		if x.After == nil && x.Alert != "" && x.To.IsFiring() {
			r.t.Errorf("no alert in %+v", x)
		}
	}
}

// run lets virtual time pass.
func (r *rig) run(d time.Duration) *rig {
	end := r.now.Add(d)
	tick := r.now.Truncate(r.every).Add(r.every)
	for {
		at, what, c := tick, probe.Trigger("tick"), (*probe.Canary)(nil)
		for _, w := range r.watched {
			key := w.Canary.Key()
			if n := r.next[key]; !n.After(at) {
				at, what, c = n, probe.Schedule, w.Canary
			}
			if list := r.asks[key]; len(list) > 0 && list[0].Before(at) {
				at, what, c = list[0], probe.Reprobe, w.Canary
			}
		}
		if at.After(end) {
			r.now = end
			return r
		}
		r.now = at
		switch what {
		case probe.Schedule:
			i := slices.IndexFunc(r.watched, func(w alert.Watched) bool { return w.Canary == c })
			r.next[c.Key()] = r.watched[i].Due(at)
			r.send(c, what)
		case probe.Reprobe:
			r.asks[c.Key()] = r.asks[c.Key()][1:]
			r.sent++
			r.send(c, what)
		default:
			r.tick()
			tick = tick.Add(r.every)
		}
	}
}

func (r *rig) tick() { r.take(r.engine.Tick(r.now)) }

func (r *rig) send(c *probe.Canary, why probe.Trigger) {
	if s := r.world(c, r.now.Add(r.lag)); s.Outcome != "" {
		s.Trigger = why
		r.observe(s)
	}
}

func (r *rig) observe(s probe.Sample) { r.take(r.engine.Observe(s)) }

func (r *rig) reload(watched ...alert.Watched) {
	r.t.Helper()
	r.watched = watched
	j, err := r.engine.Reload(r.t.Context(), watched, r.windows, r.now)
	if err != nil {
		r.t.Fatal(err)
	}
	r.take(j)
	r.schedule()
}

// status is that of the canary with a key.
func (r *rig) status(key string) alert.CanaryStatus {
	_, list, _ := r.engine.Status()
	i := slices.IndexFunc(list, func(c alert.CanaryStatus) bool { return c.Key() == key })
	if i < 0 {
		r.t.Fatalf("%s is not watched", key)
	}
	return list[i]
}

func (r *rig) state(k alert.Kind) alert.State { return r.status("gw/chat/short").States[k] }

// of lists the alerts of a series and kind, by when they fired.
func (r *rig) of(series string, k alert.Kind) (list []alert.Alert) {
	for _, id := range slices.Sorted(maps.Keys(r.store.alerts)) {
		if a := decode[alert.Alert](r.store.alerts[id]); a.Kind == k && a.Series == series {
			list = append(list, a)
		}
	}
	return list
}

// one is the only alert of a series and kind.
func (r *rig) one(series string, k alert.Kind) alert.Alert {
	r.t.Helper()
	got := r.of(series, k)
	if len(got) != 1 {
		r.t.Fatalf("%d alerts of %s %s, want one", len(got), series, k)
	}
	return got[0]
}

// quiet wants a rig that has raised nothing.
func (r *rig) quiet(what string) {
	r.t.Helper()
	if len(r.store.alerts) != 0 {
		r.t.Errorf("%s: alerts %v", what, slices.Collect(maps.Keys(r.store.alerts)))
	}
}

// happened lists the events of a kind.
func (r *rig) happened(what alert.Event) []alert.Transition {
	return slices.DeleteFunc(slices.Clone(r.store.transitions), func(t alert.Transition) bool { return t.Event != what })
}

// store holds what is committed, as JSON where a store does.
type store struct {
	records     map[string]map[int64]alert.Record
	alerts      map[string]string
	blobs       map[string]string
	transitions []alert.Transition
	exclusions  []alert.Exclusion
	broken      bool // its history cannot be read
}

var _ alert.History = (*store)(nil)

func newStore() *store {
	return &store{records: map[string]map[int64]alert.Record{}, alerts: map[string]string{}, blobs: map[string]string{}}
}

func (s *store) add(r alert.Record) {
	key := r.Sample.Key()
	if s.records[key] == nil {
		s.records[key] = map[int64]alert.Record{}
	}
	s.records[key][r.Sample.Time.UnixNano()] = r
}

func (s *store) commit(j alert.Judged) {
	for _, r := range j.Records {
		s.add(r)
	}
	for _, x := range j.Exclusions {
		for at, r := range s.records[x.Canary] {
			if at >= x.From && at <= x.To {
				out := maps.Clone(r.Excluded)
				if out == nil {
					out = map[probe.Metric]bool{}
				}
				out[x.Metric] = x.Excluded
				r.Excluded = out
				s.records[x.Canary][at] = r
			}
		}
	}
	for _, a := range j.Alerts {
		s.alerts[a.ID] = encode(a)
	}
	for _, b := range j.Blobs {
		if s.blobs[b.Key] = string(b.Body); b.Body == nil {
			delete(s.blobs, b.Key)
		}
	}
	s.transitions = append(s.transitions, j.Transitions...)
	s.exclusions = append(s.exclusions, j.Exclusions...)
}

func (s *store) History(_ context.Context, canary string, since time.Time) iter.Seq2[alert.Record, error] {
	return func(yield func(alert.Record, error) bool) {
		if s.broken {
			yield(alert.Record{}, errors.New("disk"))
			return
		}
		for _, at := range slices.Sorted(maps.Keys(s.records[canary])) {
			if at >= since.UnixNano() && !yield(s.records[canary][at], nil) {
				return
			}
		}
	}
}

func (s *store) snapshot() (snap alert.Snapshot) {
	for _, id := range slices.Sorted(maps.Keys(s.alerts)) {
		if a := decode[alert.Alert](s.alerts[id]); a.Resolved.IsZero() {
			snap.Alerts = append(snap.Alerts, a)
		}
	}
	for k, b := range s.blobs {
		snap.Blobs = append(snap.Blobs, alert.Blob{Key: k, Body: json.RawMessage(b)})
	}
	return snap
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func decode[T any](s string) (v T) {
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		panic(err)
	}
	return v
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
	s.TTFT, s.TPOT = probe.Known(seconds(ttft)), probe.Known(seconds(tpot))
	s.E2E = probe.Known(seconds(ttft + 100*tpot))
	return s
}

// bad is a sample without an answer.
func bad(c *probe.Canary, at time.Time, o probe.Outcome) probe.Sample {
	return probe.Sample{Time: at, Target: c.Target.Name, Scene: c.Scene.Name, Size: c.Size, Spec: "s1", Outcome: o, Family: o.Family()}
}

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }

// during makes a world that is other from one time on until another, and healthy else.
func during(from, to time.Time, other world) world {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		if at.Before(from) || !at.Before(to) {
			return healthy(c, at)
		}
		return other(c, at)
	}
}

// only makes one size other and leaves the rest healthy.
func only(size probe.Size, other world) world {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		if c.Size != size {
			return healthy(c, at)
		}
		return other(c, at)
	}
}

func slower(factor float64) world {
	return func(c *probe.Canary, at time.Time) probe.Sample { return answer(c, at, factor) }
}

func ends(o probe.Outcome) world {
	return func(c *probe.Canary, at time.Time) probe.Sample { return bad(c, at, o) }
}

func skips(reason string) world {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		s := bad(c, at, probe.Skipped)
		s.Reason = reason
		return s
	}
}

// silent begins no probe.
func silent(*probe.Canary, time.Time) probe.Sample { return probe.Sample{} }

// many is how often a random trial is made: less often with -short. The race detector is run so, for the engine is one
// goroutine: more trials show it nothing.
func many(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}
