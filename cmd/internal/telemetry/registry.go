package telemetry

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/VictoriaMetrics/metrics"

	"serin/configs"
	"serin/probe"
)

// Registry counts what the daemon does and writes /metrics. Counters and histograms live in the library's set; what is
// state (bands, alerts, outbox, store) is read at the scrape through gauges.
type Registry struct {
	set    *metrics.Set
	conf   configs.Metrics
	gauges []func(*Gauges) // in the order of wiring
}

// New returns a registry for the [metrics] of a config.
func New(conf configs.Metrics) *Registry {
	return &Registry{set: metrics.NewSet(), conf: conf}
}

// labels returns the config's constant labels with more behind them.
func (t *Registry) labels(more ...string) []string {
	names := make([]string, 0, len(t.conf.Labels))
	for n := range t.conf.Labels {
		names = append(names, n)
	}
	slices.Sort(names)
	out := make([]string, 0, 2*len(names)+len(more))
	for _, n := range names {
		out = append(out, n, t.conf.Labels[n])
	}
	return append(out, more...)
}

// Count adds n to a counter; labels are names and values in turn.
func (t *Registry) Count(n int, name string, labels ...string) {
	t.set.GetOrCreateCounter(seriesName(name, t.labels(labels...))).Add(n)
}

func (t *Registry) observe(v float64, bounds []float64, name string, labels ...string) {
	t.set.GetOrCreatePrometheusHistogramExt(seriesName(name, t.labels(labels...)), bounds).Update(v)
}

// CanaryLabels returns target, scene and size.
func CanaryLabels(target, scene, size string) []string {
	return []string{"target", target, "scene", scene, "size", size}
}

// Sample counts one finished probe.
func (t *Registry) Sample(s *probe.Sample) {
	id := CanaryLabels(s.Target, s.Scene, string(s.Size))
	with := func(more ...string) []string { return append(slices.Clone(id), more...) }
	if s.Outcome == probe.Skipped {
		t.Count(1, "serin_probes_skipped_total", with("reason", s.Reason)...)
		return
	}
	t.Count(1, "serin_probes_total", with("outcome", string(s.Outcome), "side", string(s.Side))...)
	switch s.Family {
	case probe.FamilyTimeout:
		t.Count(1, "serin_probe_timeouts_total", with("phase", strings.TrimPrefix(string(s.Outcome), "timeout_"))...)
	case probe.FamilyError:
		t.Count(1, "serin_probe_errors_total", with("outcome", string(s.Outcome))...)
	}
	if s.InputTokens.Known {
		t.Count(int(s.InputTokens.V), "serin_input_tokens_total", id...)
	}
	if s.OutputTokens.Known {
		t.Count(int(s.OutputTokens.V), "serin_output_tokens_total", id...)
	}
	if s.CostUSD.Known {
		t.set.GetOrCreateFloatCounter(seriesName("serin_cost_usd_total", t.labels(id...))).Add(s.CostUSD.V)
	}
	if s.Check != "" {
		t.Count(1, "serin_checks_total", with("result", s.Check)...)
	}
	t.latency(s)
}

// latency feeds the histograms: successes of regular probes only.
func (t *Registry) latency(s *probe.Sample) {
	if s.SchedLag.Known && s.Regular() {
		t.observe(s.SchedLag.Seconds(), lagBuckets(), "serin_schedule_lag_seconds")
	}
	if !s.Regular() || !s.Outcome.Success() {
		return
	}
	labels := []string{"target", s.Target, "input_bucket", t.inputBucket(s.InputTokens)}
	for _, name := range t.conf.HistogramLabels {
		labels = append(labels, name, map[string]string{"scene": s.Scene, "size": string(s.Size)}[name])
	}
	for _, m := range []probe.Metric{probe.TTFT, probe.TTFA, probe.TPOT, probe.E2E} {
		if v := s.Measure(m); v.Known {
			bounds := latencyBuckets()
			if m == probe.TPOT {
				bounds = tpotBuckets()
			}
			t.observe(v.Seconds(), bounds, "serin_"+string(m)+"_seconds", labels...)
		}
	}
}

// OwnDelay counts by how much serin itself was late in a stream whose tokens were seen.
func (t *Registry) OwnDelay(s *probe.Sample) {
	t.observe(s.Lag.Seconds(), selfBuckets(), "serin_self_delay_seconds", "stamp", s.Stamp)
	if s.Has(probe.ClientSuspect) {
		t.Count(1, "serin_self_suspect_samples_total")
	}
}

// inputBucket names the range of measured input tokens: "0-500", …, "32000+"; "unknown" without usage.
func (t *Registry) inputBucket(n probe.Count) string {
	if !n.Known {
		return "unknown"
	}
	low := 0
	for _, edge := range t.conf.LatencyBuckets {
		if n.V < int64(edge) {
			return fmt.Sprintf("%d-%d", low, edge)
		}
		low = edge
	}
	return fmt.Sprintf("%d+", low)
}

// Forget unregisters the series of canaries and targets that are no longer configured.
func (t *Registry) Forget(canaries, targets map[string]bool) {
	for _, name := range t.set.ListMetricNames() {
		target, scene, size := labelValue(name, "target"), labelValue(name, "scene"), labelValue(name, "size")
		gone := target != "" && !targets[target]
		if scene != "" && size != "" && !canaries[target+"/"+scene+"/"+size] {
			gone = true
		}
		if gone {
			t.set.UnregisterMetric(name)
		}
	}
}

// labelValue reads one label of a series name; names of canaries hold no character that is escaped.
func labelValue(series, name string) string {
	for _, sep := range []string{"{", ","} {
		if _, rest, ok := strings.Cut(series, sep+name+`="`); ok {
			value, _, _ := strings.Cut(rest, `"`)
			return value
		}
	}
	return ""
}

// Gauge adds a source that is asked at each scrape.
func (t *Registry) Gauge(f func(*Gauges)) { t.gauges = append(t.gauges, f) }

// Write writes all of /metrics.
func (t *Registry) Write(w io.Writer) error {
	g := Gauges{registry: t}
	for _, f := range t.gauges {
		f(&g)
	}
	var set bytes.Buffer
	t.set.WritePrometheus(&set)
	set.Write(g.buf.Bytes())
	if err := writeFamilies(w, metricTable(), set.Bytes()); err != nil {
		return err
	}
	metrics.WriteProcessMetrics(w)
	return nil
}
