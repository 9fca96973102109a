package daemon

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/cmd/internal/web"
)

// TestAckInADaemon acknowledges an incident of a target that is down, by the order that command and API send.
func TestAckInADaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		r.unplug(0, 2*time.Hour, "gw.test")
		r.start = func(d *Daemon) {
			time.AfterFunc(time.Hour, func() {
				open := d.incidents.Status().Incidents
				if len(open) != 1 {
					t.Errorf("%d incidents are open", len(open))
					return
				}
				done, err := admin{d}.adminCommand(t.Context(), web.Order{Do: web.OrderAck, Pattern: open[0].ID, Who: "kim"})
				if err != nil || len(done) != 1 || done[0] != open[0].ID {
					t.Errorf("ack: %v, %v", done, err)
				}
				if _, err := (admin{d}).adminCommand(t.Context(), web.Order{Do: web.OrderAck, Pattern: "gw", Who: "kim"}); err == nil {
					t.Error("the name of a target was taken for an incident's id")
				}
			})
		}
		r.run(90 * time.Minute)
		said := 0
		for _, c := range r.slack.Calls() {
			if c.Thread != "" && strings.Contains(c.Text, "acked by kim: no more reminders") {
				said++
			}
		}
		if said != 1 {
			t.Errorf("the thread says %d times who has it\n%s", said, r.log.String())
		}
	})
}
