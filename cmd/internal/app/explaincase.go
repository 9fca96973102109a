package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/replay"
	"serin/baseline"
	"serin/baseline/store"
	"serin/configs"
	"serin/probe"
)

// Explanation says how one series stood at one instant, as it was decided, with the same by the literal rule and by
// today's config beside it. All values are seconds.
type Explanation struct {
	Series  string       `json:"series"`
	Metric  probe.Metric `json:"metric"`
	At      time.Time    `json:"at"`
	Alert   *alert.Alert `json:"alert,omitempty"` // that was open then, or opened
	Before  alert.State  `json:"state_before"`    // "" = nothing is stored of it
	After   alert.State  `json:"state_after"`
	Changes []change     `json:"changes"`         // of state, in the hours around
	Marks   []alert.Mark `json:"marks,omitempty"` // of its target, in the hours around

	Band     *baseline.Band `json:"band,omitempty"` // as it was stored then
	Windows  []window       `json:"windows"`
	Used     []pooledSample `json:"samples_used"`
	Left     []pooledSample `json:"samples_left_out"`
	Votes    []ballot       `json:"votes"`              // newest last
	Step     *step          `json:"step,omitempty"`     // where that decides
	Together bool           `json:"together,omitempty"` // all canaries of a target; what is above of bands is of none of them

	Literal plain  `json:"literal"` // by mean ± 2 sd of exactly that slot
	Today   *today `json:"today"`

	bands []baseline.Band // of the slots that the votes fell in
}

type change struct {
	At     time.Time   `json:"at"`
	From   alert.State `json:"from"`
	To     alert.State `json:"to"`
	Event  alert.Event `json:"event,omitempty"`
	Reason string      `json:"reason"`
}

type window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

type pooledSample struct {
	At    time.Time `json:"at"`
	Value float64   `json:"value,omitempty"`
	Why   string    `json:"why,omitempty"` // left out
}

// ballot is one observation as it voted. Stored is false where it was worked out from the stored band again.
type ballot struct {
	At      time.Time     `json:"at"`
	Trigger probe.Trigger `json:"trigger"`
	Value   float64       `json:"value,omitempty"`
	Mean    float64       `json:"mean,omitempty"`
	Limit   float64       `json:"limit,omitempty"`
	Ratio   float64       `json:"ratio,omitempty"`
	Z       float64       `json:"z,omitempty"`
	Call    baseline.Call `json:"call"`
	Why     string        `json:"why,omitempty"`
	Stored  bool          `json:"stored"`
	Literal baseline.Call `json:"literal"`
	Shares  []told        `json:"shares,omitempty"` // what each canary said, where a step up decides
}

// plain is the literal rule's word on the newest value.
type plain struct {
	State string        `json:"state"`
	N     int           `json:"n"`
	Mean  float64       `json:"mean,omitempty"`
	SD    float64       `json:"sd,omitempty"`
	Limit float64       `json:"limit,omitempty"`
	Z     float64       `json:"z,omitempty"`
	Call  baseline.Call `json:"call,omitempty"`
}

// today is what the config of now makes of the same samples.
type today struct {
	Threshold string        `json:"threshold"`
	Mean      float64       `json:"mean,omitempty"`
	Limit     float64       `json:"limit,omitempty"`
	Call      baseline.Call `json:"call,omitempty"` // of the newest value
	Opened    []time.Time   `json:"opened"`         // its alerts of this kind in the hours around
	Differs   bool          `json:"differs"`
	Words     string        `json:"words"`
}

// casebook explains from a store, by the config of now.
type casebook struct {
	st  *store.Store
	cfg *configs.Config // nil = the default rule, in UTC
}

// How far around an instant decisions are looked at.
const (
	lookBack  = 6 * time.Hour
	lookAhead = time.Hour
	poolBack  = 16 * 24 * time.Hour // what a series is made of
	maxVotes  = 16
)

// subject returns the canary of a key as the config, or its stored samples, describe it.
func (b casebook) subject(ctx context.Context, key string, at time.Time) (subject, *replay.Tape, error) {
	tape, err := storeTape(ctx, b.st, store.Query{Since: at.Add(-poolBack), Until: at.Add(7 * 24 * time.Hour), Pattern: key})
	if err != nil {
		return subject{}, nil, err
	}
	found, unknown := subjects(tape.Canaries(replay.Cut{}), b.cfg, 0, nil)
	switch {
	case len(found) > 0:
		return found[0], tape, nil
	case len(unknown) > 0:
		return subject{}, nil, fmt.Errorf("%s is not in the config", key)
	}
	return subject{}, nil, fmt.Errorf("the store has no samples of %s around %s", key, at.UTC().Format(time.RFC3339))
}

// one explains a series at an instant; a is the alert it is about, nil = whichever was open.
func (b casebook) one(ctx context.Context, key string, m probe.Metric, at time.Time, a *alert.Alert) (*Explanation, error) {
	sub, tape, err := b.subject(ctx, key, at)
	if err != nil {
		return nil, err
	}
	x := blank(key, m, at, a)
	records, err := collect(b.st.History(ctx, key, at.Add(-poolBack)), at)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(b.states(ctx, x), b.storedBand(ctx, x)); err != nil {
		return nil, err
	}
	state, err := pastState(ctx, b.st, key, m, at)
	if err != nil {
		return nil, err
	}
	series := seriesOf(sub, m, records, sub.Rule.Threshold, baselineOptions(b.cfg), state, at)
	x.pool(series.Pool(at))
	if x.Alert != nil {
		x.Step = stepOf(x.Alert.Fit, x.Alert.Decided, true)
	}
	x.vote(sub, m, records, at)
	x.plain(sub, m, records, state, baselineOptions(b.cfg), at)
	x.Today, err = b.today(ctx, x, sub, tape, series)
	return x, err
}

// collect returns the records up to a time.
func collect(list iter.Seq2[alert.Record, error], until time.Time) ([]alert.Record, error) {
	var out []alert.Record
	for r, err := range list {
		if err != nil {
			return nil, fmt.Errorf("read samples: %w", err)
		}
		if r.Sample.Time.After(until) {
			break
		}
		if r.Sample.Trigger != probe.Check {
			out = append(out, r)
		}
	}
	return out, nil
}

// seriesOf builds a series as it stood at a time.
func seriesOf(sub subject, m probe.Metric, records []alert.Record, th baseline.Threshold, opt baseline.Options, st *baseline.State, at time.Time) *baseline.Series {
	s := baseline.NewSeries(baseline.Key{Canary: sub.Canary.Key(), Metric: m, Spec: sub.Spec, Zone: sub.Canary.Scene.Zone, Interval: sub.Canary.Interval}, opt, th)
	var points []baseline.Point
	var missed []baseline.LeftOut
	for i := range records {
		r := &records[i]
		if !r.Sample.Regular() || r.Sample.Outcome == probe.Skipped {
			continue
		}
		v, why := baseline.Value(&r.Sample, m)
		if why == "" && sub.Spec != "" && r.Sample.Spec != "" && r.Sample.Spec != sub.Spec && opt.OnChange != "keep" {
			why = "spec"
		}
		if why == "" && r.Sample.Has(probe.InMaintenance) {
			why = string(probe.InMaintenance)
		}
		if why != "" {
			missed = append(missed, baseline.LeftOut{At: r.Sample.Time, Why: why})
			continue
		}
		points = append(points, baseline.Point{At: r.Sample.Time, Y: baseline.Y(v), Regular: true, Excluded: r.Excluded[m], Res: r.Residuals[m]})
	}
	s.Load(points, st, at)
	for _, x := range missed {
		s.Miss(x.At, x.Why)
	}
	return s
}

// states fills in the state before and after, and the alert.
func (b casebook) states(ctx context.Context, x *Explanation) error {
	kind := alert.Kind(x.Metric)
	list, err := b.st.Transitions(ctx, store.TransitionQuery{Series: x.Series, Until: x.At.Add(lookAhead)})
	if err != nil {
		return err
	}
	for _, t := range list {
		if t.Kind != kind {
			continue
		}
		if t.At.Before(x.At) {
			x.Before = t.To
		}
		if !t.At.After(x.At) {
			x.After = t.To
		}
		if t.At.After(x.At.Add(-lookBack)) {
			x.Changes = append(x.Changes, change{t.At.UTC(), t.From, t.To, t.Event, t.Reason})
		}
	}
	if err := b.marks(ctx, x); err != nil || x.Alert != nil {
		return err
	}
	alerts, err := b.st.Alerts(ctx, store.AlertQuery{Series: x.Series})
	for i := range alerts {
		a := &alerts[i]
		if a.Kind == kind && !a.Fired.After(x.At) && (a.Resolved.IsZero() || a.Resolved.After(x.At)) {
			x.Alert = a
		}
	}
	return err
}

// marks fills in the events on the time line around it.
func (b casebook) marks(ctx context.Context, x *Explanation) (err error) {
	target, _, _ := strings.Cut(x.Series, "/")
	x.Marks, err = b.st.Marks(ctx, store.MarkQuery{Target: target, Since: x.At.Add(-lookBack), Until: x.At.Add(lookAhead)})
	return err
}

// storedBand takes the band that was in force: the newest whose slot had begun.
func (b casebook) storedBand(ctx context.Context, x *Explanation) error {
	list, err := b.st.Bands(ctx, store.BandQuery{Canary: x.Series, Metric: x.Metric, Since: x.At.Add(-24 * time.Hour), Until: x.At.Add(1)})
	for i := range list {
		if band := &list[i]; x.Alert == nil || x.Alert.Threshold == "" || band.Threshold == x.Alert.Threshold || x.Band == nil {
			x.Band = band
		}
	}
	x.bands = list
	return err
}

func (x *Explanation) pool(p baseline.Pool) {
	for _, w := range p.Windows {
		x.Windows = append(x.Windows, window{w.From, w.To})
	}
	for _, u := range p.Used {
		x.Used = append(x.Used, pooledSample{At: u.At, Value: math.Exp(u.Y)})
	}
	for _, l := range p.Left {
		s := pooledSample{At: l.At, Why: l.Why}
		if l.Why == "excluded" {
			s.Value = math.Exp(l.Y)
		}
		x.Left = append(x.Left, s)
	}
}
