package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/alert/engine"
	"serin/alert/incident"
	"serin/baseline"
	"serin/baseline/store"
	"serin/cmd/internal/explain"
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
	e := engine.New(engine.Options{History: st, Baseline: baseline.DefaultOptions()})
	people := incident.New(incident.Options{IncidentOptions: alert.DefaultIncident()})
	commit := func(judged alert.Judged, told alert.Told) {
		if err := st.Commit(t.Context(), alert.Change{Judged: judged, Told: told}); err != nil {
			t.Fatal(err)
		}
	}
	begun := false
	for line := range bytes.Lines(fleetFile(1, len(sizes), 9, 3)) {
		s, err := decodeSample(line)
		if err != nil {
			t.Fatal(err)
		}
		if !begun {
			begun = true
			judged, err := e.Load(t.Context(), watched, nil, alert.Snapshot{}, s.Time)
			if err != nil {
				t.Fatal(err)
			}
			people.Load(alert.Snapshot{}, e, s.Time)
			commit(judged, alert.Told{})
		}
		judged := e.Tick(s.Time)
		commit(judged, people.Tick(judged.Transitions, s.Time))
		judged = e.Observe(s)
		commit(judged, people.Update(judged.Transitions, s.Time))
		for _, a := range e.Firing("") {
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

func explained(t *testing.T, args ...string) (list []explain.Decision) {
	t.Helper()
	out, _ := runText(t, ExitOK, append([]string{"explain", "--format", "json"}, args...)...)
	for line := range strings.Lines(out) {
		var d explain.Decision
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

// wantText wants each piece in a text, in any order.
func wantText(t *testing.T, text string, pieces ...string) {
	t.Helper()
	for _, want := range pieces {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// An alert is told as it was decided: three sentences, and with --verbose the checks that it fired by.
func TestExplainTellsAnAlertAsItWasDecided(t *testing.T) {
	path, fired := slowHour(t)
	d := explained(t, "--store", path, "t0/s0/short/ttft", "--at", fired.Format(time.RFC3339Nano))[0]
	if d.Alert == nil || d.Alert.Config != "rev1" || d.Band == nil || d.Band.Threshold != d.Alert.Threshold || d.Band.N == 0 {
		t.Fatalf("%+v", d)
	}
	last := d.Checks[len(d.Checks)-1]
	if len(d.Checks) != len(d.Alert.Decided) || last.Call != baseline.Breach || last.Value <= last.Limit {
		t.Errorf("%d checks, the last %+v", len(d.Checks), last)
	}
	text, _ := runText(t, ExitOK, "explain", "--store", path, d.Alert.ID)
	if n := strings.Count(text, "\n"); n != 3 {
		t.Errorf("%d lines, want 3:\n%s", n, text)
	}
	wantText(t, text, "TTFT of t0 / s0 / short: 2.", "x its usual at worst", "Usual in that slot", "and the limit ", "samples of 7 days", "It fired at ", "; it ended: ")
	text, _ = runText(t, ExitOK, "explain", "-v", "--store", path, incidentOf(t, path))
	wantText(t, text, "threshold "+d.Alert.Threshold+" of config rev1", "pending to firing", "breach", " z ")
}

// incidentOf returns the id of the store's only incident.
func incidentOf(t *testing.T, path string) string {
	t.Helper()
	out, _ := runText(t, ExitOK, "incidents", "--store", path, "--since", "2000-01-01T00:00:00Z", "--format", "json")
	var list []alert.Incident
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 {
		t.Fatalf("%d incidents, %v", len(list), err)
	}
	return list[0].ID
}

func TestExplainSaysWhyItDidNotFire(t *testing.T) {
	path, fired := slowHour(t)
	over := func(from, to time.Time) explain.Decision {
		return explained(t, "--store", path, "t0/s0/short/ttft", "--from", from.Format(time.RFC3339), "--to", to.Format(time.RFC3339))[0]
	}
	if d := over(fired.Add(-time.Hour), fired.Add(time.Hour)); d.Alert == nil {
		t.Errorf("around the alert: %+v", d)
	}
	d := over(fired.Add(-5*time.Hour), fired.Add(-2*time.Hour))
	if d.Alert != nil || len(d.Checks) != 36 || !strings.HasPrefix(d.Summary[2], "It did not fire: ") && !strings.HasPrefix(d.Summary[2], "It was pending") {
		t.Errorf("before it: %d checks, %q", len(d.Checks), d.Summary)
	}
	start := fired.Truncate(24*time.Hour).AddDate(0, 0, -8)
	if d := over(start, start.Add(time.Hour)); !strings.Contains(d.Summary[1], "learning") || !strings.Contains(d.Summary[2], "none of them could be judged") {
		t.Errorf("on the first day: %q", d.Summary)
	}
}

// A whole target: the rounds with what each canary added, and the score beside the one that fires.
func TestExplainTellsAWholeTargetAsItWasDecided(t *testing.T) {
	path, fired := slowCanaries(t, alert.DefaultRule(), probe.Sizes()...)
	list := explained(t, "--store", path, "t0", "--at", fired.Format(time.RFC3339Nano))
	d := list[0]
	if d.Series != "t0" || d.Alert == nil || d.Step == nil || *d.Step != *d.Alert.Fit || d.Step.Score <= d.Step.Fires {
		t.Fatalf("%+v", d)
	}
	last := d.Alert.Decided[len(d.Alert.Decided)-1]
	if c := d.Checks[len(d.Checks)-1]; c.Ratio < 1.5 || len(c.Parts) != 3 || math.Abs(c.Parts[2].Ratio-math.Exp(float64(last.Said[2].E))) > 1e-9 {
		t.Errorf("the newest round %+v", c)
	}
	text, _ := runText(t, ExitOK, "explain", "-v", "-c", slowHourConf(t, ""), "--store", path, incidentOf(t, path))
	wantText(t, text, "TTFT of t0: all canaries together ", "a round is the median", fmt.Sprintf("more than %g fires", d.Step.Fires), "s0/short x")
	if !strings.HasPrefix(text, "TTFT of t0:") {
		t.Errorf("the whole target does not come first:\n%s", text)
	}
	before := fired.Add(-3 * time.Hour).Format(time.RFC3339Nano)
	text, _ = runText(t, ExitOK, "explain", "--store", path, "t0", "--at", before)
	wantText(t, text, "TTFT of t0, all canaries together, did not fire", "is not kept; use backtest", "TTFT of t0 / s0 / medium was")
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
