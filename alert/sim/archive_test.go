package sim

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"serin/alert"
	"serin/probe"
)

// archive is a store in memory: what a restart finds is what was committed.
type archive struct {
	mu        sync.Mutex
	alerts    map[string]alert.Alert
	incidents map[string]alert.Incident
	notices   map[string]alert.Notice
	blobs     map[string]alert.Blob
	records   map[string][]alert.Record
}

func newArchive() *archive {
	return &archive{alerts: map[string]alert.Alert{}, incidents: map[string]alert.Incident{}, notices: map[string]alert.Notice{},
		blobs: map[string]alert.Blob{}, records: map[string][]alert.Record{}}
}

func (a *archive) Commit(_ context.Context, c alert.Change) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range c.Records {
		a.records[r.Sample.Key()] = append(a.records[r.Sample.Key()], r)
	}
	for _, x := range c.Exclusions {
		for i, r := range a.records[x.Canary] {
			if at := r.Sample.Time.UnixNano(); at >= x.From && at <= x.To {
				a.records[x.Canary][i].Excluded = map[probe.Metric]bool{x.Metric: x.Excluded}
			}
		}
	}
	for _, x := range c.Alerts {
		a.alerts[x.ID] = x
	}
	for _, x := range c.Incidents {
		a.incidents[x.ID] = x
	}
	for _, n := range c.Notices {
		a.notices[fmt.Sprint(n.Incident, n.Channel, n.Revision)] = n
	}
	for _, b := range slices.Concat(c.Blobs, c.State) {
		if a.blobs[b.Key] = b; b.Body == nil {
			delete(a.blobs, b.Key)
		}
	}
	return nil
}

func (a *archive) History(_ context.Context, canary string, since time.Time) iter.Seq2[alert.Record, error] {
	return func(yield func(alert.Record, error) bool) {
		for _, r := range a.records[canary] {
			if !r.Sample.Time.Before(since) && !yield(r, nil) {
				return
			}
		}
	}
}

func (a *archive) snapshot() (s alert.Snapshot) {
	a.mu.Lock()
	defer a.mu.Unlock()
	open := map[string]bool{}
	for id, inc := range a.incidents {
		if inc.State != alert.IncidentClosed {
			open[id] = true
			s.Incidents = append(s.Incidents, inc)
		}
	}
	for _, x := range a.alerts {
		switch {
		case x.Resolved.IsZero():
			s.Alerts = append(s.Alerts, x)
		default:
			s.Settled = append(s.Settled, x)
		}
	}
	for _, n := range a.notices {
		if n.State == alert.NoticePending || n.State == alert.NoticeBlocked || n.Act == alert.ActOpen && open[n.Incident] {
			s.Notices = append(s.Notices, n)
		}
	}
	for _, b := range a.blobs {
		s.Blobs = append(s.Blobs, b)
	}
	return s
}
