package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/baseline/store"
	"serin/probe"
)

// slowHour is a store in which the engine judged nine days of one canary, with an hour at ×2 on the last from 10:00 on.
func slowHour(t *testing.T) (path string, fired time.Time) {
	t.Helper()
	return slowCanaries(t, alert.DefaultRule(), probe.Short)
}

// slowCanaries is the same of several canaries of the target; fired is when the last of their alerts did.
func slowCanaries(t *testing.T, rule alert.Rule, sizes ...probe.Size) (path string, fired time.Time) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.db")
	st, err := store.Open(t.Context(), path, store.Options{Log: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	target := probe.DefaultTarget()
	target.Name = "t0"
	scene := &probe.Scene{Name: "s0", Zone: time.UTC, Metrics: []probe.Metric{probe.TTFT}}
	var watched []alert.Watched
	for _, size := range sizes {
		watched = append(watched, alert.Watched{Canary: &probe.Canary{Target: &target, Scene: scene, Size: size, Interval: 5 * time.Minute}, Rule: rule, Config: "rev1"})
	}
	e := alert.NewEngine(alert.EngineOptions{Journal: st, History: st, Incident: alert.DefaultIncident(), Baseline: baseline.DefaultOptions()})
	begun := false
	for line := range bytes.Lines(fleetFile(1, len(sizes), 9, 3)) {
		s, err := decodeSample(line)
		if err != nil {
			t.Fatal(err)
		}
		if !begun {
			begun = true
			if err := e.Load(t.Context(), watched, alert.Snapshot{}, s.Time); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Tick(t.Context(), s.Time); err != nil {
			t.Fatal(err)
		}
		if err := e.Observe(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Status().Alerts {
			fired = a.Fired
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if fired.IsZero() {
		t.Fatal("the engine did not fire")
	}
	return path, fired
}

// runText runs a command line and returns what it printed.
func runText(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Run(t.Context(), Options{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}); code != want {
		t.Fatalf("serin %v: code %d, want %d: %s", args, code, want, errs.String())
	}
	return out.String(), errs.String()
}

func TestExplainTellsAnAlertAsItWasDecided(t *testing.T) {
	path, fired := slowHour(t)
	out, _ := runText(t, ExitOK, "explain", "--store", path, "t0/s0/short/ttft", "--at", fired.Format(time.RFC3339Nano), "--format", "json")
	var x Explanation
	if err := json.Unmarshal([]byte(out), &x); err != nil {
		t.Fatal(err)
	}
	if x.Alert == nil || x.Before != alert.StatePending || x.After != alert.StateFiring || x.Alert.Config != "rev1" {
		t.Errorf("states %q → %q, alert %+v", x.Before, x.After, x.Alert)
	}
	if x.Band == nil || x.Band.N != len(x.Used) || len(x.Windows) != 7 || x.Band.Threshold != x.Alert.Threshold {
		t.Errorf("band %+v, %d samples used, %d windows", x.Band, len(x.Used), len(x.Windows))
	}
	stored := 0
	for _, v := range x.Votes {
		if v.Stored {
			stored++
		}
	}
	last := x.Votes[len(x.Votes)-1]
	if stored != len(x.Alert.Decided) || last.Call != baseline.Breach || last.Value <= last.Limit || !last.Stored {
		t.Errorf("%d votes stored of %d, the last %+v", stored, len(x.Alert.Decided), last)
	}
	if x.Literal.State != "ready" || x.Literal.Limit <= 0 || x.Literal.Call != baseline.Breach {
		t.Errorf("literal %+v", x.Literal)
	}
	if x.Today.Differs || len(x.Today.Opened) != 1 || !x.Today.Opened[0].Equal(fired) {
		t.Errorf("today %+v, fired %s", x.Today, fired)
	}
	text, _ := runText(t, ExitOK, "explain", "--store", path, x.Alert.Incident)
	for _, want := range []string{"t0/s0/short TTFT at", "pending → firing", "threshold " + x.Alert.Threshold + " of config rev1", "left out", "●", "literal", "decides the same"} {
		if want != "left out" && !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestExplainSeesTheVotesAgain holds calls worked out from the stored band against those that the engine stored.
func TestExplainSeesTheVotesAgain(t *testing.T) {
	path, fired := slowHour(t)
	st, err := openStore(t.Context(), path, &bytes.Buffer{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }() // read only
	b := casebook{st, nil}
	x, err := b.one(t.Context(), "t0/s0/short", probe.TTFT, fired, nil)
	if err != nil {
		t.Fatal(err)
	}
	bare := *x.Alert
	bare.Decided, bare.Votes = nil, nil
	again, err := b.one(t.Context(), "t0/s0/short", probe.TTFT, fired, &bare)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range x.Votes {
		w := again.Votes[i]
		if v.Call != w.Call || fmt.Sprintf("%.4f %.4f %.3f", v.Mean, v.Limit, v.Z) != fmt.Sprintf("%.4f %.4f %.3f", w.Mean, w.Limit, w.Z) {
			t.Errorf("stored %+v, again %+v", v, w)
		}
	}
}

// slowHourConf is a config in which the canary of slowHour is judged by a rule.
func slowHourConf(t *testing.T, rule string) string {
	t.Helper()
	conf := filepath.Join(t.TempDir(), "serin.toml")
	err := os.WriteFile(conf, []byte(`[[target]]
name = "t0"
protocol = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
model = "m"
auth = "none"
[[scene]]
name = "s0"
targets = ["t0"]
metrics = ["ttft"]
short = "*/5 * * * *"
[rule]
`+rule), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

func TestExplainSaysWhereTodayDecidesOtherwise(t *testing.T) {
	path, fired := slowHour(t)
	conf := slowHourConf(t, "min_ratio = 3.0")
	text, _ := runText(t, ExitOK, "explain", "-c", conf, "--store", path, "t0/s0/short/ttft", "--at", fired.Format(time.RFC3339Nano))
	for _, want := range []string{"no alert between", "the threshold is another now", "calm instead of breach"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestExplainSaysWhyItDidNotFire(t *testing.T) {
	path, fired := slowHour(t)
	over := func(from, to time.Time) verdictOver {
		out, _ := runText(t, ExitOK, "explain", "--store", path, "t0", "--from", from.Format(time.RFC3339), "--to", to.Format(time.RFC3339), "--format", "json")
		var v verdictOver
		ttft, _, _ := strings.Cut(out, "\n") // TPOT's line follows
		if err := json.Unmarshal([]byte(ttft), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := over(fired.Add(-time.Hour), fired.Add(time.Hour)); len(v.Alerts) != 1 || v.Most < v.Needed || v.PeakRatio < 1.5 {
		t.Errorf("around the alert: %+v", v)
	}
	if v := over(fired.Add(-5*time.Hour), fired.Add(-2*time.Hour)); len(v.Alerts) != 0 || v.Samples != 36 || v.Why == "" || v.Most >= v.Needed {
		t.Errorf("before it: %+v", v)
	}
	start := fired.Truncate(24*time.Hour).AddDate(0, 0, -8)
	if v := over(start, start.Add(time.Hour)); v.Learning != 12 || !strings.Contains(v.Why, "learning") {
		t.Errorf("on the first day: %+v", v)
	}
}

func TestBaselineShowCountsEverySlot(t *testing.T) {
	path, fired := slowHour(t)
	st, err := openStore(t.Context(), path, &bytes.Buffer{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }() // read only
	var out bytes.Buffer
	c := baselineShowCmd{Pattern: "t0", Format: "json"}
	if err := c.show(t.Context(), st, nil, &out, fired); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var b slotBand
	if err := json.Unmarshal([]byte(lines[20]), &b); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 2*48 || b.State != "ready" || b.Days != 7 || b.N != 7*18 || b.Slot.Hour() != 10 || b.Limit < 1.25*b.Mean {
		t.Errorf("%d lines, at 10:00 %+v", len(lines), b)
	}
}

// TestScatterText holds what is said of σ = 0.5 against what it is made of.
func TestScatterText(t *testing.T) {
	for want, b := range map[string]baseline.Band{
		"one probe 0.300, level 0.400":                   {Sigma: .5, SW: .3, SL: .4},
		"one probe 0.300, level 0.200, together more":    {Sigma: .5, SW: .3, SL: .2},
		"of the slot's values: one probe's is not known": {Sigma: .5},
	} {
		if got := scatterText(&b); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
}
