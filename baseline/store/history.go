package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sort"
	"time"

	lib "modernc.org/sqlite/lib"

	"serin/alert"
	"serin/probe"
	"serin/probe/glob"
)

// page is how many samples one query reads: short queries keep neither a connection nor the write-ahead log waiting for
// a slow consumer.
const page = 1024

// Query selects samples. Zero fields select all.
type Query struct {
	Since, Until time.Time // Since is included, Until is not
	Pattern      string    // over canary keys, see glob.MatchKey: "gw-*" and "gw-*/chat/short" both work
}

// History returns the records of one canary from since on, by time, oldest first, whatever their trigger. Records whose
// Residuals are empty have not been judged yet. A canary that the store does not know has none.
func (s *Store) History(ctx context.Context, canaryKey string, since time.Time) iter.Seq2[alert.Record, error] {
	return func(yield func(alert.Record, error) bool) {
		c, ok := splitKey(canaryKey)
		if !ok {
			return
		}
		var id int64
		err := s.read.QueryRowContext(ctx, `SELECT id FROM canary WHERE target = ? AND scene = ? AND size = ?`, c.target, c.scene, c.size).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return
		}
		if err != nil {
			yield(alert.Record{}, explain(s.path, err))
			return
		}
		s.walk(ctx, id, c, since, time.Time{}, &traits{s: s, known: map[int64]probe.Sample{}}, yield)
	}
}

// Samples returns the samples that q selects, canary by canary, each by time. It may be left at any point.
func (s *Store) Samples(ctx context.Context, q Query) iter.Seq2[probe.Sample, error] {
	return func(yield func(probe.Sample, error) bool) {
		if q.Pattern != "" && !glob.ValidKey(q.Pattern) {
			yield(probe.Sample{}, fmt.Errorf("pattern %q: write target/scene/size, with * for any", q.Pattern))
			return
		}
		list, err := s.canaries(ctx)
		if err != nil {
			yield(probe.Sample{}, explain(s.path, err))
			return
		}
		shared := &traits{s: s, known: map[int64]probe.Sample{}}
		for _, c := range list {
			if !q.matches(c.canary) {
				continue
			}
			if !s.walk(ctx, c.id, c.canary, q.Since, q.Until, shared, func(r alert.Record, err error) bool { return yield(r.Sample, err) }) {
				return
			}
		}
	}
}

// Matches reports whether q's pattern takes a canary key.
func (q Query) Matches(key string) bool { return q.Pattern == "" || glob.MatchKey(q.Pattern, key) }

func (q Query) matches(c canary) bool { return q.Matches(c.key()) }

// known is a canary with its number.
type known struct {
	canary
	id int64
}

// canaries returns all canaries ever stored, by key.
func (s *Store) canaries(ctx context.Context) ([]known, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, target, scene, size FROM canary`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []known
	for rows.Next() {
		var k known
		if err := rows.Scan(&k.id, &k.target, &k.scene, &k.size); err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i].canary, list[j].canary
		return a.key() < b.key()
	})
	return list, rows.Err()
}

// place is where a page of one canary's samples begins.
type place struct{ time, attempt int64 }

// walk yields one canary's records page by page; false means that the consumer has enough or that it got an error.
func (s *Store) walk(ctx context.Context, id int64, c canary, since, until time.Time, shared *traits, yield func(alert.Record, error) bool) bool {
	from, end := place{nanos(since), -1 << 63}, int64(1<<63-1)
	if !until.IsZero() {
		end = nanos(until)
	}
	for {
		records, err := s.page(ctx, id, c, from, end, shared)
		for _, r := range records {
			if r.Sample.Outcome != "" && !yield(r, nil) {
				return false
			}
		}
		if n := len(records); n > 0 {
			last := records[n-1].Sample
			from = place{last.Time.UnixNano(), int64(max(1, last.Attempt)) + 1}
		}
		switch ok := false; {
		case code(err) == lib.SQLITE_CORRUPT:
			if from, ok = s.skipDamage(ctx, id, c, from, end); !ok {
				return true
			}
		case err != nil:
			yield(alert.Record{}, explain(s.path, err))
			return false
		case len(records) < page:
			return true
		}
	}
}

// skipDamage finds a place behind pages that cannot be read, and says what is left out; false means that nothing follows. A day of
// history is worth less than a start, and what cannot be read is lost either way.
func (s *Store) skipDamage(ctx context.Context, id int64, c canary, from place, end int64) (next place, ok bool) {
	const key = "store is damaged: samples are left out; keep a copy, and restore a backup"
	for step := int64(time.Hour); step > 0 && from.time < end-step; step *= 2 {
		next = place{time: from.time + step}
		var at int64
		err := s.read.QueryRowContext(ctx, `SELECT time FROM sample WHERE canary = ? AND time >= ? AND time < ? ORDER BY time, attempt LIMIT 1`, id, next.time, end).Scan(&at)
		if err == nil {
			s.log.Error(key, "path", s.path, "canary", c.key(), "from", time.Unix(0, from.time).UTC(), "to", time.Unix(0, at).UTC())
			return next, true
		}
		if code(err) != lib.SQLITE_CORRUPT {
			break
		}
	}
	s.log.Error(key, "path", s.path, "canary", c.key(), "from", time.Unix(0, from.time).UTC())
	return next, false
}

// page reads up to `page` records; beside an error stand those before it. One whose trait is gone has no outcome.
func (s *Store) page(ctx context.Context, id int64, c canary, from place, end int64, shared *traits) ([]alert.Record, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+restColumns+` FROM sample
		WHERE canary = ? AND (time, attempt) >= (?, ?) AND time < ? ORDER BY time, attempt LIMIT ?`, id, from.time, from.attempt, end, page)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var scan sampleScan
	var records []alert.Record
	var numbers []int64 // of their traits, read once this query has given its connection back
	for rows.Next() {
		r, err := scan.record(rows)
		if err != nil {
			return nil, err
		}
		records, numbers = append(records, r), append(numbers, scan.trait)
	}
	cut := errors.Join(rows.Err(), rows.Close())
	for i := range records {
		rest, ok, err := shared.get(ctx, numbers[i])
		if err != nil {
			return nil, err
		}
		if ok {
			fill(&records[i].Sample, rest, c)
		}
	}
	return records, cut
}
