package app

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

// telemetry counts what the daemon does and writes /metrics. Counters and histograms live in the library's set; what is
// state (bands, alerts, outbox, store) is read at the scrape through gauges.
type telemetry struct {
	set    *metrics.Set
	conf   configs.Metrics
	gauges []func(*gaugeLines) // in the order of wiring
}

func newTelemetry(conf configs.Metrics) *telemetry {
	return &telemetry{set: metrics.NewSet(), conf: conf}
}

// labels returns the config's constant labels with more behind them.
func (t *telemetry) labels(more ...label) []label {
	names := make([]string, 0, len(t.conf.Labels))
	for n := range t.conf.Labels {
		names = append(names, n)
	}
	slices.Sort(names)
	out := make([]label, 0, len(names)+len(more))
	for _, n := range names {
		out = append(out, label{n, t.conf.Labels[n]})
	}
	return append(out, more...)
}

func (t *telemetry) count(n int, name string, labels ...label) {
	t.set.GetOrCreateCounter(seriesName(name, t.labels(labels...))).Add(n)
}

func (t *telemetry) observe(v float64, bounds []float64, name string, labels ...label) {
	t.set.GetOrCreatePrometheusHistogramExt(seriesName(name, t.labels(labels...)), bounds).Update(v)
}

// canaryLabels returns target, scene and size.
func canaryLabels(target, scene, size string) []label {
	return []label{{"target", target}, {"scene", scene}, {"size", size}}
}

// sample counts one finished probe.
func (t *telemetry) sample(s *probe.Sample) {
	id := canaryLabels(s.Target, s.Scene, string(s.Size))
	with := func(more ...label) []label { return append(slices.Clone(id), more...) }
	if s.Outcome == probe.Skipped {
		t.count(1, "serin_probes_skipped_total", with(label{"reason", s.Reason})...)
		return
	}
	t.count(1, "serin_probes_total", with(label{"outcome", string(s.Outcome)}, label{"side", string(s.Side)})...)
	switch s.Family {
	case probe.FamilyTimeout:
		t.count(1, "serin_probe_timeouts_total", with(label{"phase", strings.TrimPrefix(string(s.Outcome), "timeout_")})...)
	case probe.FamilyError:
		t.count(1, "serin_probe_errors_total", with(label{"outcome", string(s.Outcome)})...)
	}
	if s.InputTokens.Known {
		t.count(int(s.InputTokens.V), "serin_input_tokens_total", id...)
	}
	if s.OutputTokens.Known {
		t.count(int(s.OutputTokens.V), "serin_output_tokens_total", id...)
	}
	if s.CostUSD.Known {
		t.set.GetOrCreateFloatCounter(seriesName("serin_cost_usd_total", t.labels(id...))).Add(s.CostUSD.V)
	}
	if s.Check != "" {
		t.count(1, "serin_checks_total", with(label{"result", s.Check})...)
	}
	t.latency(s)
}

// latency feeds the histograms: successes of regular probes only.
func (t *telemetry) latency(s *probe.Sample) {
	if s.SchedLag.Known && s.Regular() {
		t.observe(s.SchedLag.Seconds(), lagBuckets(), "serin_schedule_lag_seconds")
	}
	if !s.Regular() || !s.Outcome.Success() {
		return
	}
	labels := []label{{"target", s.Target}, {"input_bucket", t.inputBucket(s.InputTokens)}}
	for _, name := range t.conf.HistogramLabels {
		labels = append(labels, label{name, map[string]string{"scene": s.Scene, "size": string(s.Size)}[name]})
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

// inputBucket names the range of measured input tokens: "0-500", …, "32000+"; "unknown" without usage.
func (t *telemetry) inputBucket(n probe.Count) string {
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

// forget unregisters the series of canaries and targets that are no longer configured.
func (t *telemetry) forget(canaries, targets map[string]bool) {
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

// gauge adds a source that is asked at each scrape.
func (t *telemetry) gauge(f func(*gaugeLines)) { t.gauges = append(t.gauges, f) }

// write writes all of /metrics.
func (t *telemetry) write(w io.Writer) error {
	var g gaugeLines
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
