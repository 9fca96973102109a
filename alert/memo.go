package alert

import (
	"encoding/json"
	"hash/maphash"
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
	blobRounds = "rounds/" // + target/metric: roundsMemo
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
		body, err := m.body()
		e.saveBody(x, blobCanary+c.key, body, err)
		for _, metric := range c.metrics() {
			s := c.series[metric]
			if now := s.Stamp(); c.mark(metric).saved != now {
				c.mark(metric).saved = now
				e.save(x, seriesKey(c, metric), s.State())
			}
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
	e.saveBody(x, key, body, err)
}

func (e *Engine) saveBody(x *tx, key string, body []byte, err error) {
	if err != nil {
		e.log.Error("state cannot be encoded", "key", key, "error", err)
		return
	}
	sum := maphash.Bytes(e.seed, body)
	if old, known := e.sums[key]; known && old == sum {
		return
	}
	e.sums[key] = sum
	x.Blobs = append(x.Blobs, Blob{Key: key, Body: body})
}

// forget deletes a blob that is stored.
func (e *Engine) forget(x *tx, key string) {
	if _, ok := e.sums[key]; ok {
		delete(e.sums, key)
		x.Blobs = append(x.Blobs, Blob{Key: key})
	}
}

// found takes the bodies that a start found. They are let go of once all is recalled; of what is committed since, only sums
// are kept.
func (e *Engine) found(blobs []Blob) {
	for _, b := range blobs {
		e.stored[b.Key] = b.Body
		e.sums[b.Key] = maphash.Bytes(e.seed, b.Body)
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
	e.stored = nil
	for key := range e.sums {
		canary, ok := strings.CutPrefix(key, blobCanary)
		if rest, is := strings.CutPrefix(key, blobSeries); is {
			canary, ok = rest[:max(strings.LastIndexByte(rest, '/'), 0)], true
		}
		for _, prefix := range []string{blobTarget, blobRounds} {
			rest, is := strings.CutPrefix(key, prefix)
			name, m, _ := strings.Cut(rest, "/")
			if t := e.targets[name]; is && (t == nil || t.pools[probe.Metric(m)] == nil) {
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
	for t, whole := range x.pools {
		for m, p := range t.pools {
			body, err := roundsMemo{p.round, p.again}.body()
			e.saveBody(x, blobRounds+poolKey(t, m), body, err)
			if whole {
				body, err = p.memo().body()
				e.saveBody(x, blobTarget+poolKey(t, m), body, err)
			}
		}
	}
	slices.SortFunc(x.Blobs, func(a, b Blob) int { return strings.Compare(a.Key, b.Key) })
}

func poolKey(t *target, m probe.Metric) string { return t.name + "/" + string(m) }

func (p *pool) memo() poolMemo {
	m := poolMemo{Group: p.group.State()}
	if !p.alert.Open() {
		a := p.alert
		m.Alert = &a
	}
	return m
}

// recallPools takes what is stored of a target's pools. The first round of all is under way before there is anything else.
func (e *Engine) recallPools(t *target) {
	for m, p := range t.pools {
		var memo poolMemo
		known := e.recallBlob(blobTarget+poolKey(t, m), &memo)
		var rounds roundsMemo
		if e.recallBlob(blobRounds+poolKey(t, m), &rounds) {
			memo.roundsMemo, known = rounds, true
		}
		if !known {
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
	if err := json.Unmarshal(body, into); err != nil {
		e.log.Error("stored state cannot be read; it starts anew", "key", key, "error", err)
		return false
	}
	return true
}
