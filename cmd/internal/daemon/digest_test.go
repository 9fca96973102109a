package daemon

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert/slack/slacktest"
	"serin/configs"
)

func TestDigestTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	f := func(at time.Duration, now, want string) {
		t.Helper()
		n, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := digestTime(configs.Digest{Zone: berlin, At: at}, n).Format(time.RFC3339); got != want {
			t.Errorf("at %s, %v: %s, want %s", now, at, got, want)
		}
	}
	nine := 9 * time.Hour
	f(nine, "2026-03-28T09:00:00+01:00", "2026-03-28T09:00:00+01:00")
	f(nine, "2026-03-28T08:59:59+01:00", "2026-03-27T09:00:00+01:00")
	f(nine, "2026-03-29T07:30:00Z", "2026-03-29T09:00:00+02:00") // the clocks went forward at night
	f(nine, "2026-10-25T07:59:00Z", "2026-10-24T09:00:00+02:00") // and back
	f(nine, "2026-10-25T08:00:00Z", "2026-10-25T09:00:00+01:00")
	f(2*time.Hour+30*time.Minute, "2026-03-29T12:00:00Z", "2026-03-29T03:30:00+02:00") // 02:30 is not there that day
}

// TestDigestOnce: one digest a day over restarts, also where its time passed while serin was down, and none of a day
// without news.
func TestDigestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml+`info_channel = "#info"
[digest]
at = "09:00"
timezone = "Asia/Tokyo"
`)
		r.llm.Set("m", answering("m-1"))
		r.run(20 * time.Hour)            // to 20:00 UTC; the digest of 00:00 has nothing
		r.llm.Set("m", answering("m-2")) // three canaries see it
		r.run(2 * time.Hour)             // 22:00
		time.Sleep(3 * time.Hour)        // 01:00: the time of the digest has passed
		r.run(4 * time.Hour)             // made up for
		r.run(40 * time.Hour)            // two more of nothing
		var texts []string
		for _, c := range r.slack.Calls() {
			if c.Method == slacktest.Post && strings.Contains(c.Text, "DIGEST") {
				texts = append(texts, c.At.UTC().Format("2 15:04 ")+c.Text)
			}
		}
		if len(texts) != 1 || !strings.HasPrefix(texts[0], "2 01:00 ") || !strings.Contains(texts[0], "3 endpoint changes") {
			t.Errorf("digests %q", texts)
		}
	})
}
