package engine

import (
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

const (
	membersLeast = 3                // canaries with bands, for a target to be judged as a whole
	shareGrace   = 30 * time.Second // how long after its time a round waits for answers that are under way
)

// rounds judges one metric of all of a target's canaries together, round by round.
type rounds struct {
	series   *series
	target   *target
	metric   probe.Metric
	group    *baseline.Group
	of       int64            // number of the interval of the round under way
	shares   map[string]share // that came in it, by canary
	confirms []confirmation   // under way, by time
	due      map[string]bool  // canaries with a run in an interval …
	dueOf    int64            // … which is this
	saved    roundsMark       // of the state that is stored
	changed  bool             // in the running call
}

// share is the newest observation of one canary that no round has used.
type share struct {
	at time.Time
	baseline.Share
	known bool // false: it came and said nothing
}

func newRounds(t *target, m probe.Metric) *rounds {
	r := &rounds{target: t, metric: m, dueOf: -1}
	r.series = newSeries(t.name, alert.Kind(m), t, r)
	r.group = baseline.NewGroup(t.interval(), r.reference().Rule.Threshold, baseline.GroupState{})
	return r
}

// configure takes the target's canaries as a config has them. What the rounds knew stays.
func (r *rounds) configure() {
	lead, every := r.reference(), r.target.interval()
	r.series.lead, r.series.quorum = lead, alert.RoundQuorum(lead.Rule, every)
	r.group = baseline.NewGroup(every, lead.Rule.Threshold, r.group.State())
	r.dueOf = -1
}

// isMember reports whether a canary is judged together with others in a metric, its band be ready or not.
func isMember(c *canary, m probe.Metric) bool { return c.joins() && c.history(m) != nil }

// reference is the first canary that is judged together with others: its rule is that of the rounds.
func (r *rounds) reference() *canary {
	i := slices.IndexFunc(r.target.canaries, func(c *canary) bool { return isMember(c, r.metric) })
	return r.target.canaries[max(i, 0)]
}

// pooled lists the canaries that are judged together now; nil where they are too few.
func (r *rounds) pooled() []*canary {
	list := make([]*canary, 0, len(r.target.canaries))
	for _, c := range r.target.canaries {
		if isMember(c, r.metric) && c.history(r.metric).Pools() {
			list = append(list, c)
		}
	}
	if len(list) < membersLeast {
		return nil
	}
	return list
}

func (r *rounds) ready() bool { return r.pooled() != nil }

func (r *rounds) freeze(on bool) { r.group.Freeze(on) }

func (r *rounds) histories() (list []*history) {
	for _, c := range r.pooled() {
		list = append(list, c.history(r.metric))
	}
	return list
}

// pace is how often rounds come. Two canaries make one: it is the interval of the second fastest schedule.
func (r *rounds) pace() time.Duration {
	var every []time.Duration
	for _, c := range r.pooled() {
		every = append(every, c.Canary.Interval)
	}
	if len(every) == 0 {
		return r.target.interval()
	}
	slices.Sort(every)
	return every[min(1, len(every)-1)]
}

// addToRound adds an observation of a canary to the round that it belongs to.
func (e *Engine) addToRound(c *canary, s *probe.Sample, h *history, o alert.Observation, kinds []alert.Kind) {
	r := c.target.round(h.metric)
	if r == nil {
		return
	}
	x := share{at: s.Time}
	x.Share, x.known = h.Share(o.Judged)
	switch {
	case s.Regular():
		r.addRegular(e, c, x)
	case slices.Contains(kinds, roundKind(h.metric)):
		r.addConfirmation(e, c, x)
	}
}

// intervalOf is the number of the interval that a run belongs to.
func (r *rounds) intervalOf(at time.Time) int64 {
	return at.Add(runEarly).UnixNano() / int64(r.target.interval())
}

func (r *rounds) start(interval int64) time.Time {
	return time.Unix(0, interval*int64(r.target.interval()))
}

func (r *rounds) addRegular(e *Engine, c *canary, x share) {
	of := r.intervalOf(x.at)
	if of > r.of || of < r.of-1 { // a new interval, or the clock was set back
		r.close(e)
		r.of = of
	}
	r.expect()
	if r.shares == nil {
		r.shares = map[string]share{}
	}
	r.shares[c.key] = x
	for key := range r.due {
		if _, came := r.shares[key]; !came {
			return
		}
	}
	r.close(e)
}

// expect works out which canaries are due in the interval of the round.
func (r *rounds) expect() {
	if r.dueOf == r.of {
		return
	}
	r.due, r.dueOf = map[string]bool{}, r.of
	from := r.start(r.of).Add(-runEarly)
	for _, c := range r.target.canaries {
		if !isMember(c, r.metric) {
			continue
		}
		due := from
		if c.Due != nil {
			due = c.Due(from.Add(-1))
		}
		if !due.IsZero() && due.Before(from.Add(r.target.interval())) {
			r.due[c.key] = true
		}
	}
}

// close judges what has come in since the last round.
func (r *rounds) close(e *Engine) {
	if len(r.shares) == 0 {
		return
	}
	r.expect()
	pooled := r.pooled()
	var wanted []string
	for _, c := range pooled {
		if r.due[c.key] {
			wanted = append(wanted, c.key)
		}
	}
	shares := r.shares
	r.shares = nil
	o, ok := r.observe(pooled, wanted, shares)
	if !ok {
		return
	}
	o.Trigger = probe.Schedule
	if t := r.step(e, o); t.View.Looks() && !r.series.alert.IsFiring() {
		r.confirm(e, pooled, shares)
	}
}

// step is step for a round.
func (r *rounds) step(e *Engine, o alert.Observation) alert.Turn {
	s := r.series
	if s.alert.IsFiring() && !e.folding {
		s.alert = s.alert.Count(probe.OK)
	}
	t := s.step(e, o)
	if t.Calm && isRegular(o.Trigger) && s.alert.IsFiring() {
		r.confirmAt(e, r.pooled(), calmTimes(e.now, r.pace()))
	}
	return t
}

// observe makes an observation of shares; it counts with at least two and at least half of those wanted.
func (r *rounds) observe(pooled []*canary, wanted []string, shares map[string]share) (alert.Observation, bool) {
	var list []baseline.Share
	var series []*baseline.Series
	o := alert.Observation{Outcome: probe.OK}
	for _, c := range pooled {
		series = append(series, c.history(r.metric).Series)
		if x := shares[c.key]; x.known {
			list = append(list, x.Share)
			o.Who = append(o.Who, alert.CanaryID(c.key))
			o.At = latest(o.At, x.at)
		}
	}
	if len(list) < 2 || 2*len(list) < len(wanted) {
		return o, false
	}
	round := r.group.Judge(o.At, series, list)
	o.Verdict, o.Shares, o.LevelModel = round.Ruling, list, round.Level
	o.Call, o.Canaries = o.Verdict.Call, len(list)
	return o, o.Call != baseline.NotJudged
}

// closeDue closes the rounds whose time has passed.
func (r *rounds) closeDue(e *Engine) {
	if len(r.shares) > 0 && e.now.Sub(r.start(r.of+1)) >= shareGrace {
		r.close(e)
	}
	for i := 0; i < len(r.confirms); i++ {
		if e.now.Sub(r.confirms[i].at) > 2*reprobeNear {
			r.closeConfirmation(e, i)
			i--
		}
	}
}

// isSilent reports whether nothing can end the alert of the rounds any more: bands are gone, or no round has come for as long as its
// votes count, nor can one, because too many canaries do not know the scatter of their probes, as after a change of their interval, or
// fail since their past changed.
func (r *rounds) isSilent(now time.Time) bool {
	banded, able := 0, 0
	for _, c := range r.target.canaries {
		h := c.history(r.metric)
		if h == nil {
			continue
		}
		if h.ready() {
			banded++
		}
		if c.joins() && (h.Pools() || h.MayPool() && !c.isDown() && !c.of(alert.KindNoData).alert.IsFiring()) {
			able++
		}
	}
	late := now.Sub(r.series.alert.Last.At).Abs() > r.series.quorum.Window
	return banded < membersLeast || late && able < membersLeast
}
