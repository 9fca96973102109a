package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
)

// op is one row of a change, encoded and ready to be written.
type op interface {
	apply(t *txn) error
	key() string // what a later op with the same key makes needless; "" = nothing
	size() int   // bytes in memory, roughly
}

// txn is one transaction with its prepared statements and what is known of interned rows.
type txn struct {
	ctx   context.Context
	tx    *sql.Tx
	ids   *ids
	stmts map[string]*sql.Stmt
}

// exec runs query, preparing it once a transaction.
func (t *txn) exec(query string, args ...any) (sql.Result, error) {
	stmt := t.stmts[query]
	if stmt == nil {
		var err error
		if stmt, err = t.tx.PrepareContext(t.ctx, query); err != nil {
			return nil, err
		}
		t.stmts[query] = stmt
	}
	return stmt.ExecContext(t.ctx, args...)
}

// inTx runs f in one transaction of the writing connection; after an error nothing of it is left, also not in known.
func inTx(ctx context.Context, db *sql.DB, known *ids, f func(t *txn) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	t := &txn{ctx: ctx, tx: tx, ids: known, stmts: map[string]*sql.Stmt{}}
	if err := f(t); err != nil {
		known.forget()
		_ = tx.Rollback() // the first error is the one to tell
		return err
	}
	if err := tx.Commit(); err != nil {
		known.forget()
		return err // the driver has rolled back
	}
	return nil
}

// put is an upsert of one row whose arguments are final.
type put struct {
	query string
	args  []any
	id    string // "" = a row of its own each time
	bytes int
}

func (p *put) apply(t *txn) error { _, err := t.exec(p.query, p.args...); return err }
func (p *put) key() string        { return p.id }
func (p *put) size() int          { return p.bytes + 64*len(p.args) }

// ops encodes a change in the order in which it is applied: records before the exclusions that may flip them.
func (w *writer) ops(c alert.Change) []op {
	var list []op
	for _, r := range c.Records {
		list = append(list, encodeRecord(r, w.log, w.zone))
	}
	for _, e := range c.Exclusions {
		list = append(list, exclude(e, w.log))
	}
	for _, b := range c.Bands {
		list = append(list, bandPut(w.log, b))
	}
	for _, a := range c.Alerts {
		list = append(list, alertPut(w.log, a))
	}
	for _, i := range c.Incidents {
		list = append(list, incidentPut(w.log, i))
	}
	for _, n := range c.Notices {
		list = append(list, noticePut(w.log, n))
	}
	for _, x := range slices.Concat(c.Transitions, c.History) {
		list = append(list, transitionPut(w.log, x))
	}
	for _, b := range slices.Concat(c.Blobs, c.State) {
		list = append(list, blobPut(b))
	}
	for _, x := range c.Silences {
		list = append(list, silencePut(w.log, x))
	}
	for _, m := range c.Marks {
		list = append(list, markPut(w.log, m))
	}
	return list
}

func bandPut(log *slog.Logger, b baseline.Band) *put {
	body := encode(log, b)
	return &put{`INSERT INTO band(canary, metric, slot, spec, threshold, body) VALUES (?,?,?,?,?,?) ON CONFLICT DO UPDATE SET body = excluded.body`,
		[]any{b.Canary, string(b.Metric), nanos(b.Slot), b.Spec, b.Threshold, body},
		fmt.Sprint("band ", b.Canary, " ", b.Metric, " ", nanos(b.Slot), " ", b.Spec, " ", b.Threshold), len(body)}
}

func alertPut(log *slog.Logger, a alert.Alert) *put {
	body := encode(log, a)
	touched := latest(a.Since, a.FirstBreach, a.Fired, a.Resolved, a.Last.At)
	for _, v := range a.Votes {
		touched = latest(touched, v.At)
	}
	return &put{`INSERT INTO alert(id, series, kind, state, incident, since, resolved, touched, body) VALUES (?,?,?,?,'',?,?,?,?)
		ON CONFLICT DO UPDATE SET state = excluded.state, since = excluded.since, resolved = excluded.resolved, touched = excluded.touched, body = excluded.body`,
		[]any{a.ID, a.Series, string(a.Kind), string(a.State), nanos(a.Since), maybeNanos(a.Resolved), nanos(touched), body},
		"alert " + a.ID, len(body)}
}

// incidentOp writes an incident and notes at each of its alerts that it is one of its members.
type incidentOp struct {
	put
	incident, members string
}

func (o *incidentOp) apply(t *txn) error {
	if err := o.put.apply(t); err != nil {
		return err
	}
	if _, err := t.exec(`UPDATE alert SET incident = ?1 WHERE incident <> ?1 AND id IN (SELECT value FROM json_each(?2))`, o.incident, o.members); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE alert SET incident = '' WHERE incident = ?1 AND id NOT IN (SELECT value FROM json_each(?2))`, o.incident, o.members)
	return err
}

func incidentPut(log *slog.Logger, i alert.Incident) *incidentOp {
	body := encode(log, i)
	members := encode(log, i.Alerts())
	return &incidentOp{put{`INSERT OR REPLACE INTO incident(id, scope, state, opened, closed, touched, body) VALUES (?,?,?,?,?,?,?)`,
		[]any{i.ID, i.Scope, i.State, nanos(i.Opened), maybeNanos(i.Closed), nanos(latest(i.Opened, i.Closed, i.Announce, i.Reminded)), body},
		"incident " + i.ID, len(body) + len(members)}, i.ID, members}
}

func noticePut(log *slog.Logger, n alert.Notice) *put {
	body := encode(log, n)
	return &put{`INSERT OR REPLACE INTO notice(incident, channel, revision, act, state, created, touched, body) VALUES (?,?,?,?,?,?,?,?)`,
		[]any{n.Incident, n.Channel, n.Revision, string(n.Act), string(n.State), nanos(n.Created), nanos(latest(n.Created, n.Sent)), body},
		fmt.Sprint("notice ", n.Incident, " ", n.Channel, " ", n.Revision), len(body)}
}

// transitionPut numbers a row by its content: written again, after a commit whose answer was lost, it is still one row.
func transitionPut(log *slog.Logger, x alert.Transition) *put {
	body := encode(log, x)
	id := fnv.New64a()
	id.Write([]byte(body)) // a hash never fails
	return &put{`INSERT OR IGNORE INTO transition(at, id, series, alert, incident, body) VALUES (?,?,?,?,'',?)`,
		[]any{nanos(x.At), int64(id.Sum64()), x.Series, x.Alert, body}, "", len(body)}
}

func blobPut(b alert.Blob) *put {
	if b.Body == nil {
		return &put{`DELETE FROM blob WHERE key = ?`, []any{b.Key}, "blob " + b.Key, 0}
	}
	return &put{`INSERT OR REPLACE INTO blob(key, body) VALUES (?,?)`, []any{b.Key, string(b.Body)}, "blob " + b.Key, len(b.Body)}
}

// encode returns v as JSON. JSON knows no NaN and no infinity: they become 0, aloud, because a row that cannot be
// encoded would hold up every row behind it.
func encode[T any](log *slog.Logger, v T) string {
	b, err := json.Marshal(v)
	if err == nil {
		return string(b)
	}
	log.Error("row holds what JSON cannot; its odd numbers are stored as 0", "type", fmt.Sprintf("%T", v), "error", err)
	if b, err = json.Marshal(finite(v)); err != nil {
		log.Error("row cannot be encoded", "type", fmt.Sprintf("%T", v), "error", err)
		return "{}"
	}
	return string(b)
}

// nanos returns t as unix nanoseconds; the zero time, and what lies beyond the years 1678 to 2262, becomes the nearest end.
func nanos(t time.Time) int64 {
	first, last := time.Unix(0, -1<<63), time.Unix(0, 1<<63-1)
	switch {
	case t.Before(first):
		return first.UnixNano()
	case t.After(last):
		return last.UnixNano()
	}
	return t.UnixNano()
}

func maybeNanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return nanos(t)
}

func latest(list ...time.Time) time.Time {
	var last time.Time
	for _, t := range list {
		if t.After(last) {
			last = t
		}
	}
	return last
}
