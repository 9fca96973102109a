package daemon

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestALostStoreFileIsTold moves the file of a running daemon away and back.
func TestALostStoreFileIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		path := r.cfg.Store.DSN
		time.AfterFunc(time.Minute, func() { _ = os.Rename(path, path+".away") })
		time.AfterFunc(2*time.Minute, func() { _ = os.Rename(path+".away", path) })
		start := time.Now()
		r.run(3 * time.Minute)
		calls := r.slack.Calls()
		if len(calls) == 0 || !strings.Contains(calls[0].Text, "serin cannot write its store") || !strings.Contains(string(calls[0].Blocks), "the file was deleted: put it back") {
			t.Fatalf("messages %v\n%s", calls, r.log.String())
		}
		if after := calls[0].At.Sub(start); after < time.Minute || after > time.Minute+10*time.Second {
			t.Errorf("told %s after the start, want within 10 s of 1m", after)
		}
		if last := calls[len(calls)-1].Text; !strings.Contains(last, "serin can write its store again") {
			t.Errorf("last message %q", last)
		}
	})
}
