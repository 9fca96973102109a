package daemon

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/cmd/internal/web"
	"serin/probe"
)

// posts lists the messages that begin no thread line.
func (r *rig) posts() (texts []string) {
	for _, c := range r.slack.Calls() {
		if c.Thread == "" && c.Text != "" {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

// TestSilenceInADaemon silences a target that is down, over a restart: nothing is sent until the silence ends, and then
// that it is down, with the mark that was set before.
func TestSilenceInADaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		r.unplug(10*time.Minute, 4*time.Hour, "gw.test")
		var made alert.Silence
		r.start = func(d *Daemon) {
			m, err := alert.ParseMatcher("target=gw")
			if err != nil {
				t.Error(err)
			}
			s := alert.Silence{Match: alert.Matchers{m}, Ends: time.Now().Add(90 * time.Minute), Reason: "drill", By: "kim"}
			var canaries []string
			if made, canaries, err = (markWriter{d}).Silence(t.Context(), s); err != nil || len(canaries) != 3 {
				t.Errorf("silence: %v, %v", canaries, err)
			}
			if _, err := (markWriter{d}).Mark(t.Context(), alert.Mark{Text: "vllm 0.13", By: "ci"}); err != nil {
				t.Error(err)
			}
			if _, err := (markWriter{d}).Expire(t.Context(), "nope", "kim"); !errors.Is(err, web.ErrNotFound) || strings.Contains(err.Error(), "not found") {
				t.Errorf("expire of none: %v", err)
			}
			time.AfterFunc(40*time.Minute, func() {
				st, err := api{d}.status(t.Context())
				if err != nil || len(st.Silences) != 1 || st.Silences[0].State != "active" {
					t.Errorf("status %+v, %v", st.Silences, err)
				}
				for _, c := range st.Canaries {
					if strings.HasSuffix(c.Canary, "short") && !strings.HasPrefix(c.Muted[alert.KindError], "silenced by kim until 01:30") {
						t.Errorf("%s is muted by %q", c.Canary, c.Muted)
					}
				}
			})
		}
		r.run(time.Hour)
		if got := r.posts(); len(got) != 0 {
			t.Fatalf("sent under the silence: %q", got)
		}
		r.start = nil
		r.run(29 * time.Minute)
		if got := r.posts(); len(got) != 0 {
			t.Fatalf("sent under the silence after a restart: %q", got)
		}
		r.run(2 * time.Minute)
		got := r.posts()
		if len(got) != 1 || !strings.Contains(got[0], "CRITICAL  gw") {
			t.Fatalf("after %s: %q", made.Ends, got)
		}
	})
}

// TestRestInADaemon probes nothing in a window with probe = false: its runs are skipped with their reason, which is no
// missing data.
func TestRestInADaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml+"[[maintenance]]\nname = \"w\"\nmatch = { size = \"short|medium\" }\nprobe = false\nfrom = \"2000-01-01 01:00\"\nuntil = \"2000-01-01 02:00\"\n")
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		r.run(3 * time.Hour)
		rested, sent, long := 0, 0, 0
		from := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)
		for _, s := range r.seen {
			inside := !s.Time.Before(from) && s.Time.Before(from.Add(time.Hour))
			switch {
			case s.Outcome == probe.Skipped && s.Reason == probe.ReasonMaintenance && inside:
				rested++
			case inside && s.Size == probe.Long:
				long++
			case inside:
				sent++
			case s.Outcome != probe.OK:
				t.Errorf("outside: %s %s %s", s.Time, s.Outcome, s.Reason)
			}
		}
		if rested != 12+4 || sent != 0 || long != 1 {
			t.Errorf("%d rested, want 16; %d sent; %d long, want 1", rested, sent, long)
		}
		if got := r.posts(); len(got) != 0 {
			t.Errorf("sent %q", got)
		}
	})
}
