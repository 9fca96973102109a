package store

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

// sampleScan reads rows of restColumns.
type sampleScan struct {
	trait int64
}

func (c *sampleScan) record(rows *sql.Rows) (r alert.Record, err error) {
	var at, attempt int64
	var chunks, mask sql.NullInt64
	var packed sql.RawBytes
	s := &r.Sample
	dest := []any{&at, &attempt, &c.trait}
	for _, p := range spans(s) {
		dest = append(dest, spanTo{p})
	}
	for _, p := range counts(s) {
		dest = append(dest, countTo{p})
	}
	dest = append(dest, moneyTo{&s.CostUSD}, &chunks)
	for _, p := range texts(s) {
		dest = append(dest, textTo{p})
	}
	if err := rows.Scan(append(dest, &mask, &packed)...); err != nil {
		return r, err
	}
	s.Time, s.Chunks = time.Unix(0, at).UTC(), int(chunks.Int64)
	r.Excluded = excludedOf(mask.Int64)
	if r.Residuals, err = unpackResiduals(packed); err != nil {
		return r, fmt.Errorf("sample of %v: %w", s.Time, err)
	}
	return r, nil
}

// fill adds what a sample shares with others to what its own columns gave.
func fill(s *probe.Sample, rest probe.Sample, c canary) {
	own := *s
	*s = rest
	s.Flags = slices.Clone(rest.Flags)
	s.Time, s.Chunks, s.CostUSD = own.Time, own.Chunks, own.CostUSD
	s.Target, s.Scene, s.Size = c.target, c.scene, probe.Size(c.size)
	copyAll(spans(s), spans(&own))
	copyAll(counts(s), counts(&own))
	copyAll(texts(s), texts(&own))
}

func copyAll[T any](to, from []*T) {
	for i := range to {
		*to[i] = *from[i]
	}
}

type spanTo struct{ p *probe.Span }

func (d spanTo) Scan(src any) error {
	switch v := src.(type) {
	case nil:
	case int64:
		*d.p = probe.Known(time.Duration(v))
	default:
		return fmt.Errorf("duration is a %T", src)
	}
	return nil
}

type countTo struct{ p *probe.Count }

func (d countTo) Scan(src any) error {
	switch v := src.(type) {
	case nil:
	case int64:
		*d.p = probe.Some(v)
	default:
		return fmt.Errorf("count is a %T", src)
	}
	return nil
}

type moneyTo struct{ p *probe.Money }

func (d moneyTo) Scan(src any) error {
	switch v := src.(type) {
	case nil:
	case float64:
		*d.p = probe.Some(v)
	default:
		return fmt.Errorf("amount is a %T", src)
	}
	return nil
}

type textTo struct{ p *string }

func (d textTo) Scan(src any) error {
	switch v := src.(type) {
	case nil:
	case string:
		*d.p = v
	default:
		return fmt.Errorf("text is a %T", src)
	}
	return nil
}
