package daemon

import (
	"context"
	"fmt"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline/store"
)

// selfPrefix begins the id of what serin tells of itself; no incident of an endpoint has it.
const selfPrefix = "self-"

// closeWithin is how far back a start looks for what an earlier life told of itself and did not end.
const closeWithin = 30 * 24 * time.Hour

// closeSelfAlerts ends what an earlier life of this daemon told of itself: what still holds is told anew. It returns the
// notices that the outbox must know, openings too, after they are in the journal.
func (d *Daemon) closeSelfAlerts(ctx context.Context) ([]alert.Notice, error) {
	now := time.Now()
	list, err := d.store.Notices(ctx, store.NoticeQuery{Since: now.Add(-closeWithin)})
	if err != nil {
		return nil, fmt.Errorf("read what serin told of itself: %w", err)
	}
	ends := selfEnds(list, now)
	if len(ends) == 0 {
		return nil, nil
	}
	var owed []alert.Notice
	for _, n := range ends {
		if n.Act == alert.ActResolve {
			owed = append(owed, n)
		}
	}
	_ = d.store.Commit(ctx, alert.Change{Told: alert.Told{Notices: owed}}) // a store that is broken says so; the outbox has them
	return ends, nil
}

// selfEnds returns, for every opening of serin's own that was not ended, the opening and a notice that ends it.
func selfEnds(list []alert.Notice, now time.Time) []alert.Notice {
	type at struct{ incident, channel string }
	ended, last := map[at]bool{}, map[at]int{}
	for _, n := range list {
		key := at{n.Incident, n.Channel}
		ended[key] = ended[key] || n.Act == alert.ActResolve
		last[key] = max(last[key], n.Revision)
	}
	var ends []alert.Notice
	for _, n := range list {
		key := at{n.Incident, n.Channel}
		if !strings.HasPrefix(n.Incident, selfPrefix) || n.Act != alert.ActOpen || ended[key] || n.State == alert.NoticeDropped {
			continue
		}
		m := alert.Message{Severity: n.Message.Severity, State: "resolved", Incident: n.Incident, Footer: n.Message.Footer,
			Headline: "serin was restarted; if this still holds it is told again: " + n.Message.Headline}
		ends = append(ends, n, alert.Notice{Incident: n.Incident, Channel: n.Channel, Revision: last[key] + 1, Act: alert.ActResolve,
			Message: m, State: alert.NoticePending, Created: now})
	}
	return ends
}
