package incident

import (
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// TestAckStopsReminders takes an incident after its first reminder: its thread says who has it, no reminder follows, also
// after a restart, and its end is told.
func TestAckStopsReminders(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(15*time.Hour), slower(2))
	r.run(6 * time.Hour)
	if got, want := r.log.acts(), "open thread"; got != want {
		t.Fatalf("acts before: %q, want %q", got, want)
	}
	id := r.log.notices[0].Incident
	if _, err := r.engine.Ack(t.Context(), "nope", "kim", "", time.Time{}, r.now); err == nil || !strings.Contains(err.Error(), "nope") {
		t.Errorf("ack of no incident: %v", err)
	}
	done, err := r.engine.Ack(t.Context(), id, "kim", "rolling back", time.Time{}, r.now)
	if err != nil || len(done) != 1 || done[0] != id {
		t.Fatalf("ack: %v, %v", done, err)
	}
	if got, want := r.log.acts(), "open thread update thread"; got != want {
		t.Fatalf("acts after the ack: %q, want %q", got, want)
	}
	if m := r.log.notices[3].Message; m.Headline != "acknowledged by kim (rolling back): no more reminders" || m.Mention {
		t.Errorf("thread says %q, mention %t", m.Headline, m.Mention)
	}
	if !strings.Contains(r.log.incidents[id], `"acked":"kim (rolling back)"`) {
		t.Errorf("stored incident %s", r.log.incidents[id])
	}
	r.start().run(18 * time.Hour)
	if got, want := r.log.acts(), "open thread update thread resolve"; got != want {
		t.Errorf("acts at the end: %q, want %q", got, want)
	}
}

// TestAckEnds takes an incident for five hours, over two reminders that would have come: the next comes when they are over,
// after a restart in between, and the message says no more who has it.
func TestAckEnds(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(15*time.Hour), slower(2))
	r.run(2 * time.Hour)
	id := r.log.notices[0].Incident
	if _, err := r.engine.Ack(t.Context(), id, "kim", "", r.now, r.now); err == nil || !strings.Contains(err.Error(), "later") {
		t.Errorf("an end that has passed: %v", err)
	}
	over := r.now.Add(5 * time.Hour)
	if _, err := r.engine.Ack(t.Context(), id, "kim", "looking", over, r.now); err != nil {
		t.Fatal(err)
	}
	if got, want := r.log.notices[2].Message.Headline, "acknowledged by kim (looking), until "+clock(over, r.now, time.UTC)+": no more reminders"; got != want {
		t.Errorf("thread says %q, want %q", got, want)
	}
	r.run(over.Sub(r.now) / 2)
	r.start().run(over.Sub(r.now) - time.Minute)
	if got, want := r.log.acts(), "open update thread"; got != want {
		t.Fatalf("acts while it holds: %q, want %q", got, want)
	}
	r.run(2 * time.Minute)
	if got, want := r.log.acts(), "open update thread update thread"; got != want {
		t.Fatalf("acts when it is over: %q, want %q", got, want)
	}
	for _, n := range r.log.notices[3:] {
		for _, l := range n.Message.Lines {
			if strings.Contains(l.Text, "kim") {
				t.Errorf("%s still says %q", n.Act, l.Text)
			}
		}
	}
	if strings.Contains(r.log.incidents[id], "kim") {
		t.Errorf("stored incident %s", r.log.incidents[id])
	}
}
