package alert

import (
	"encoding/json"
	"slices"
	"strings"

	"serin/baseline"
	"serin/probe"
)

// Keys of the blobs.
const (
	blobCanary = "canary/" // + canary: memo
	blobSeries = "series/" // + canary/metric: baseline.State
	blobTarget = "target/" // + target/metric: poolMemo
	blobIDs    = "incident_ids"
)

// SeriesKey is the key of the blob that holds a series' baseline.State.
func SeriesKey(canary string, m probe.Metric) string { return blobSeries + canary + "/" + string(m) }

func seriesKey(c *watch, m probe.Metric) string { return SeriesKey(c.key, m) }

// saveMemos adds the blobs that changed to the change.
func (e *Engine) saveMemos(x *tx) {
	if e.opt.Forgetful {
		return
	}
	for c := range x.touched {
		if e.watches[c.key] != c {
			continue
		}
		m := c.memo
		m.Spec, m.Idle = c.Spec, c.idle()
		e.save(x, blobCanary+c.key, m)
		for _, metric := range c.metrics() {
			e.save(x, seriesKey(c, metric), c.series[metric].State())
		}
	}
	if x.ids {
		e.save(x, blobIDs, e.used)
	}
	slices.SortFunc(x.Blobs, func(a, b Blob) int { return strings.Compare(a.Key, b.Key) })
}

// save adds a blob when its body is not what was committed last.
func (e *Engine) save(x *tx, key string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		e.log.Error("state cannot be encoded", "key", key, "error", err)
		return
	}
	if e.stored[key] == string(body) {
		return
	}
	e.stored[key] = string(body)
	x.Blobs = append(x.Blobs, Blob{Key: key, Body: body})
}

// forget deletes a blob that is stored.
func (e *Engine) forget(x *tx, key string) {
	if _, ok := e.stored[key]; ok {
		delete(e.stored, key)
		x.Blobs = append(x.Blobs, Blob{Key: key})
	}
}

// memoOf reads a stored memo; one that cannot be read is as good as none, and said.
func (e *Engine) memoOf(c *watch) (memo, bool) {
	var m memo
	ok := e.recallBlob(blobCanary+c.key, &m)
	return m, ok
}

// stateOf reads a stored series state, nil when there is none or it is of another spec.
func (e *Engine) stateOf(c *watch, m probe.Metric) *baseline.State {
	var st baseline.State
	if c.respecced && e.opt.Baseline.OnChange != onChangeRescale || !e.recallBlob(seriesKey(c, m), &st) {
		return nil
	}
	return &st
}

// tidy deletes the state of canaries that are not watched any more.
func (e *Engine) tidy() {
	for key := range e.stored {
		canary, ok := strings.CutPrefix(key, blobCanary)
		if rest, is := strings.CutPrefix(key, blobSeries); is {
			canary, ok = rest[:max(strings.LastIndexByte(rest, '/'), 0)], true
		}
		if rest, is := strings.CutPrefix(key, blobTarget); is {
			name, m, _ := strings.Cut(rest, "/")
			if t := e.targets[name]; t == nil || t.pools[probe.Metric(m)] == nil {
				e.forget(e.tx, key)
			}
		}
		if ok && e.watches[canary] == nil {
			e.forget(e.tx, key)
		}
	}
}

// savePools adds what a restart must find again of the pools that changed.
func (e *Engine) savePools(x *tx) {
	if e.opt.Forgetful {
		return
	}
	for t := range x.pools {
		for m, p := range t.pools {
			e.save(x, poolKey(t, m), p.memo())
		}
	}
	slices.SortFunc(x.Blobs, func(a, b Blob) int { return strings.Compare(a.Key, b.Key) })
}

func poolKey(t *target, m probe.Metric) string { return blobTarget + t.name + "/" + string(m) }

func (p *pool) memo() poolMemo {
	m := poolMemo{Group: p.group.State(), Round: p.round, Again: p.again}
	if !p.alert.Open() {
		a := p.alert
		m.Alert = &a
	}
	return m
}

// recallPools takes what is stored of a target's pools.
func (e *Engine) recallPools(t *target) {
	for m, p := range t.pools {
		var memo poolMemo
		if !e.recallBlob(poolKey(t, m), &memo) {
			continue
		}
		p.group = baseline.NewGroup(t.interval(), t.lead(m).Rule.Threshold, memo.Group)
		p.round, p.again = memo.Round, memo.Again
		if memo.Alert != nil {
			p.alert = *memo.Alert
		}
	}
}

func (e *Engine) recallBlob(key string, into any) bool {
	body, ok := e.stored[key]
	if !ok {
		return false
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		e.log.Error("stored state cannot be read; it starts anew", "key", key, "error", err)
		return false
	}
	return true
}
