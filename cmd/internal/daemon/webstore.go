package daemon

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/baseline/store"
	"serin/cmd/internal/explain"
	"serin/cmd/internal/web"
	"serin/configs"
	"serin/probe"
)

// webStore answers the API's questions from the store.
type webStore struct{ d *Daemon }

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

// History yields changes of state, newest first.
func (w webStore) History(ctx context.Context, q web.Query, incident string) iter.Seq2[alert.Transition, error] {
	if incident == "" {
		list, err := w.d.store.Transitions(ctx, store.TransitionQuery{Since: q.Since, Until: q.Until})
		return backwards(list, err)
	}
	doc, err := Dossier(ctx, w.d.store, incident)
	if errors.Is(err, web.ErrNotFound) {
		err = nil
	}
	list := slices.DeleteFunc(doc.Transitions, func(x alert.Transition) bool { return x.At.Before(q.Since) || !x.At.Before(q.Until) })
	return backwards(list, err)
}

// Incident returns all that is known about one incident.
func (w webStore) Incident(ctx context.Context, id string) (web.Dossier, error) {
	doc, err := Dossier(ctx, w.d.store, id)
	if err != nil {
		return doc, err
	}
	decisions := []*explain.Decision{}
	e := explain.Explainer{Store: w.d.store, Canaries: configs.Keys(w.d.config().Runs)}
	for i := range doc.Alerts {
		x, err := e.Alert(ctx, &doc.Alerts[i])
		if err != nil {
			return doc, err
		}
		decisions = append(decisions, x)
	}
	doc.Decisions = decisions
	return doc, nil
}

// Dossier reads what the store has about one incident; web.ErrNotFound where it has none of that id.
func Dossier(ctx context.Context, st *store.Store, id string) (doc web.Dossier, err error) {
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
	if doc.Transitions, err = courseOf(ctx, st, &doc); err != nil {
		return doc, err
	}
	if doc.Notices, err = st.Notices(ctx, store.NoticeQuery{Incident: id}); err != nil {
		return doc, err
	}
	doc.Marks, err = marksOf(ctx, st, doc)
	return doc, err
}

// marksOf returns the marks of an incident's targets, from an hour before it began until it ended.
func marksOf(ctx context.Context, st *store.Store, doc web.Dossier) ([]alert.Mark, error) {
	q := store.MarkQuery{Since: doc.Incident.Opened, Until: doc.Incident.Closed}
	targets := []string{doc.Incident.Scope}
	for _, a := range doc.Alerts {
		target, _, _ := strings.Cut(a.Series, "/")
		targets = append(targets, target)
		if !a.FirstBreach.IsZero() && a.FirstBreach.Before(q.Since) {
			q.Since = a.FirstBreach
		}
	}
	q.Since = q.Since.Add(-alert.MarkBefore)
	list, err := st.Marks(ctx, q)
	return slices.DeleteFunc(list, func(m alert.Mark) bool { return !slices.ContainsFunc(targets, m.Concerns) }), err
}

// courseOf returns the history of an incident's alerts by time, from the vote that began each of them on: rows of that time
// know no incident yet.
func courseOf(ctx context.Context, st *store.Store, doc *web.Dossier) ([]alert.Transition, error) {
	rows, err := st.Transitions(ctx, store.TransitionQuery{Incident: doc.Incident.ID})
	if err != nil {
		return nil, err
	}
	for _, a := range doc.Alerts {
		q := store.TransitionQuery{Series: a.Series, Since: a.FirstBreach}
		if q.Since.IsZero() {
			q.Since = a.Fired
		}
		if q.Since.IsZero() { // an imported row: what is said to be of its incident must do
			continue
		}
		if !a.Resolved.IsZero() {
			q.Until = a.Resolved.Add(time.Nanosecond)
		}
		more, err := st.Transitions(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, x := range more {
			if x.Kind == a.Kind && !slices.ContainsFunc(rows, func(y alert.Transition) bool { return sameRow(x, y) }) {
				rows = append(rows, x)
			}
		}
	}
	slices.SortStableFunc(rows, func(x, y alert.Transition) int { return x.At.Compare(y.At) })
	return rows, nil
}

func sameRow(x, y alert.Transition) bool {
	return x.At.Equal(y.At) && x.Series == y.Series && x.Kind == y.Kind && x.From == y.From && x.To == y.To && x.Event == y.Event && x.Reason == y.Reason
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
