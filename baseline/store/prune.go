package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const (
	pruneChunk  = 500 // rows a transaction
	vacuumChunk = 200 // pages a step
	// sparePages stay free for the next rows, so that the file does not shrink and grow by the minute.
	sparePages = 64
	// BytesPerSample is what a stored sample takes on disk, its share of its bands not counted; TestBytesPerSample
	// measures it.
	BytesPerSample = 225
	// BytesPerBand is what a stored band takes on disk; TestBytesPerSample measures it too.
	BytesPerBand = 620
)

// Prune deletes what is older than the retention: samples and bands, alerts resolved and incidents closed that long ago,
// their notices, silences that ended, marks, and history; daily sums after DailyRetention. Then it gives free pages back to the file system. It works in small transactions, between
// which commits go on, and may be called as often as one likes; once an hour is plenty. It never deletes an open alert or
// incident or a pending notice.
//
// The retention counts from now or from the newest sample, whichever is earlier, so that a clock gone wrong does not
// empty the store at one blow.
func (s *Store) Prune(ctx context.Context, now time.Time) error {
	if s.write == nil {
		return ErrReadOnly
	}
	list, err := s.canaries(ctx)
	if err != nil {
		return fmt.Errorf("prune: %w", explain(s.path, err))
	}
	newest, err := s.newest(ctx, list)
	if err != nil {
		return fmt.Errorf("prune: %w", explain(s.path, err))
	}
	cut := nanos(now)
	if newest > 0 {
		cut = min(cut, newest)
	}
	p := pruner{s: s, ctx: ctx, before: cut - int64(s.opt.Retention)}
	for _, step := range []func() error{func() error { return p.samples(list) }, p.bands, p.settled, p.daily, p.shrink} {
		if err := step(); err != nil {
			return fmt.Errorf("prune: %w", explain(s.path, err))
		}
	}
	if p.deleted > 0 {
		s.log.Info("store pruned", "path", s.path, "rows", p.deleted, "before", time.Unix(0, p.before).UTC(), "bytes", s.Size())
	}
	return nil
}

// newest returns the time of the newest sample, 0 when there is none.
func (s *Store) newest(ctx context.Context, list []known) (newest int64, err error) {
	for _, c := range list {
		var at int64
		err := s.read.QueryRowContext(ctx, `SELECT time FROM sample WHERE canary = ? ORDER BY time DESC, attempt DESC LIMIT 1`, c.id).Scan(&at)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		newest = max(newest, at)
	}
	return newest, nil
}

// pruner deletes rows from before a time.
type pruner struct {
	s       *Store
	ctx     context.Context
	before  int64
	deleted int64
}

func (p *pruner) samples(list []known) error {
	for _, c := range list {
		if err := p.oldest("sample", "time", "canary = ?", c.id); err != nil {
			return err
		}
	}
	// No sample before the cut is left, so what was last used the day before it is used by none. The writer may still
	// remember its number: it renews a trait at its first use on a later day, as only samples of later days come.
	return p.all(`DELETE FROM trait WHERE id IN (SELECT id FROM trait WHERE day < ? LIMIT ?)`, p.before/nanosPerDay-1)
}

func (p *pruner) bands() error {
	rows, err := p.s.read.QueryContext(p.ctx, `SELECT DISTINCT canary, metric FROM band`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var series [][]any
	for rows.Next() {
		var canary, metric string
		if err := rows.Scan(&canary, &metric); err != nil {
			return err
		}
		series = append(series, []any{canary, metric})
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, key := range series {
		if err := p.oldest("band", "slot", "canary = ? AND metric = ?", key...); err != nil {
			return err
		}
	}
	return nil
}

// oldest deletes the oldest rows of one series, a piece at a time. The reading that finds where a piece ends is not part
// of the transaction.
func (p *pruner) oldest(table, column, series string, key ...any) error {
	find := fmt.Sprintf(`SELECT %s FROM %s WHERE %s AND %s < ? ORDER BY %s LIMIT 1 OFFSET ?`, column, table, series, column, column)
	remove := fmt.Sprintf(`DELETE FROM %s WHERE %s AND %s < ?`, table, series, column)
	for {
		end, last := p.before, false
		err := p.s.read.QueryRowContext(p.ctx, find, with(key, p.before, pruneChunk)...).Scan(&end)
		if last = errors.Is(err, sql.ErrNoRows); err != nil && !last {
			return err
		}
		if last {
			end = p.before
		}
		if _, err := p.exec(remove, with(key, end)...); err != nil || last {
			return err
		}
	}
}

func with(key []any, more ...any) []any { return append(append([]any(nil), key...), more...) }

// settled deletes what is over. Notices go before their incidents: the opening of an incident still open is needed for
// its edits. A notice that its channel has refused for that long helps nobody any more.
func (p *pruner) settled() error {
	for _, q := range []string{
		`DELETE FROM transition WHERE (at, id) IN (SELECT at, id FROM transition WHERE at < ? LIMIT ?)`,
		`DELETE FROM silence WHERE rowid IN (SELECT rowid FROM silence WHERE ends < ? LIMIT ?)`,
		`DELETE FROM mark WHERE rowid IN (SELECT rowid FROM mark WHERE at < ? LIMIT ?)`,
		`DELETE FROM notice WHERE rowid IN (SELECT rowid FROM notice WHERE touched < ? AND state <> 'pending'
			AND incident NOT IN (SELECT id FROM incident WHERE state <> 'closed') LIMIT ?)`,
		`DELETE FROM alert WHERE rowid IN (SELECT rowid FROM alert WHERE touched < ? AND (resolved IS NOT NULL OR state IN ('ok', 'learning'))
			AND incident NOT IN (SELECT id FROM incident WHERE state <> 'closed') LIMIT ?)`,
		`DELETE FROM incident WHERE rowid IN (SELECT rowid FROM incident WHERE touched < ? AND state = 'closed' LIMIT ?)`} {
		if err := p.all(q, p.before); err != nil {
			return err
		}
	}
	_, err := p.exec(`DELETE FROM blob WHERE key LIKE 'label/%' AND substr(key, 7) NOT IN (SELECT id FROM incident)`) // of incidents that are gone
	return err
}

// daily deletes daily sums, which outlive the samples.
func (p *pruner) daily() error {
	keep := max(DailyRetention, p.s.opt.Retention) - p.s.opt.Retention
	before := time.Unix(0, p.before-int64(keep)).UTC()
	return p.all(`DELETE FROM daily WHERE (day, canary) IN (SELECT day, canary FROM daily WHERE day < ? LIMIT ?)`, dayOf(before, nil))
}

// all repeats a delete that takes (before, limit) until it finds nothing more.
func (p *pruner) all(query string, before int64) error {
	for {
		n, err := p.exec(query, before, pruneChunk)
		if err != nil || n < pruneChunk {
			return err
		}
	}
}

// exec is one short transaction; commits that wait for the connection go between two.
func (p *pruner) exec(query string, args ...any) (int64, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, context.Cause(p.ctx)
	}
	res, err := p.s.write.ExecContext(context.Background(), query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	p.deleted += n
	return n, err
}

// shrink gives free pages back, and empties the write-ahead log when no reader is in its way.
func (p *pruner) shrink() error {
	for {
		free, err := p.pragma(`freelist_count`)
		if err != nil {
			return err
		}
		if free <= sparePages {
			break
		}
		if err := p.step(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, min(free-sparePages, vacuumChunk))); err != nil {
			return err
		}
	}
	return p.truncateLog()
}

func (p *pruner) pragma(name string) (n int64, err error) {
	return n, p.s.read.QueryRowContext(p.ctx, `PRAGMA `+name).Scan(&n)
}

// step runs a pragma that does its work row by row.
func (p *pruner) step(query string) error {
	if err := p.ctx.Err(); err != nil {
		return context.Cause(p.ctx)
	}
	rows, err := p.s.write.QueryContext(context.Background(), query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

// truncateLog waits for readers no longer than a blink, because it holds the write lock while it waits; the log's size is
// bounded by journal_size_limit all the same.
func (p *pruner) truncateLog() error {
	conn, err := p.s.write.Conn(p.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx := context.Background()
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 50`); err != nil {
		return err
	}
	var busy, log, moved int64
	err = conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &moved)
	_, reset := conn.ExecContext(ctx, `PRAGMA busy_timeout = `+busyTimeout)
	return errors.Join(err, reset)
}
