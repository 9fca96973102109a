package daemon

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/alert/slack/slacktest"
	"serin/baseline/store"
	"serin/probe/fakellm"
)

// answering is calm, the last chunk naming the model.
func answering(model string) fakellm.Behaviour {
	b := calm(200*time.Millisecond, 20*time.Millisecond)
	b.Script = slices.Insert(b.Script, len(b.Script)-1, fakellm.E(fmt.Sprintf(`{"model":%q,"choices":[]}`, model)))
	return b
}

// A new model is in log and history, once a canary, and in the digest of an info_channel; a change while serin is down
// is seen at its next start; no alert comes of it.
func TestChangesAreToldQuietly(t *testing.T) {
	for _, info := range []string{"", `info_channel = "#info"`} {
		t.Run(info, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, rigToml+info)
				r.llm.Set("m", answering("m-1"))
				time.AfterFunc(3*time.Hour, func() { r.llm.Set("m", answering("m-2")) })
				r.run(6 * time.Hour)
				r.llm.Set("m", answering("m-3"))
				r.run(6 * time.Hour)
				if n := strings.Count(r.log.String(), "endpoint changed"); n != 6 {
					t.Errorf("%d lines in the log, want 6: three canaries, two changes\n%s", n, r.log.String())
				}
				rows := r.storedChanges(t)
				if len(rows) != 6 || rows[0].Kind != alert.KindChange || rows[0].To != "model_changed" || !strings.Contains(rows[5].Reason, `"m-3", before as "m-2"`) {
					t.Errorf("history %+v", rows)
				}
				var posts []string
				for _, c := range r.slack.Calls() {
					if c.Method == slacktest.Post {
						posts = append(posts, c.At.UTC().Format("15:04")+" "+c.Room+" "+c.Text)
					}
				}
				want := "09:00 #info :large_blue_circle: DIGEST  non-paging findings, 00:00 to 09:00 +00:00: 6 endpoint changes"
				if got := strings.Join(posts, "\n"); got != map[bool]string{true: want}[info != ""] {
					t.Errorf("messages %q, want %q", got, want)
				}
			})
		})
	}
}

// storedChanges returns the stored changes, oldest first.
func (r *rig) storedChanges(t *testing.T) (rows []alert.Transition) {
	t.Helper()
	st, err := store.Open(t.Context(), r.cfg.Store.DSN, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	all, err := st.Transitions(t.Context(), store.TransitionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if x.Kind == alert.KindChange {
			rows = append(rows, x)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}
