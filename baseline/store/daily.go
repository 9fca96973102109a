package store

import (
	"context"
	"time"

	"serin/probe"
)

// DailyRetention is how long daily sums are kept: more than a year, so that a month can be held against the same month a
// year before.
const DailyRetention = 400 * 24 * time.Hour

// Daily is what one canary used on one day of its scene's zone: the sum over its stored samples, also over those that are
// deleted by now. It is written in the transaction that writes the sample, once for each.
type Daily struct {
	Day                 string // 2026-03-01
	Target, Scene, Size string
	Probes              int64 // sent, whatever came of them
	Skipped             int64 // due and not sent
	InputTokens         int64 // cached ones included
	CachedInputTokens   int64
	CacheWriteTokens    int64
	OutputTokens        int64 // reasoning included
	ReasoningTokens     int64
	CostUSD             float64 // of the probes whose cost is known
	Unpriced            int64   // probes that may have cost something, nobody knows what
}

// Key returns the canary's key.
func (d *Daily) Key() string { return d.Target + "/" + d.Scene + "/" + d.Size }

// Daily returns the sums of the days from since to until, both included, by day and canary. Of the two times only the
// dates count, as they are in the times' own zone. A zero until is no bound.
func (s *Store) Daily(ctx context.Context, since, until time.Time) ([]Daily, error) {
	last := int64(1) << 40
	if !until.IsZero() {
		last = dayOf(until, nil)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT day, target, scene, size, probes, skipped, input_tokens, cached_input_tokens, cache_write_tokens,
		output_tokens, reasoning_tokens, cost_usd, unpriced FROM daily JOIN canary ON canary.id = daily.canary
		WHERE day BETWEEN ? AND ? ORDER BY day, target, scene, size`, dayOf(since, nil), last)
	if err != nil {
		return nil, explain(s.path, err)
	}
	defer rows.Close()
	var list []Daily
	for rows.Next() {
		var d Daily
		var day int64
		if err := rows.Scan(&day, &d.Target, &d.Scene, &d.Size, &d.Probes, &d.Skipped, &d.InputTokens, &d.CachedInputTokens, &d.CacheWriteTokens,
			&d.OutputTokens, &d.ReasoningTokens, &d.CostUSD, &d.Unpriced); err != nil {
			return nil, explain(s.path, err)
		}
		d.Day = time.Unix(day*secondsPerDay, 0).UTC().Format(time.DateOnly)
		list = append(list, d)
	}
	return list, explain(s.path, rows.Err())
}

const secondsPerDay = 24 * 60 * 60

// dayOf returns the number of t's calendar day in zone, counted from 1970-01-01; nil = t's own zone.
func dayOf(t time.Time, zone *time.Location) int64 {
	if zone != nil {
		t = t.In(zone)
	}
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
}

// zoned returns the zone function of o: UTC where nothing else is known.
func (o Options) zoned(scene string) *time.Location {
	if o.Zone != nil {
		if z := o.Zone(scene); z != nil {
			return z
		}
	}
	return time.UTC
}

// dailyDelta is what one sample adds to its day.
type dailyDelta struct {
	day  int64
	args []any // in the order of addDelta, from probes on
}

// Sums saturate: what an endpoint makes up of its usage must neither overflow a day nor cost the row that brings it.
const (
	maxTokens = 1 << 53 // also of a sum; the whole numbers that JSON holds exactly
	maxCost   = 1e12    // USD, also of a sum
)

const addDelta = `INSERT INTO daily VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11) ON CONFLICT DO UPDATE SET
	probes = probes + ?3, skipped = skipped + ?4, input_tokens = min(input_tokens + ?5, ?12), cached_input_tokens = min(cached_input_tokens + ?6, ?12),
	cache_write_tokens = min(cache_write_tokens + ?7, ?12), output_tokens = min(output_tokens + ?8, ?12), reasoning_tokens = min(reasoning_tokens + ?9, ?12),
	cost_usd = min(cost_usd + ?10, ?13), unpriced = unpriced + ?11`

func dailyDeltaOf(s *probe.Sample, zone *time.Location) dailyDelta {
	skipped := s.Outcome == probe.Skipped
	cost, known := s.CostUSD.V, s.CostUSD.Known && isFinite(s.CostUSD.V)
	if !known {
		cost = 0
	}
	tokens := func(c probe.Count) int64 { return min(max(c.V, 0), maxTokens) }
	return dailyDelta{dayOf(s.Time, zone), []any{oneIf(!skipped), oneIf(skipped), tokens(s.InputTokens), tokens(s.CachedInputTokens),
		tokens(s.CacheWriteTokens), tokens(s.OutputTokens), tokens(s.ReasoningTokens), min(cost, maxCost), oneIf(!known && s.Billable()),
		int64(maxTokens), float64(maxCost)}}
}

func (d dailyDelta) add(t *txn, canary int64) error {
	_, err := t.exec(addDelta, append([]any{d.day, canary}, d.args...)...)
	return err
}

func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
