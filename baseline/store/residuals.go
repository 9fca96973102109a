package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"

	"serin/baseline"
	"serin/probe"
)

// metrics gives each metric its bit; append only, the file remembers the places.
func metrics() []probe.Metric { return []probe.Metric{probe.TTFT, probe.TPOT, probe.TTFA, probe.E2E} }

// metricBit returns the bit of m, or 0 when m is not one of probe's metrics.
func metricBit(m probe.Metric) int64 {
	if i := slices.Index(metrics(), m); i >= 0 {
		return 1 << i
	}
	return 0
}

func maskOf(excluded map[probe.Metric]bool, log *slog.Logger) (mask int64) {
	for m, out := range excluded {
		if out {
			if metricBit(m) == 0 {
				log.Error("exclusion of an unknown metric is not stored", "metric", m)
			}
			mask |= metricBit(m)
		}
	}
	return mask
}

func excludedOf(mask int64) map[probe.Metric]bool {
	if mask == 0 {
		return nil
	}
	out := map[probe.Metric]bool{}
	for i, m := range metrics() {
		if mask&(1<<i) != 0 {
			out[m] = true
		}
	}
	return out
}

// The kinds of a packed residual.
const (
	resNotJudged = iota // nothing follows
	resTwo              // E and O follow, R = E − O exactly
	resThree            // E, O and R follow
)

// packResiduals packs residuals as (length, name, kind, numbers) each; nil when there are none. A quarter of the same in
// JSON, and there are two or more with every sample. One that is not finite counts as not judged.
func packResiduals(res map[probe.Metric]baseline.Residual) any {
	if len(res) == 0 {
		return nil
	}
	var names []probe.Metric
	for m := range res {
		names = append(names, m)
	}
	slices.Sort(names)
	var b []byte
	for _, m := range names {
		b = append(append(b, byte(len(m))), m...)
		b = packResidual(b, res[m])
	}
	return b
}

func packResidual(b []byte, r baseline.Residual) []byte {
	put := binary.LittleEndian.AppendUint64
	switch {
	case !r.Judged || !isFinite(r.E) || !isFinite(r.O) || !isFinite(r.R):
		return append(b, resNotJudged)
	case r.R == r.E-r.O:
		return put(put(append(b, resTwo), math.Float64bits(r.E)), math.Float64bits(r.O))
	}
	return put(put(put(append(b, resThree), math.Float64bits(r.E)), math.Float64bits(r.O)), math.Float64bits(r.R))
}

var errResiduals = errors.New("residuals are cut short")

// unpackResiduals is the inverse of packResiduals.
func unpackResiduals(b []byte) (map[probe.Metric]baseline.Residual, error) {
	if len(b) == 0 {
		return nil, nil
	}
	out := map[probe.Metric]baseline.Residual{}
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < n+2 {
			return nil, errResiduals
		}
		name, kind := probe.Metric(b[1:n+1]), b[n+1]
		r, rest, err := unpackResidual(kind, b[n+2:])
		if err != nil {
			return nil, err
		}
		out[name], b = r, rest
	}
	return out, nil
}

func unpackResidual(kind byte, b []byte) (r baseline.Residual, rest []byte, err error) {
	if kind == resNotJudged {
		return r, b, nil
	}
	n := int(kind) + 1
	if n > 3 {
		return r, nil, fmt.Errorf("residual of unknown kind %d", kind)
	}
	if len(b) < 8*n {
		return r, nil, errResiduals
	}
	at := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])) }
	r = baseline.Residual{E: at(0), O: at(1), R: at(0) - at(1), Judged: true}
	if kind == resThree {
		r.R = at(2)
	}
	return r, b[8*n:], nil
}
