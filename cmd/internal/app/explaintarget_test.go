package app

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

func explained(t *testing.T, args ...string) (list []Explanation) {
	t.Helper()
	out, _ := runText(t, ExitOK, append([]string{"explain", "--format", "json"}, args...)...)
	for line := range strings.Lines(out) {
		var x Explanation
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

// TestExplainTellsAWholeTargetAsItWasDecided: the votes with who said what, the score with what fires, how the level moves, and
// that the samples lead to the same again.
func TestExplainTellsAWholeTargetAsItWasDecided(t *testing.T) {
	path, fired := slowCanaries(t, alert.DefaultRule(), probe.Sizes()...)
	x := explained(t, "--store", path, "t0/ttft", "--at", fired.Format(time.RFC3339Nano))[0]
	if x.Alert == nil {
		t.Fatalf("%+v", x)
	}
	x = explained(t, "--store", path, x.Alert.ID)[0]
	if x.Step == nil || !x.Together || x.Before != alert.StatePending || x.After != alert.StateFiring {
		t.Fatalf("%+v", x)
	}
	if s := x.Step; !s.Stored || s.Fit != *x.Alert.Fit || s.Score <= s.Fires || s.Fires <= 0 || s.Moves <= 0 || !s.Since.Equal(x.Alert.FirstBreach) {
		t.Errorf("step %+v, alert %+v", s, x.Alert.Fit)
	}
	for _, v := range x.Votes {
		if !v.Stored || len(v.Shares) != 3 || v.Shares[0].Canary != "t0/s0/long" || v.Shares[1].Canary != "t0/s0/medium" || v.Shares[2].Canary != "t0/s0/short" {
			t.Errorf("vote %+v", v)
		}
	}
	last := x.Alert.Decided[len(x.Alert.Decided)-1]
	if v := x.Votes[len(x.Votes)-1]; v.Ratio < 1.5 || math.Abs(v.Shares[2].Ratio-math.Exp(float64(last.Said[2].E))) > 1e-9 {
		t.Errorf("the newest vote %+v", v)
	}
	if x.Today.Differs || len(x.Today.Opened) != 1 || x.Today.Opened[0].Sub(fired).Abs() > time.Minute {
		t.Errorf("today %+v, fired %s", x.Today, fired)
	}
	text, _ := runText(t, ExitOK, "explain", "--store", path, x.Alert.Incident)
	if !strings.HasPrefix(text, "t0 TTFT, its canaries together, at") {
		t.Errorf("the whole target does not come first:\n%s", text)
	}
	for _, want := range []string{"rounds (12 checks) fit a lasting step up best, from ×1 to ×2 of usual", fmt.Sprintf("more than %g fires", x.Step.Fires), "by itself this level moves by",
		"and that did not fire", "  ×2.14  breach  [s0/long ×2.35, s0/medium ×2.17, s0/short ×2.19]", "today's   decides the same"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestExplainReplaysRoundsThatDidNotFire: nothing is stored of them.
func TestExplainReplaysRoundsThatDidNotFire(t *testing.T) {
	path, fired := slowCanaries(t, alert.DefaultRule(), probe.Sizes()...)
	before := fired.Add(-3 * time.Hour)
	list := explained(t, "--store", path, "t0", "--at", before.Format(time.RFC3339Nano))
	if len(list) != 2 || list[0].Metric != probe.TTFT || list[1].Metric != probe.TPOT {
		t.Fatalf("%+v", list)
	}
	x := list[0]
	if s := x.Step; x.Alert != nil || s == nil || s.Stored || s.Score >= s.Fires || s.Moves <= 0 {
		t.Errorf("alert %+v, step %+v", x.Alert, s)
	}
	if n := len(x.Votes); n < 6 || x.Votes[n-1].Stored || before.Sub(x.Votes[n-1].At) > time.Second || x.Votes[n-1].Shares[0].Canary != "t0/s0/long" {
		t.Errorf("votes %+v", x.Votes)
	}
	out, _ := runText(t, ExitOK, "explain", "--store", path, "t0", "--from", before.Format(time.RFC3339Nano), "--to", fired.Add(-time.Hour).Format(time.RFC3339Nano))
	for _, want := range []string{"24 rounds of its canaries together", fmt.Sprintf("a score of more than %g is needed", x.Step.Fires)} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, _ = runText(t, ExitOK, "explain", "--store", path, "t0", "--from", before.Format(time.RFC3339Nano), "--to", fired.Add(time.Minute).Format(time.RFC3339Nano))
	if !strings.Contains(out, "it fired (1 alerts)") || !strings.Contains(out, "highest score 2") {
		t.Errorf("it fired:\n%s", out)
	}
	_, errs := runText(t, ExitUsage, "explain", "--store", path, "t0/e2e", "--at", fired.Format(time.RFC3339Nano))
	if !strings.Contains(errs, "t0 is not judged as a whole: 0 of its canaries judge e2e, 3 are needed") {
		t.Errorf("%s", errs)
	}
}

// TestNamesOfARound: by their voices, wherever they stand; one that nobody knows any more has none.
func TestNamesOfARound(t *testing.T) {
	var subs []subject
	target := probe.DefaultTarget()
	target.Name = "t"
	for _, size := range []probe.Size{probe.Long, probe.Short} {
		subs = append(subs, subject{Watched: alert.Watched{Canary: &probe.Canary{Target: &target, Scene: &probe.Scene{Name: "s"}, Size: size}}})
	}
	vote := alert.Vote{Said: []alert.Said{{Who: alert.Voice("t/s/short")}, {Who: alert.Voice("t/gone/short")}, {Who: alert.Voice("t/s/long")}, {}}}
	b := ballotOf(vote, true)
	b.name(subs)
	var got []string
	for _, s := range b.Shares {
		got = append(got, s.Canary)
	}
	if want := []string{"t/s/short", "", "t/s/long", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestExplainSaysWhatIsNotKept: an alert of an earlier version has its votes alone, and canaries may have left the config.
func TestExplainSaysWhatIsNotKept(t *testing.T) {
	path, fired := slowCanaries(t, alert.DefaultRule(), probe.Sizes()...)
	b := casebookAt(t, path)
	x, err := b.target(t.Context(), "t0", probe.TTFT, fired, nil)
	if err != nil {
		t.Fatal(err)
	}
	old := *x.Alert
	old.Fit = nil
	if x, err = b.target(t.Context(), "t0", probe.TTFT, fired, &old); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	x.write(&out)
	if !strings.Contains(out.String(), "step      not kept") || x.Step != nil || len(x.Votes) == 0 {
		t.Errorf("%s", out.String())
	}
	text, _ := runText(t, ExitOK, "explain", "-c", slowHourConf(t, `preset = "sharp"`), "--store", path, "t0/ttft", "--at", fired.Format(time.RFC3339Nano))
	if !strings.Contains(text, "cannot be tried again: 1 of the target's canaries") || !strings.Contains(text, " fires") {
		t.Errorf("%s", text)
	}
}

// TestExplainTellsASharpSeries: its step is stored with its alert, and worked out again where there was none.
func TestExplainTellsASharpSeries(t *testing.T) {
	rule := alert.DefaultRule()
	rule.Preset, rule.Threshold.Sharp, rule.Reprobes, rule.Corroborate = "sharp", true, 9, false
	path, fired := slowCanaries(t, rule, probe.Short)
	conf := slowHourConf(t, `preset = "sharp"`)
	at := func(when time.Time) Explanation {
		return explained(t, "-c", conf, "--store", path, "t0/s0/short/ttft", "--at", when.Format(time.RFC3339Nano))[0]
	}
	x := at(fired)
	if s := x.Step; s == nil || !s.Stored || s.Fires <= 0 || s.Score <= s.Fires || !s.Since.Equal(x.Alert.FirstBreach) {
		t.Errorf("step %+v", s)
	}
	if v := x.Votes[len(x.Votes)-1]; len(v.Shares) != 1 || v.Call != baseline.Breach || v.Shares[0].Ratio < 1.5 {
		t.Errorf("the newest vote %+v", v)
	}
	fires := x.Step.Fires
	x = at(fired.Add(-3 * time.Hour))
	if s := x.Step; s == nil || s.Stored || s.Score > 0 || s.Fires != fires {
		t.Errorf("three hours before: %+v", s)
	}
	text, _ := runText(t, ExitOK, "explain", "-c", conf, "--store", path, "t0", "--from", fired.Add(-3*time.Hour).Format(time.RFC3339Nano), "--to", fired.Add(-time.Hour).Format(time.RFC3339Nano))
	if !strings.Contains(text, fmt.Sprintf("a score of more than %g is needed", fires)) || strings.Contains(text, "in a row of votes") {
		t.Errorf("%s", text)
	}
}

// TestExplainSaysWhyInWords: no reason is a bare word of the store.
func TestExplainSaysWhyInWords(t *testing.T) {
	for _, why := range []string{noBand, "learning", "first", "cold_start", "client_suspect", "spec", "absent"} {
		if got := whyText(why); got == why || !strings.Contains(got, " ") {
			t.Errorf("%s: %q", why, got)
		}
	}
	if got := whyText("own_words of it"); got != "own words of it" {
		t.Errorf("%q", got)
	}
}

func casebookAt(t *testing.T, path string) casebook {
	t.Helper()
	st, err := openStore(t.Context(), path, t.Output(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() }) // read only
	return casebook{st, nil}
}
