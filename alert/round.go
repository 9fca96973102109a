package alert

import (
	"hash/fnv"
	"slices"
	"time"

	"serin/baseline"
	"serin/probe"
)

// A target is judged as a whole where this many of its canaries have bands.
const poolLeast = 3

// reRounds follow a regular round that looks slow, until it does not any more.
const reRounds = 9

// shareGrace is how long after its time a round waits for answers that are under way.
const shareGrace = 30 * time.Second

// pool judges rounds: one metric of all of a target's canaries together.
type pool struct {
	metric probe.Metric
	alert  Alert
	group  *baseline.Group
	round  round
	again  []reRound // under way, by time
	due    map[string]bool
	dueOf  int64 // the interval that due is of
}

// round is what has come in over one interval of the target's fastest schedule.
type round struct {
	Of     int64             `json:"of,omitempty"` // number of the interval
	Shares map[string]spoken `json:"shares,omitempty"`
}

// spoken is the newest observation of one canary that no round has used.
type spoken struct {
	At    time.Time      `json:"at"`
	Share baseline.Share `json:"share"`
	Known bool           `json:"known,omitempty"` // false: it came and said nothing
}

// reRound is a round of re-probes.
type reRound struct {
	At     time.Time         `json:"at"`
	Want   []string          `json:"want"`
	Shares map[string]spoken `json:"shares,omitempty"`
}

// poolMemo is what a restart must find again of a pool. Every sample changes the rounds that are under way, and a round only the
// rest, which is many times as long: so they are stored apart. A store may hold them here.
type poolMemo struct {
	Group baseline.GroupState `json:"group"`
	Alert *Alert              `json:"alert,omitempty"` // while it is not open
	roundsMemo
}

// roundsMemo is the rounds that are under way.
type roundsMemo struct {
	Round round     `json:"round,omitzero"`
	Again []reRound `json:"again,omitempty"`
}

// poolKind is how a re-probe says that a round asked for it.
func poolKind(m probe.Metric) Kind { return Kind("round/" + m) }

func isPoolKind(k Kind) bool { return len(k) > 6 && k[:6] == "round/" }

// pooled lists the target's canaries that are judged together in a metric; nil where they are too few.
func (t *target) pooled(m probe.Metric) []*watch {
	var list []*watch
	for _, c := range t.canaries {
		if s := c.series[m]; s != nil && c.Rule.Corroborate && !c.Rule.Literal() && s.Pools() {
			list = append(list, c)
		}
	}
	if len(list) < poolLeast {
		return nil
	}
	return list
}

// banded is how many of the target's canaries have a band of a metric.
func (t *target) banded(m probe.Metric) (n int) {
	for _, c := range t.canaries {
		if b, ok := c.bands[m]; ok && b.State == bandReady {
			n++
		}
	}
	return n
}

// mayPool reports whether enough of the target's canaries judge a metric, be their bands ready or not.
func (t *target) mayPool(m probe.Metric) bool {
	n := 0
	for _, c := range t.canaries {
		if c.Rule.Corroborate && !c.Rule.Literal() && slices.Contains(c.metrics(), m) {
			n++
		}
	}
	return n >= poolLeast
}

// grown reports whether every canary of the target that judges a metric has a whole window of history.
func (t *target) grown(m probe.Metric, now time.Time) bool {
	for _, c := range t.canaries {
		if s := c.series[m]; s != nil && !c.Rule.Literal() && !s.Grown(now) {
			return false
		}
	}
	return true
}

// corroborates reports whether a target's own series pages for a metric, so that the single series need not.
func (t *target) corroborates(m probe.Metric, now time.Time) bool {
	return t.pools[m] != nil && t.pooled(m) != nil && t.grown(m, now)
}

// interval is that of the target's fastest schedule.
func (t *target) interval() time.Duration {
	least := t.canaries[0].Canary.Interval
	for _, c := range t.canaries {
		least = min(least, c.Canary.Interval)
	}
	return least
}

// repool makes the target's pools those of its canaries. What a pool knew stays.
func (e *Engine) repool(t *target) {
	for _, m := range ringMetrics() {
		p := t.pools[m]
		switch {
		case t.mayPool(m) && p == nil:
			p = &pool{metric: m, alert: Alert{Series: t.name, Kind: Kind(m), State: StateLearning}}
			t.pools[m] = p
			fallthrough
		case t.mayPool(m):
			var st baseline.GroupState
			if p.group != nil {
				st = p.group.State()
			}
			p.group, p.dueOf = baseline.NewGroup(t.interval(), t.lead(m).Rule.Threshold, st), -1
		case p != nil:
			if p.alert.Open() {
				e.retire(t, p.alert, whyRemoved)
			}
			delete(t.pools, m)
			e.forget(e.tx, blobTarget+poolKey(t, m))
			e.forget(e.tx, blobRounds+poolKey(t, m))
		}
	}
}

// lead is the first canary that is judged together with others: its rule is the pool's.
func (t *target) lead(m probe.Metric) *watch {
	i := slices.IndexFunc(t.canaries, func(c *watch) bool {
		return c.Rule.Corroborate && !c.Rule.Literal() && slices.Contains(c.metrics(), m)
	})
	return t.canaries[max(i, 0)]
}

func (t *target) quorum(m probe.Metric) Quorum {
	every := t.interval()
	r := t.lead(m).Rule
	q := Quorum{M: sharpLeast, N: sharpLeast, Window: max(r.Window, 6*every), ResolveN: max(r.ResolveN, 1), ResolveFor: r.ResolveFor}
	return q.sharpened(r, roundScores())
}

// pour adds an observation of a canary to the rounds that want it.
func (e *Engine) pour(c *watch, s *probe.Sample, m probe.Metric, o Observation, asked []Kind) {
	t := e.targets[c.Canary.Target.Name]
	p := t.pools[m]
	if p == nil {
		return
	}
	x := spoken{At: s.Time}
	x.Share, x.Known = c.series[m].Share(o.judged)
	switch {
	case s.Regular():
		e.pourRegular(t, p, c, x)
	case slices.Contains(asked, poolKind(m)):
		e.pourAgain(t, p, c, x)
	}
}

func (e *Engine) pourRegular(t *target, p *pool, c *watch, x spoken) {
	every := t.interval()
	of := x.At.Add(runEarly).UnixNano() / int64(every)
	if of > p.round.Of || of < p.round.Of-1 { // a new interval, or the clock was set back
		e.closeRound(t, p)
		p.round.Of = of
	}
	p.expect(t, every)
	if p.round.Shares == nil {
		p.round.Shares = map[string]spoken{}
	}
	p.round.Shares[c.key] = x
	e.tx.pour(t)
	for _, w := range t.canaries {
		if _, came := p.round.Shares[w.key]; p.due[w.key] && !came {
			return
		}
	}
	e.closeRound(t, p)
}

// expect works out which canaries are due in the interval of the round.
func (p *pool) expect(t *target, every time.Duration) {
	if p.dueOf == p.round.Of {
		return
	}
	p.due, p.dueOf = map[string]bool{}, p.round.Of
	from := time.Unix(0, p.round.Of*int64(every)).Add(-runEarly)
	for _, c := range t.canaries {
		if c.series[p.metric] == nil || c.Rule.Literal() || !c.Rule.Corroborate {
			continue
		}
		due := from
		if c.Due != nil {
			due = c.Due(from.Add(-1))
		}
		p.due[c.key] = !due.IsZero() && due.Before(from.Add(every))
	}
}

// closeRound judges what has come in since the last round.
func (e *Engine) closeRound(t *target, p *pool) {
	if len(p.round.Shares) == 0 {
		return
	}
	p.expect(t, t.interval())
	pooled := t.pooled(p.metric)
	var due []string
	for _, c := range pooled {
		if p.due[c.key] {
			due = append(due, c.key)
		}
	}
	shares := p.round.Shares
	p.round.Shares = nil
	e.tx.pools[t] = true
	o, ok := e.weighRound(t, p, pooled, due, shares)
	if !ok {
		return
	}
	o.Trigger = probe.Schedule
	if tn := e.stepPool(t, p, o); tn.view.looks() && !p.alert.Open() {
		e.askRounds(t, p, pooled, shares)
	}
}

// weighRound makes an observation of shares; it counts with at least two and at least half of those wanted.
func (e *Engine) weighRound(t *target, p *pool, pooled []*watch, wanted []string, shares map[string]spoken) (Observation, bool) {
	var list []baseline.Share
	var series []*baseline.Series
	o := Observation{Outcome: probe.OK}
	for _, c := range pooled {
		series = append(series, c.series[p.metric])
		if x := shares[c.key]; x.Known {
			list = append(list, x.Share)
			o.Who = append(o.Who, Voice(c.key))
			o.At = latest(o.At, x.At)
		}
	}
	if len(list) < 2 || 2*len(list) < len(wanted) {
		return o, false
	}
	r := p.group.Judge(o.At, series, list)
	o.Verdict, o.Shares, o.LevelModel = r.Ruling, list, r.Level
	o.Call, o.Canaries = o.Verdict.Call, len(list)
	return o, o.Call != baseline.NotJudged
}

// Voice is a canary's number among the votes of rounds, by its key.
func Voice(key string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(key)) // never fails
	return h.Sum32()
}

// tickPool closes the rounds whose time has passed, and does what time alone does to an alert.
func (e *Engine) tickPool(t *target, p *pool) {
	if len(p.round.Shares) > 0 {
		every := t.interval()
		if end := time.Unix(0, (p.round.Of+1)*int64(every)); e.now.Sub(end) >= shareGrace {
			e.closeRound(t, p)
		}
	}
	for i := 0; i < len(p.again); i++ {
		if e.now.Sub(p.again[i].At) > 2*reprobeNear {
			e.closeAgain(t, p, i)
			i--
		}
	}
	e.agePool(t, p)
}
