package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	lib "modernc.org/sqlite/lib"

	"serin/alert"
	"serin/probe"
)

const (
	importChunk = 500                   // samples a transaction: some 10 ms, which a daemon's commit waits at most
	importPause = 4 * time.Millisecond  // between transactions, so that another process gets its turn
	importWait  = 30 * time.Second      // for another process' transaction
	busyPause   = 20 * time.Millisecond // before a transaction that found the file busy is tried again
)

// Import stores samples in small transactions, beside a running daemon too, which sees them by ImportRevision. A sample
// whose (canary, time, attempt) is stored already counts as a duplicate and changes nothing. An error, of the sequence or
// of the store, ends the import; what was added before stays, and the import may be repeated.
func (s *Store) Import(ctx context.Context, samples iter.Seq2[probe.Sample, error]) (added, duplicates int, err error) {
	if s.write == nil {
		return 0, 0, ErrReadOnly
	}
	known, chunk, n := newIDs(), make([]*sampleRow, 0, importChunk), 0
	flush := func() error {
		a, err := s.importRows(ctx, known, chunk)
		if err == nil {
			added, duplicates = added+a, duplicates+len(chunk)-a
		}
		chunk = chunk[:0]
		return err
	}
	for sample, err := range samples {
		n++
		if err == nil {
			err = importable(&sample)
		}
		if err != nil {
			return added, duplicates, errors.Join(fmt.Errorf("import sample %d: %w", n, err), flush())
		}
		chunk = append(chunk, encodeRecord(alert.Record{Sample: sample}, s.log, s.opt.zoned))
		if len(chunk) < importChunk {
			continue
		}
		if err := flush(); err != nil {
			return added, duplicates, fmt.Errorf("import up to sample %d: %w", n, err)
		}
		if err := pause(ctx, importPause); err != nil {
			return added, duplicates, err
		}
	}
	return added, duplicates, flush()
}

// importable names the first thing that a sample lacks.
func importable(s *probe.Sample) error {
	for _, f := range []struct {
		name  string
		there bool
	}{{"time", !s.Time.IsZero() && s.Time.Year() >= 1970 && s.Time.Year() < 2262}, {"target", s.Target != ""}, {"scene", s.Scene != ""},
		{"size", s.Size != ""}, {"outcome", s.Outcome != ""}} {
		if !f.there {
			return fmt.Errorf("%q is missing or out of range", f.name)
		}
	}
	return nil
}

// importRows writes one chunk. Where another process holds the file it waits, in slices that ctx can end.
func (s *Store) importRows(ctx context.Context, known *ids, rows []*sampleRow) (added int, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, importWait)
	defer cancel()
	for {
		added, err = s.importOnce(known, rows)
		if c := code(err); err == nil || c != lib.SQLITE_BUSY && c != lib.SQLITE_LOCKED {
			return added, explain(s.path, err)
		}
		if pause(ctx, busyPause) != nil {
			return 0, explain(s.path, err)
		}
	}
}

// importOnce runs to its end once begun: a chunk is short.
func (s *Store) importOnce(known *ids, rows []*sampleRow) (added int, err error) {
	err = inTx(context.Background(), s.write, known, func(t *txn) error {
		added = 0
		for _, r := range rows {
			isNew, err := r.insert(t)
			if err != nil {
				return err
			}
			if isNew {
				added++
			}
		}
		if added == 0 {
			return nil
		}
		_, err := t.exec(`UPDATE meta SET value = value + 1 WHERE key = 'import_revision'`)
		return err
	})
	return added, err
}

// ImportRevision grows whenever an import, of whatever process, has added samples; it costs one row read.
func (s *Store) ImportRevision(ctx context.Context) (int64, error) {
	var n int64
	err := s.read.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'import_revision'`).Scan(&n)
	return n, explain(s.path, err)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
