package engine

import (
	"maps"
	"slices"
	"time"

	"serin/baseline"
	"serin/probe"
)

// watch is all that the engine knows of one canary.
type watch struct {
	Watched
	key    string
	all    []Kind         // kinds
	calm   bool           // nothing is open or pending: time alone changes nothing of its alerts but missing data
	alerts map[Kind]Alert // the one of each kind: open, or with the votes towards the next
	series map[probe.Metric]*baseline.Series
	bands  map[probe.Metric]baseline.Band // the newest of each metric
	shown  bool                           // Status shows this very map: the next change goes into a new one
	marks  map[probe.Metric]*marks        // what was said and stored of each series
	memo   memo
	recent ring
	seen   []attempt // the newest samples, so that a duplicate changes nothing; oldest first from next on
	next   int
	runs   runs

	respecced bool // the store's state is of another spec
}

// memo is what a restart must find again beside open alerts and the series.
type memo struct {
	Spec    string                `json:"spec,omitempty"` // of the series and votes
	Idle    []Alert               `json:"idle,omitempty"` // alerts that are not open: votes towards the next
	Asks    []ask                 `json:"asks,omitempty"` // re-probes asked for, not seen yet
	Tokens  float64               `json:"tokens"`         // of the re-probe budget
	Armed   map[probe.Metric]bool `json:"armed,omitempty"`
	Told    []told                `json:"told,omitempty"`
	Accepts []accepted            `json:"accepts,omitempty"`
}

// told is a span in which a canary's failures of one kind were told by its own alert.
type told struct {
	Kind Kind      `json:"kind"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// attempt is a sample's instant in nanoseconds with the number of its attempt, modulo 4, below it.
type attempt uint64

// seenMax bounds how many samples are remembered for telling duplicates.
const seenMax = 64

func newWatch(w Watched) *watch {
	c := &watch{Watched: w, key: w.Canary.Key(), alerts: map[Kind]Alert{}, series: map[probe.Metric]*baseline.Series{},
		bands: map[probe.Metric]baseline.Band{}, marks: map[probe.Metric]*marks{}}
	c.watch(w)
	c.memo.Tokens, c.memo.Armed = reprobeBudget, map[probe.Metric]bool{}
	for _, k := range c.kinds() {
		c.alerts[k] = c.blank(k)
	}
	return c
}

// blank is an alert with nothing seen yet.
func (c *watch) blank(k Kind) Alert {
	a := Alert{Series: c.key, Kind: k, State: StateOK}
	if m := k.Metric(); m != "" && c.bands[m].State != bandReady {
		a.State = StateLearning
	}
	return a
}

// bandReady is the state of a band that judges.
const bandReady = "ready"

func (c *watch) metrics() []probe.Metric {
	if len(c.Canary.Scene.Metrics) == 0 {
		return []probe.Metric{probe.TTFT, probe.TPOT}
	}
	return c.Canary.Scene.Metrics
}

// kinds lists the canary's kinds, failures first: what is down holds back what is slow. The list is not to be written to.
func (c *watch) kinds() []Kind { return c.all }

// watch takes the canary as a config has it.
func (c *watch) watch(w Watched) {
	c.Watched = w
	c.all = []Kind{KindTimeout, KindError, KindLimit, KindNoData}
	for _, m := range c.metrics() {
		c.all = append(c.all, Kind(m))
	}
}

func (c *watch) quorum(k Kind) Quorum { return quorum(c.Rule, k, c.Canary.Interval) }

// down reports whether the canary's timeouts or errors fire.
func (c *watch) down() bool {
	return c.alerts[KindTimeout].State.open() || c.alerts[KindError].State.open()
}

// doubled reports whether the sample was seen already, and remembers it.
func (c *watch) doubled(s *probe.Sample) bool {
	a := attempt(s.Time.UnixNano())<<2 | attempt(max(s.Attempt, 1)&3)
	if slices.Contains(c.seen, a) {
		return true
	}
	if len(c.seen) < seenMax {
		c.seen = append(c.seen, a)
		return false
	}
	c.seen[c.next] = a
	c.next = (c.next + 1) % seenMax
	return false
}

// settled reports whether nothing is open or pending.
func (c *watch) settled() bool {
	for _, k := range c.all {
		if s := c.alerts[k].State; s.open() || s == StatePending {
			return false
		}
	}
	return true
}

// settled reports whether nothing is open or pending on any of the target's canaries, and nothing open on the whole of it.
func (t *target) settled() bool {
	if t.incident != nil || t.muted {
		return false
	}
	for _, c := range t.canaries {
		if !c.calm {
			return false
		}
	}
	for _, k := range rateKinds() {
		if t.rates[k].State.open() {
			return false
		}
	}
	for _, p := range t.pools {
		if p.alert.Open() {
			return false
		}
	}
	return true
}

// idle lists the alerts that are not open, in the order of kinds, for the memo.
func (c *watch) idle() []Alert {
	list := make([]Alert, 0, len(c.kinds()))
	for _, k := range c.kinds() {
		if !c.alerts[k].State.open() {
			list = append(list, c.alerts[k])
		}
	}
	return list
}

// recall takes a stored memo; alerts of kinds that are gone are dropped, and with another spec what was learned.
func (c *watch) recall(m memo) {
	c.memo = m
	if c.memo.Armed == nil || c.respecced {
		c.memo.Armed = map[probe.Metric]bool{}
	}
	for _, a := range m.Idle {
		if _, ok := c.alerts[a.Kind]; ok && a.Kind != KindNoData && !(c.respecced && a.Kind.Metric() != "") {
			c.alerts[a.Kind] = a
		}
	}
	c.memo.Idle = nil
}

// mine reports whether a sample was made under the canary's present spec; imported ones carry none.
func (c *watch) mine(s *probe.Sample, opt baseline.Options) bool {
	return s.Spec == "" || c.Spec == "" || s.Spec == c.Spec || outlivesSpec(opt)
}

// outlivesSpec reports whether a history goes on when the spec of its values changes.
func outlivesSpec(opt baseline.Options) bool {
	return opt.OnChange == "keep" || opt.OnChange == onChangeRescale
}

// onChangeRescale keeps a history whose spec changed, and shifts it to the new level once that is known.
const onChangeRescale = "rescale"

// setBand makes b the newest of a metric. What Status has shown stays as it was.
func (c *watch) setBand(m probe.Metric, b baseline.Band) {
	if c.shown {
		c.bands, c.shown = maps.Clone(c.bands), false
	}
	c.bands[m] = b
}

// marks is what was said and stored of one series.
type marks struct {
	hour  int64          // of its newest value, as last looked at
	waits bool           // said already that the fixed limit waits for the band
	kept  bandMark       // of the newest band that was stored since the start
	saved baseline.Stamp // of the state that was committed
}

// mark returns what is noted of a metric.
func (c *watch) mark(m probe.Metric) *marks {
	if c.marks[m] == nil {
		c.marks[m] = &marks{}
	}
	return c.marks[m]
}

// missing reports whether a sample's latencies say nothing.
func missing(s *probe.Sample) bool { return s.First || s.Has(probe.ClientSuspect) }

// miss notes why a regular probe's latency is not in the band.
func (c *watch) miss(s *probe.Sample, m probe.Metric, why string) {
	if s.Regular() && s.Outcome != probe.Skipped {
		c.series[m].Miss(s.Time, why)
	}
}

// openAlerts lists a canary's open alerts in the order of kinds.
func (c *watch) openAlerts() []Alert {
	var list []Alert
	for _, k := range c.kinds() {
		if a := c.alerts[k]; a.Open() {
			list = append(list, a)
		}
	}
	return list
}
