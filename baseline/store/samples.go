package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	lib "modernc.org/sqlite/lib"

	"serin/alert"
	"serin/probe"
)

// The common measures of a sample have columns; the rest of it, which many samples share, is one JSON body a trait.
// A field added to probe.Sample goes into the trait by itself; give it a column when it differs from sample to sample.
const (
	spanColumns  = "ttft, ttfa, ttfe, ttft_warm, tpot, e2e, stream_total, trailer, max_gap, sched_lag, dns, connect, tls, sent, ttfb, lag, rtt, load"
	countColumns = "input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens"
	textColumns  = "reason, request_id, trace_id"
	restColumns  = "time, attempt, trait, " + spanColumns + ", " + countColumns + ", cost_usd, chunks, " + textColumns + ", excluded, residuals"
	allColumns   = "canary, " + restColumns
	judgeSample  = "UPDATE sample SET excluded = ?, residuals = ? WHERE canary = ? AND time = ? AND attempt = ?"
	insertSample = "INSERT INTO sample(" + allColumns + ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING"
)

func spans(s *probe.Sample) []*probe.Span {
	return []*probe.Span{&s.TTFT, &s.TTFA, &s.TTFE, &s.TTFTWarm, &s.TPOT, &s.E2E, &s.StreamTotal, &s.Trailer, &s.MaxGap,
		&s.SchedLag, &s.DNS, &s.Connect, &s.TLS, &s.Sent, &s.TTFB, &s.Lag, &s.RTT, &s.Load}
}

func counts(s *probe.Sample) []*probe.Count {
	return []*probe.Count{&s.InputTokens, &s.CachedInputTokens, &s.CacheWriteTokens, &s.OutputTokens, &s.ReasoningTokens}
}

func texts(s *probe.Sample) []*string { return []*string{&s.Reason, &s.RequestID, &s.TraceID} }

// sampleRow is a sample ready to be written; its canary and trait get their numbers inside the transaction.
type sampleRow struct {
	canary canary
	trait  string
	time   int64
	args   []any // from attempt's successor on, in the order of the columns
	seq    int
	delta  dailyDelta
}

const (
	nanosPerDay = 24 * 60 * 60 * 1_000_000_000
	sampleBytes = 1800 // of a row in memory, measured roughly: 40 boxed values and the shared strings
)

// apply upserts: the sample is immutable, but it may be judged later than it was stored.
func (r *sampleRow) apply(t *txn) error {
	isNew, err := r.insert(t)
	if isNew || err != nil {
		return err
	}
	return r.judge(t)
}

func (r *sampleRow) key() string { return "" }
func (r *sampleRow) size() int   { return sampleBytes }

// insert writes the row where it is new, with what it adds to its day, and reports whether it was.
func (r *sampleRow) insert(t *txn) (bool, error) {
	id, err := t.ids.canary(t, r.canary)
	if err != nil {
		return false, err
	}
	trait, err := t.ids.trait(t, r.trait, r.time/nanosPerDay)
	if err != nil {
		return false, err
	}
	args := append([]any{id, r.time, r.seq, trait}, r.args...)
	res, err := t.exec(insertSample, args...)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	if n == 0 || err != nil {
		return false, err
	}
	return true, r.delta.add(t, id)
}

// judge writes what judging left of a row that is stored already.
func (r *sampleRow) judge(t *txn) error {
	id, err := t.ids.canary(t, r.canary)
	if err != nil {
		return err
	}
	_, err = t.exec(judgeSample, append(append([]any{}, r.args[len(r.args)-2:]...), id, r.time, r.seq)...)
	return err
}

func encodeRecord(r alert.Record, log *slog.Logger, zone func(scene string) *time.Location) *sampleRow {
	s := r.Sample
	row := &sampleRow{canary: canary{s.Target, s.Scene, string(s.Size)}, time: nanos(s.Time), seq: max(1, s.Attempt), delta: dailyDeltaOf(&s, zone(s.Scene))}
	for _, p := range spans(&s) {
		row.args = append(row.args, nullable(int64(p.D), p.Known))
		*p = probe.Span{}
	}
	for _, p := range counts(&s) {
		row.args = append(row.args, nullable(p.V, p.Known))
		*p = probe.Count{}
	}
	row.args = append(row.args, nullable(s.CostUSD.V, s.CostUSD.Known && isFinite(s.CostUSD.V)), nullable(s.Chunks, s.Chunks != 0))
	for _, p := range texts(&s) {
		row.args = append(row.args, nullable(*p, *p != ""))
		*p = ""
	}
	mask := maskOf(r.Excluded, log)
	row.args = append(row.args, nullable(mask, mask != 0), packResiduals(r.Residuals))
	s.CostUSD, s.Chunks = probe.Money{}, 0
	s.Time, s.Target, s.Scene, s.Size = probe.Sample{}.Time, "", "", ""
	row.trait = encode(log, s)
	return row
}

func nullable[T any](v T, known bool) any {
	if !known {
		return nil
	}
	return v
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// exclusion flips one bit of the samples of a span of time.
type exclusion struct {
	canary   canary
	mask     int64
	from, to int64
	excluded bool
}

func (e exclusion) key() string { return "" }
func (e exclusion) size() int   { return 160 }

func exclude(x alert.Exclusion, log *slog.Logger) op {
	if metricBit(x.Metric) == 0 {
		log.Error("exclusion of an unknown metric is not stored", "canary", x.Canary, "metric", x.Metric)
	}
	e := exclusion{mask: metricBit(x.Metric), from: x.From, to: x.To, excluded: x.Excluded}
	e.canary, _ = splitKey(x.Canary) // a key that names nothing matches no row
	return e
}

func (e exclusion) apply(t *txn) error {
	id, err := t.find(`SELECT id FROM canary WHERE target = ? AND scene = ? AND size = ?`, e.canary.target, e.canary.scene, e.canary.size)
	if err != nil || id == 0 {
		return err
	}
	set := `coalesce(excluded, 0) | ?`
	if !e.excluded {
		set = `nullif(coalesce(excluded, 0) & ~?, 0)`
	}
	_, err = t.exec(`UPDATE sample SET excluded = `+set+` WHERE canary = ? AND time BETWEEN ? AND ?`, e.mask, id, e.from, e.to)
	return err
}

// splitKey takes target/scene/size apart; ok is false when it is not of that form.
func splitKey(key string) (c canary, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 {
		return canary{}, false
	}
	return canary{parts[0], parts[1], parts[2]}, true
}

// traits decodes trait bodies, each once.
type traits struct {
	s     *Store
	known map[int64]probe.Sample
}

// get returns what the trait holds; ok is false when it is gone, and with it any reason to read its samples: a trait is
// pruned only when all of its samples are beyond the retention.
func (t *traits) get(ctx context.Context, id int64) (sample probe.Sample, ok bool, err error) {
	if have, ok := t.known[id]; ok {
		return have, have.Outcome != "", nil
	}
	var body string
	err = t.s.read.QueryRowContext(ctx, `SELECT body FROM trait WHERE id = ?`, id).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return sample, false, nil
	}
	if code(err) == lib.SQLITE_CORRUPT {
		t.s.log.Error("store is damaged: samples of one kind are left out; keep a copy, and restore a backup", "path", t.s.path, "trait", id)
		t.known[id] = sample
		return sample, false, nil
	}
	if err != nil {
		return sample, false, err
	}
	if err := json.Unmarshal([]byte(body), &sample); err != nil {
		return sample, false, fmt.Errorf("what samples share (%d): %w", id, err)
	}
	if len(t.known) >= maxIDs {
		t.known = map[int64]probe.Sample{}
	}
	t.known[id] = sample
	return sample, true, nil
}
