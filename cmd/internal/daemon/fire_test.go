package daemon

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/probe"
	"serin/probe/fakellm"
)

const oneLaneToml = `
[instance]
name = "test"
[store]
dsn = %q
[[target]]
name = "gw"
base_url = "http://gw.test/v1"
model = "m"
max_in_flight = 1
first_token_timeout = "30s"
stall_timeout = "300s"
total_timeout = "600s"
[[scene]]
name = "chat"
targets = ["gw"]
short = { schedule = "@every 3s", spread = "0s" }
[slack]
bot_token_file = %q
channel = "#ops"
api_url = "http://slack.test/api/"
`

// skipReasons counts why runs were skipped.
func (r *rig) skipReasons() map[string]int {
	n := map[string]int{}
	for _, s := range r.seen {
		if s.Outcome == probe.Skipped {
			n[s.Reason]++
		}
	}
	return n
}

// TestSlowIsNoTimeout answers after 20 s where 30 s are allowed, on a schedule of 3 s with room for one: the runs that find
// no room are no timeouts, and as answers keep coming no data are missing either.
func TestSlowIsNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneLaneToml)
		r.llm.Set("m", calm(20*time.Second, 20*time.Millisecond))
		r.run(10 * time.Minute)
		n := r.skipReasons()
		if n[probe.ReasonInFlight] < 100 || n[probe.ReasonOverlap] != 0 {
			t.Errorf("skipped: %v, want in_flight alone", n)
		}
		for _, k := range []alert.Kind{alert.KindTimeout, alert.KindError, alert.KindNoData} {
			if strings.Contains(r.log.String(), "kind="+string(k)+" from=") {
				t.Errorf("an alert of kind %s:\n%s", k, r.log.String())
			}
		}
	})
}

// TestALongAnswerIsNoTimeout lets answers flow for 110 s, at a token a second: that is longer than a first token may take,
// but no hang, so that the runs they keep out are no timeouts.
func TestALongAnswerIsNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneLaneToml)
		script := []fakellm.Step{fakellm.Role()}
		for range 110 {
			script = append(script, fakellm.Sleep(time.Second), fakellm.Tok("a"))
		}
		r.llm.Set("m", fakellm.Behaviour{Script: append(script, fakellm.Fin("stop"), fakellm.Usage(110), fakellm.Done())})
		r.run(10 * time.Minute)
		if n := r.skipReasons(); n[probe.ReasonInFlight] < 100 || n[probe.ReasonOverlap] != 0 {
			t.Errorf("skipped: %v, want in_flight alone", n)
		}
		if ok := slices.ContainsFunc(r.seen, func(s probe.Sample) bool { return s.Outcome == probe.OK }); !ok || strings.Contains(r.log.String(), "kind=timeout from=") {
			t.Errorf("an answer came: %t\n%s", ok, r.log.String())
		}
	})
}

// TestAHangIsATimeout stalls after the first token: once a run has been silent for longer than a first token may take, the
// runs that it keeps out are timeouts.
func TestAHangIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, oneLaneToml)
		r.llm.Set("m", fakellm.Behaviour{Script: []fakellm.Step{fakellm.Role(), fakellm.Sleep(time.Second), fakellm.Tok("a"), fakellm.Silence()}})
		r.run(2 * time.Minute)
		first := slices.IndexFunc(r.seen, func(s probe.Sample) bool { return s.Reason == probe.ReasonOverlap })
		if n := r.skipReasons(); first < 0 || n[probe.ReasonInFlight] < 5 {
			t.Fatalf("skipped: %v", n)
		}
		if !strings.Contains(r.log.String(), "kind=timeout from=pending to=firing") {
			t.Errorf("no timeout alert:\n%s", r.log.String())
		}
	})
}

const sharedLanesToml = `
[instance]
name = "test"
[store]
dsn = %q
[[provider]]
name = "p"
base_url = "http://gw.test/v1"
max_in_flight = 2
first_token_timeout = "25s"
[[target]]
name = "h1"
provider = "p"
model = "hang"
[[target]]
name = "h2"
provider = "p"
model = "hang"
[[target]]
name = "v"
provider = "p"
model = "m"
[[scene]]
name = "chat"
targets = ["*"]
short = { schedule = "@every 5s", spread = "0s" }
[slack]
bot_token_file = %q
channel = "#ops"
api_url = "http://slack.test/api/"
`

// TestACanaryWithoutRoomIsTold hangs two targets that take all lanes of their provider for good: the third is not watched,
// and that is said.
func TestACanaryWithoutRoomIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, strings.Replace(sharedLanesToml, `"25s"`, `"600s"`, 1))
		r.llm.Set("hang", fakellm.Behaviour{Script: []fakellm.Step{fakellm.Silence()}})
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		r.run(3 * time.Minute)
		begun := slices.ContainsFunc(r.seen, func(s probe.Sample) bool { return s.Target == "v" && s.Outcome != probe.Skipped })
		if !begun && !strings.Contains(r.log.String(), "series=v/chat/short kind=no_data from=pending to=firing") {
			t.Errorf("v was never probed, and nobody was told:\n%s", r.log.String())
		}
		if begun {
			t.Error("v found room: the test tries nothing")
		}
		var texts strings.Builder
		for _, c := range r.slack.Calls() {
			fmt.Fprintln(&texts, c)
		}
		if want := "no room: max_in_flight of provider p is taken by runs that hang"; !strings.Contains(texts.String(), want) {
			t.Errorf("messages %q, want %q in them", texts.String(), want)
		}
	})
}

// A slow answer does not thin the schedule unseen: every run that found no room is a stored sample.
func TestB36SlowAnswersAreNotOmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toml := strings.NewReplacer(`model = "m"`, "model = \"m\"\nmax_in_flight = 1\nfirst_token_timeout = \"90s\"", `short = "*/5 * * * *"`, `short = { schedule = "@every 10s", spread = "0s" }`,
			`medium = "*/15 * * * *"`, "", `long = "0 * * * *"`, "").Replace(rigToml)
		r := newRig(t, toml)
		r.llm.Set("m", calm(60*time.Second, time.Millisecond))
		r.run(65 * time.Second)
		skipped, answered := 0, 0
		for _, s := range r.seen {
			switch s.Outcome {
			case probe.Skipped:
				skipped++
			case probe.OK:
				answered++
			}
		}
		// The first run is due at 10 s and answers 60 s later, after the end; runs due from 20 s to 50 s give up after 10 s each.
		if skipped < 3 || skipped+answered < 4 {
			t.Errorf("%d skipped and %d answered samples of the runs of a minute", skipped, answered)
		}
	})
}
