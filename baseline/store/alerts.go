package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// AlertQuery selects alerts. Zero fields select all; Since is included, Until is not, both of the state's beginning.
type AlertQuery struct {
	ID, Series, Incident string
	Open                 bool // only those not resolved
	Since, Until         time.Time
	Limit                int // newest first when set; 0 = all
}

// Alerts returns the alerts that q selects, oldest first.
func (s *Store) Alerts(ctx context.Context, q AlertQuery) ([]alert.Alert, error) {
	w := where{}
	w.text("id", q.ID).text("series", q.Series).text("incident", q.Incident).times("since", q.Since, q.Until)
	w.when(q.Open, "resolved IS NULL")
	return bodies[alert.Alert](ctx, s, w.newest("alert", "since, id", q.Limit), w.args)
}

// IncidentQuery selects incidents. Zero fields select all; Since is included, Until is not, both of the opening.
type IncidentQuery struct {
	ID, Scope    string
	Open         bool // only those not closed
	Since, Until time.Time
	Limit        int // the newest so many; 0 = all
}

// Incidents returns the incidents that q selects, oldest first.
func (s *Store) Incidents(ctx context.Context, q IncidentQuery) ([]alert.Incident, error) {
	w := where{}
	w.text("id", q.ID).text("scope", q.Scope).times("opened", q.Since, q.Until)
	w.when(q.Open, "state <> 'closed'")
	return bodies[alert.Incident](ctx, s, w.newest("incident", "opened, id", q.Limit), w.args)
}

// NoticeQuery selects notices. Zero fields select all; Since is included, Until is not, both of the creation.
type NoticeQuery struct {
	Incident, Channel string
	States            []alert.NoticeState // any of them
	Since, Until      time.Time
	Limit             int // the newest so many; 0 = all
}

// Notices returns the notices that q selects, oldest first.
func (s *Store) Notices(ctx context.Context, q NoticeQuery) ([]alert.Notice, error) {
	w := where{}
	w.text("incident", q.Incident).text("channel", q.Channel).times("created", q.Since, q.Until)
	if len(q.States) > 0 {
		w.and("state IN (?" + strings.Repeat(",?", len(q.States)-1) + ")")
		for _, state := range q.States {
			w.args = append(w.args, string(state))
		}
	}
	return bodies[alert.Notice](ctx, s, w.newest("notice", "created, incident, revision, channel", q.Limit), w.args)
}

// TransitionQuery selects rows of history. Zero fields select all; Since is included, Until is not.
type TransitionQuery struct {
	Series, Alert, Incident string
	Since, Until            time.Time
	Limit                   int // the newest so many; 0 = all
}

// Transitions returns the changes of state that q selects, oldest first.
func (s *Store) Transitions(ctx context.Context, q TransitionQuery) ([]alert.Transition, error) {
	w := where{}
	w.text("series", q.Series).text("alert", q.Alert).times("at", q.Since, q.Until)
	if q.Incident != "" {
		w.and(`alert IN (SELECT id FROM alert WHERE incident = ?)`, q.Incident)
	}
	return bodies[alert.Transition](ctx, s, w.newest("transition", "at, id", q.Limit), w.args)
}

// BandQuery selects bands. Zero fields select all; Since is included, Until is not, both of the slot's beginning.
type BandQuery struct {
	Canary       string
	Metric       probe.Metric
	Since, Until time.Time
	Limit        int // the newest so many; 0 = all
}

// Bands returns the bands that q selects, by slot. A slot has several when its threshold or spec was changed within it.
func (s *Store) Bands(ctx context.Context, q BandQuery) ([]baseline.Band, error) {
	w := where{}
	w.text("canary", q.Canary).text("metric", string(q.Metric)).times("slot", q.Since, q.Until)
	return bodies[baseline.Band](ctx, s, w.newest("band", "slot, canary, metric", q.Limit), w.args)
}

// Restore returns what a start must find again.
func (s *Store) Restore(ctx context.Context) (snap alert.Snapshot, err error) {
	const live = `(SELECT id FROM incident WHERE state <> 'closed' OR closed > (SELECT max(touched) FROM incident) - 86400000000000)`
	if snap.Alerts, err = s.Alerts(ctx, AlertQuery{Open: true}); err != nil {
		return alert.Snapshot{}, err
	}
	snap.Settled, err = bodies[alert.Alert](ctx, s, `SELECT body FROM alert WHERE resolved IS NOT NULL AND incident IN `+live+` ORDER BY since, id`, nil)
	if err != nil {
		return alert.Snapshot{}, err
	}
	if snap.Incidents, err = bodies[alert.Incident](ctx, s, `SELECT body FROM incident WHERE id IN `+live+` ORDER BY opened, id`, nil); err != nil {
		return alert.Snapshot{}, err
	}
	if snap.Notices, err = bodies[alert.Notice](ctx, s, pendingNotices, nil); err != nil {
		return alert.Snapshot{}, err
	}
	if snap.Blobs, err = s.Blobs(ctx, ""); err != nil {
		return alert.Snapshot{}, err
	}
	return snap, s.restoreSilences(ctx, &snap)
}

// pendingNotices selects what is not delivered, and the openings that a later delivery may refer to: those of incidents that
// are open, closed less than a day before the last change (they may fire again), or have a pending notice.
const pendingNotices = `
WITH live(id) AS (SELECT id FROM incident WHERE state <> 'closed' OR closed > (SELECT max(touched) FROM incident) - 86400000000000
	UNION SELECT incident FROM notice WHERE state NOT IN ('sent', 'dropped'))
SELECT body FROM notice WHERE state NOT IN ('sent', 'dropped') OR act = 'open' AND incident IN (SELECT id FROM live)
ORDER BY created, incident, revision, channel`

// Blobs returns the blobs whose keys begin with prefix ("" = all), by key.
func (s *Store) Blobs(ctx context.Context, prefix string) ([]alert.Blob, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT key, body FROM blob WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key`, prefix)
	if err != nil {
		return nil, explain(s.path, err)
	}
	defer rows.Close()
	var list []alert.Blob
	for rows.Next() {
		var key, body string
		if err := rows.Scan(&key, &body); err != nil {
			return nil, explain(s.path, err)
		}
		list = append(list, alert.Blob{Key: key, Body: json.RawMessage(body)})
	}
	return list, explain(s.path, rows.Err())
}

// Blob returns the state kept under a key, nil where there is none.
func (s *Store) Blob(ctx context.Context, key string) (json.RawMessage, error) {
	var body string
	err := s.read.QueryRowContext(ctx, `SELECT body FROM blob WHERE key = ?`, key).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return json.RawMessage(body), explain(s.path, err)
}

// bodies decodes the one JSON column of a query.
func bodies[T any](ctx context.Context, s *Store, query string, args []any) ([]T, error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(s.path, err)
	}
	defer rows.Close()
	var list []T
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return nil, explain(s.path, err)
		}
		var v T
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			return nil, fmt.Errorf("store %q: row of %T cannot be read: %w", s.path, v, err)
		}
		list = append(list, v)
	}
	return list, explain(s.path, rows.Err())
}

// where gathers conditions; column names come from this package alone, values are always arguments.
type where struct {
	terms []string
	args  []any
}

func (w *where) and(term string, args ...any) *where {
	w.terms, w.args = append(w.terms, term), append(w.args, args...)
	return w
}

func (w *where) when(cond bool, term string) {
	if cond {
		w.and(term)
	}
}

func (w *where) text(column, value string) *where {
	if value == "" {
		return w
	}
	return w.and(column+" = ?", value)
}

func (w *where) times(column string, since, until time.Time) *where {
	if !since.IsZero() {
		w.and(column+" >= ?", nanos(since))
	}
	if !until.IsZero() {
		w.and(column+" < ?", nanos(until))
	}
	return w
}

// newest returns the query for the newest limit rows (0 = all) in ascending order.
func (w *where) newest(table, order string, limit int) string {
	filter := ""
	if len(w.terms) > 0 {
		filter = " WHERE " + strings.Join(w.terms, " AND ")
	}
	if limit <= 0 {
		return "SELECT body FROM " + table + filter + " ORDER BY " + order
	}
	down := strings.ReplaceAll(order, ",", " DESC,") + " DESC"
	return fmt.Sprintf("SELECT body FROM (SELECT * FROM %s%s ORDER BY %s LIMIT %d) ORDER BY %s", table, filter, down, limit, order)
}
