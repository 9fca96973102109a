package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"serin/probe"
)

// ledger is a journal, a history and a mailbox in memory.
type ledger struct {
	records     map[string]map[int64]Record
	alerts      map[string]string // JSON, as a store keeps them
	incidents   map[string]string
	notices     []Notice
	transitions []Transition
	blobs       map[string]string
	exclusions  []Exclusion
	mailed      []Notice
	silences    map[string]string
	marks       []Mark
	fail        error // what Commit returns
	commits     int
}

var (
	_ Journal = (*ledger)(nil)
	_ History = (*ledger)(nil)
	_ Mailbox = (*ledger)(nil)
)

func newLedger() *ledger {
	return &ledger{records: map[string]map[int64]Record{}, alerts: map[string]string{}, incidents: map[string]string{},
		blobs: map[string]string{}, silences: map[string]string{}}
}

func (l *ledger) Commit(_ context.Context, c Change) error {
	l.commits++
	for _, r := range c.Records {
		key := r.Sample.Key()
		if l.records[key] == nil {
			l.records[key] = map[int64]Record{}
		}
		l.records[key][r.Sample.Time.UnixNano()] = r
	}
	for _, x := range c.Exclusions {
		l.exclude(x)
	}
	for _, a := range c.Alerts {
		l.alerts[a.ID] = encode(a)
	}
	for _, i := range c.Incidents {
		l.incidents[i.ID] = encode(i)
	}
	for _, b := range c.Blobs {
		if b.Body == nil {
			delete(l.blobs, b.Key)
		} else {
			l.blobs[b.Key] = string(b.Body)
		}
	}
	for _, s := range c.Silences {
		l.silences[s.ID] = encode(s)
	}
	l.marks = append(l.marks, c.Marks...)
	l.notices = append(l.notices, c.Notices...)
	l.transitions = append(l.transitions, c.Transitions...)
	l.exclusions = append(l.exclusions, c.Exclusions...)
	return l.fail
}

func (l *ledger) exclude(x Exclusion) {
	for at, r := range l.records[x.Canary] {
		if at < x.From || at > x.To {
			continue
		}
		out := maps.Clone(r.Excluded)
		if out == nil {
			out = map[probe.Metric]bool{}
		}
		out[x.Metric] = x.Excluded
		r.Excluded = out
		l.records[x.Canary][at] = r
	}
}

func (l *ledger) Add(n ...Notice) { l.mailed = append(l.mailed, n...) }

func (l *ledger) History(_ context.Context, canary string, since time.Time) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, at := range slices.Sorted(maps.Keys(l.records[canary])) {
			if at >= since.UnixNano() && !yield(l.records[canary][at], nil) {
				return
			}
		}
	}
}

func (l *ledger) snapshot() Snapshot {
	var s Snapshot
	open := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(l.incidents)) {
		if inc := decode[Incident](l.incidents[id]); inc.State != IncidentClosed {
			s.Incidents = append(s.Incidents, inc)
			open[inc.ID] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.alerts)) {
		switch a := decode[Alert](l.alerts[id]); {
		case a.Resolved.IsZero():
			s.Alerts = append(s.Alerts, a)
		case open[a.Incident]:
			s.Settled = append(s.Settled, a)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.silences)) {
		s.Silences = append(s.Silences, decode[Silence](l.silences[id]))
	}
	s.Marks = slices.Clone(l.marks)
	for k, b := range l.blobs {
		s.Blobs = append(s.Blobs, Blob{Key: k, Body: json.RawMessage(b)})
	}
	return s
}

func (l *ledger) fired(k Kind) []Alert {
	var list []Alert
	for _, id := range slices.Sorted(maps.Keys(l.alerts)) {
		if a := decode[Alert](l.alerts[id]); a.Kind == k {
			list = append(list, a)
		}
	}
	return list
}

// acts lists what was owed to one channel: "open resolve …".
func (l *ledger) acts() string {
	var list []string
	for _, n := range l.notices {
		list = append(list, string(n.Act))
	}
	return strings.Join(list, " ")
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

var errDisk = errors.New("disk is full")
