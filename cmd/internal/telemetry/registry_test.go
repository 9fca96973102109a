package telemetry

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"serin/configs"
	"serin/probe"
)

func testTelemetry() *Registry {
	return New(configs.Metrics{Labels: map[string]string{"env": `a"b\c` + "\n"}, LatencyBuckets: []int{500, 2000, 8000, 32000}})
}

// sampleOf returns a sample of one canary with an outcome and what it usually carries.
func sampleOf(o probe.Outcome) *probe.Sample {
	s := &probe.Sample{Time: time.Unix(1_800_000_000, 0), Target: "gw", Scene: "chat", Size: probe.Short, Outcome: o, Family: o.Family(), Side: o.Side("")}
	if o.Success() {
		s.TTFT, s.TTFA, s.TPOT, s.E2E = probe.Known(300*time.Millisecond), probe.Known(300*time.Millisecond), probe.Known(20*time.Millisecond), probe.Known(2*time.Second)
		s.InputTokens, s.OutputTokens, s.CostUSD, s.Check = probe.Some[int64](40), probe.Some[int64](86), probe.Some(0.002), "pass"
		s.SchedLag = probe.Known(time.Millisecond)
	}
	return s
}

func exposed(t *testing.T, tel *Registry) string {
	t.Helper()
	var out bytes.Buffer
	if err := tel.Write(&out); err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(out.String(), "\ngo_") // the library's own metrics follow
	return text
}

// TestExposition feeds every outcome and holds each line against the text format: HELP, TYPE, then series.
func TestExposition(t *testing.T) {
	tel := testTelemetry()
	for _, o := range probe.Outcomes() {
		tel.Sample(sampleOf(o))
	}
	line := regexp.MustCompile(`^serin_[a-z0-9_]+(\{([a-z_]+="([^"\\]|\\["\\n])*",?)*\})? [-+0-9.eInfNa]+$`)
	helped, family := map[string]bool{}, ""
	for text := range strings.Lines(strings.TrimSpace(exposed(t, tel))) {
		text = strings.TrimSuffix(text, "\n")
		switch {
		case strings.HasPrefix(text, "# HELP "):
			family = strings.Fields(text)[2]
			if helped[family] {
				t.Errorf("family %s comes twice", family)
			}
			helped[family] = true
		case strings.HasPrefix(text, "# TYPE "):
		case !line.MatchString(text) || !strings.HasPrefix(text, family):
			t.Errorf("line %q under family %s", text, family)
		}
	}
	for _, want := range []string{"serin_probes_total", "serin_probe_timeouts_total", "serin_probe_errors_total", "serin_ttft_seconds", "serin_cost_usd_total"} {
		if !helped[want] {
			t.Errorf("no family %s", want)
		}
	}
}

// TestTimeoutsAreNoErrors counts every outcome once and looks where it went.
func TestTimeoutsAreNoErrors(t *testing.T) {
	tel := testTelemetry()
	timeouts, errors := 0, 0
	for _, o := range probe.Outcomes() {
		tel.Sample(sampleOf(o))
		switch o.Family() {
		case probe.FamilyTimeout:
			timeouts++
		case probe.FamilyError:
			errors++
		}
	}
	text := exposed(t, tel)
	if n := strings.Count(text, "\nserin_probe_timeouts_total{"); n != timeouts {
		t.Errorf("%d timeout series, want %d", n, timeouts)
	}
	if n := strings.Count(text, "\nserin_probe_errors_total{"); n != errors {
		t.Errorf("%d error series, want %d", n, errors)
	}
	if strings.Contains(text, `serin_probe_errors_total{env="a\"b\\c\n",target="gw",scene="chat",size="short",outcome="timeout`) {
		t.Error("a timeout is counted as an error")
	}
}

// TestOnlySuccessIsLatency keeps failures, re-probes and checks out of the histograms.
func TestOnlySuccessIsLatency(t *testing.T) {
	tel := testTelemetry()
	failed := sampleOf(probe.OK)
	failed.Outcome, failed.Family = probe.Truncated, probe.FamilyError // it carries figures all the same
	again := sampleOf(probe.OK)
	again.Trigger = probe.Reprobe
	tel.Sample(failed)
	tel.Sample(again)
	if text := exposed(t, tel); strings.Contains(text, "serin_ttft_seconds") {
		t.Errorf("latency of a failure or a re-probe is in a histogram:\n%s", text)
	}
	tel.Sample(sampleOf(probe.OK))
	if text := exposed(t, tel); !strings.Contains(text, `serin_ttft_seconds_count{env="a\"b\\c\n",target="gw",input_bucket="0-500"} 1`) {
		t.Errorf("the regular success is missing:\n%s", text)
	}
}

func TestInputBucket(t *testing.T) {
	f := func(n probe.Count, want string) {
		t.Helper()
		if got := testTelemetry().inputBucket(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
	f(probe.Count{}, "unknown")
	f(probe.Some[int64](0), "0-500")
	f(probe.Some[int64](499), "0-500")
	f(probe.Some[int64](500), "500-2000")
	f(probe.Some[int64](32000), "32000+")
}

// TestForget takes a canary off /metrics when it leaves the config.
func TestForget(t *testing.T) {
	tel := testTelemetry()
	tel.Sample(sampleOf(probe.OK))
	stays := sampleOf(probe.OK)
	stays.Target = "other"
	tel.Sample(stays)
	tel.Forget(map[string]bool{"other/chat/short": true}, map[string]bool{"other": true})
	text := exposed(t, tel)
	if strings.Contains(text, `target="gw"`) || !strings.Contains(text, `target="other"`) {
		t.Errorf("series after forget:\n%s", text)
	}
}

func TestStrayFamilyIsAnError(t *testing.T) {
	tel := testTelemetry()
	tel.Count(1, "serin_not_in_the_table_total")
	if err := tel.Write(&bytes.Buffer{}); err == nil {
		t.Error("a family without HELP left")
	}
}

// Refusals under load are on the same panel as the latency, and in no latency.
func TestB35RefusalsAreSeen(t *testing.T) {
	tel := testTelemetry()
	tel.Sample(sampleOf(probe.OK))
	tel.Sample(sampleOf(probe.RateLimited))
	text := exposed(t, tel)
	for _, want := range []string{`outcome="rate_limited",side="budget"} 1`, `outcome="ok",side="server"} 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Count(text, "serin_ttft_seconds_count") != 1 {
		t.Error("the refusal is in a histogram")
	}
}

// No success: no figure.
func TestB39NoSuccessNoFigureOnMetrics(t *testing.T) {
	tel := testTelemetry()
	tel.Sample(sampleOf(probe.HTTP5xx))
	if text := exposed(t, tel); strings.Contains(text, "_ttft_") || strings.Contains(text, "_tpot_") {
		t.Errorf("figures without a success:\n%s", text)
	}
}
