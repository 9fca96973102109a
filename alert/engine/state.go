package engine

import (
	"encoding/json"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
)

// Keys of the blobs. What they hold is what no sample tells.
const (
	blobCanary = "canary/" // + canary: canaryState
	blobSeries = "series/" // + canary/metric: seriesState
	blobTarget = "target/" // + target/metric: roundsState
	blobRounds = "rounds/" // of a former version
)

// SeriesKey is the key of the blob that holds a series' baseline.State.
func SeriesKey(canary string, m probe.Metric) string { return blobSeries + canary + "/" + string(m) }

func roundsKey(target string, m probe.Metric) string { return blobTarget + target + "/" + string(m) }

// canaryState is what is stored of a canary.
type canaryState struct {
	Spec    string                `json:"spec,omitempty"` // of its series
	Asks    []ask                 `json:"asks,omitempty"`
	Tokens  float64               `json:"tokens"`      // of the budget of re-probes …
	At      time.Time             `json:"at,omitzero"` // … then; the regular probes since have earned more
	Armed   map[probe.Metric]bool `json:"armed,omitempty"`
	Ended   []spell               `json:"told,omitempty"` // alerts that ended lately
	Accepts []accepted            `json:"accepts,omitempty"`
}

// seriesState is what is stored of a canary's metric.
type seriesState struct {
	baseline.State
	Kalman *level.KalmanState `json:"track,omitempty"` // of the step test: where the level was before the votes
}

// roundsState is what is stored of a target's rounds of a metric.
type roundsState struct {
	Group  baseline.GroupState `json:"group"`
	Kalman *level.KalmanState  `json:"track,omitempty"`
	Ended  []spell             `json:"told,omitempty"`
}

// roundsMark changes whenever the state of rounds is to be stored again: with each slot, and with what no slot tells.
type roundsMark struct {
	slot, renewed int64
	held          bool
	ended         int
}

func (e *Engine) save(key string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		e.log.Error("state cannot be encoded", "key", key, "error", err)
		return
	}
	e.change.Blobs = append(e.change.Blobs, alert.Blob{Key: key, Body: body})
}

func (e *Engine) forget(key string) { e.change.Blobs = append(e.change.Blobs, alert.Blob{Key: key}) }

// save adds what is to be stored of a canary to the change.
func (c *canary) save(e *Engine) {
	if e.canaries[c.key] != c {
		return // it left the config
	}
	if c.unsaved {
		c.unsaved = false
		st := c.state
		st.Spec, st.At, st.Ended = c.Spec, e.now, nil
		for _, s := range c.series {
			st.Ended = append(st.Ended, s.ended...)
		}
		e.save(blobCanary+c.key, st)
	}
	for _, h := range c.metrics {
		if now := h.Stamp(); h.saved != now {
			h.saved = now
			e.save(SeriesKey(c.key, h.metric), seriesState{h.State(), c.of(alert.Kind(h.metric)).alert.KalmanState})
		}
	}
}

// save adds what is to be stored of a target's rounds to the change.
func (r *rounds) save(e *Engine) {
	if r.target.round(r.metric) != r {
		return
	}
	st := r.group.State()
	mark := roundsMark{e.now.UnixNano() / int64(e.opt.Baseline.Slot), st.Renewed, st.Hold.On, len(r.series.ended)}
	if mark != r.saved {
		r.saved = mark
		e.save(roundsKey(r.target.name, r.metric), roundsState{st, r.series.alert.KalmanState, r.series.ended})
	}
}

// stored is the blobs that a start found, by key.
type stored map[string]json.RawMessage

func newStored(blobs []alert.Blob) stored {
	st := stored{}
	for _, b := range blobs {
		st[b.Key] = b.Body
	}
	return st
}

// recall reads a blob and takes it out; one that cannot be read is as good as none, and said.
func (e *Engine) recall(st stored, key string, into any) bool {
	body, ok := st[key]
	if !ok {
		return false
	}
	delete(st, key)
	if err := json.Unmarshal(body, into); err != nil {
		e.log.Error("stored state cannot be read; it starts anew", "key", key, "error", err)
		return false
	}
	return true
}

// left lists the keys of the engine's blobs that nothing has recalled: of canaries that are not watched any more.
func (st stored) left() (keys []string) {
	for key := range st {
		for _, prefix := range []string{blobCanary, blobSeries, blobTarget, blobRounds} {
			if strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// recall takes what is stored of a canary, before its history is read.
func (c *canary) recall(e *Engine, st stored) (states map[probe.Metric]*seriesState) {
	known := e.recall(st, blobCanary+c.key, &c.state)
	c.respecced = known && c.state.Spec != c.Spec && e.opt.Baseline.OnChange != onChangeKeep
	c.unsaved = !known || c.respecced
	if c.respecced {
		c.state.Armed = nil
	}
	states = map[probe.Metric]*seriesState{}
	for _, h := range c.metrics {
		var s seriesState
		if e.recall(st, SeriesKey(c.key, h.metric), &s) && (!c.respecced || e.opt.Baseline.OnChange == onChangeRescale) {
			states[h.metric] = &s
		}
	}
	return states
}

// settle gives every series of a canary its state, once its history is there.
func (c *canary) settle(states map[probe.Metric]*seriesState) {
	for _, s := range c.series {
		s.alert = s.blank()
		if st := states[s.kind.Metric()]; st != nil {
			s.alert.KalmanState = st.Kalman
		}
		for _, x := range c.state.Ended {
			if x.Kind == s.kind {
				s.ended = append(s.ended, x)
			}
		}
	}
	c.state.Ended = nil
}

// recall takes what is stored of a target's rounds.
func (r *rounds) recall(e *Engine, st stored) {
	var s roundsState
	if e.recall(st, roundsKey(r.target.name, r.metric), &s) {
		r.group = baseline.NewGroup(r.target.interval(), r.series.lead.Rule.Threshold, s.Group)
		r.series.ended = s.Ended
		r.series.alert = r.series.blank()
		r.series.alert.KalmanState = s.Kalman
	}
	r.recallConfirmations()
}
