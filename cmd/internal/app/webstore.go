package app

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"serin/alert"
	"serin/baseline"
	"serin/baseline/store"
	"serin/cmd/internal/web"
	"serin/probe"
)

// webStore answers the API's questions from the store.
type webStore struct{ d *daemon }

var (
	_ web.Measurements = webStore{}
	_ web.Alerts       = webStore{}
)

// Samples yields samples, canary by canary.
func (w webStore) Samples(ctx context.Context, q web.Query) iter.Seq2[probe.Sample, error] {
	return w.d.store.Samples(ctx, store.Query{Since: q.Since, Until: q.Until, Pattern: q.Canary})
}

// Bands yields bands newest first.
func (w webStore) Bands(ctx context.Context, q web.Query) iter.Seq2[baseline.Band, error] {
	list, err := w.d.store.Bands(ctx, store.BandQuery{Since: q.Since, Until: q.Until})
	return backwards(list, err)
}

// Alerts yields the alerts that were open in the asked time, newest first.
func (w webStore) Alerts(ctx context.Context, q web.Query) iter.Seq2[alert.Alert, error] {
	list, err := w.d.store.Alerts(ctx, store.AlertQuery{Until: q.Until})
	list = slices.DeleteFunc(list, func(a alert.Alert) bool { return !a.Resolved.IsZero() && a.Resolved.Before(q.Since) })
	return backwards(list, err)
}

// Incidents yields the incidents that were open in the asked time, newest first.
func (w webStore) Incidents(ctx context.Context, q web.Query) iter.Seq2[alert.Incident, error] {
	list, err := w.d.store.Incidents(ctx, store.IncidentQuery{Until: q.Until})
	list = slices.DeleteFunc(list, func(i alert.Incident) bool { return !i.Closed.IsZero() && i.Closed.Before(q.Since) })
	return backwards(list, err)
}

// Incident returns all that is known about one incident.
func (w webStore) Incident(ctx context.Context, id string) (web.Dossier, error) {
	doc, err := dossierOf(ctx, w.d.store, id)
	if err != nil {
		return doc, err
	}
	decisions := []*Explanation{}
	for i := range doc.Alerts {
		x, err := casebook{w.d.store, w.d.config()}.alert(ctx, &doc.Alerts[i])
		if err != nil { // its samples are gone, or its canary left the config: what was decided is still there
			w.d.log.Debug("explain alert", "alert", doc.Alerts[i].ID, "error", err)
			continue
		}
		decisions = append(decisions, x)
	}
	doc.Decisions = decisions
	return doc, nil
}

// dossierOf reads what the store has about one incident; web.ErrNotFound where it has none of that id.
func dossierOf(ctx context.Context, st *store.Store, id string) (doc web.Dossier, err error) {
	found, err := st.Incidents(ctx, store.IncidentQuery{ID: id})
	if err != nil {
		return doc, err
	}
	if len(found) == 0 {
		return doc, fmt.Errorf("incident %q: %w", id, web.ErrNotFound)
	}
	doc.Incident = found[0]
	if doc.Alerts, err = st.Alerts(ctx, store.AlertQuery{Incident: id}); err != nil {
		return doc, err
	}
	if doc.Transitions, err = st.Transitions(ctx, store.TransitionQuery{Incident: id}); err != nil {
		return doc, err
	}
	doc.Notices, err = st.Notices(ctx, store.NoticeQuery{Incident: id})
	return doc, err
}

// backwards yields list from its end, or err.
func backwards[T any](list []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err != nil {
			yield(none, err)
			return
		}
		for _, x := range slices.Backward(list) {
			if !yield(x, nil) {
				return
			}
		}
	}
}
