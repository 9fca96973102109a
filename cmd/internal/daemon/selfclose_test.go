package daemon

import (
	"testing"
	"time"

	"serin/alert"
)

// TestSelfEnds ends only serin's own openings that no resolve followed, each once, under a new revision.
func TestSelfEnds(t *testing.T) {
	n := func(incident string, revision int, act alert.Act, state alert.NoticeState) alert.Notice {
		return alert.Notice{Incident: incident, Channel: "slack", Revision: revision, Act: act, State: state, Message: alert.Message{Headline: "h"}}
	}
	now := time.Unix(1_800_000_000, 0)
	got := selfEnds([]alert.Notice{
		n("self-store-1", 1, alert.ActOpen, alert.NoticeSent), n("self-store-1", 2, alert.ActResolve, alert.NoticeSent),
		n("self-clock-2", 1, alert.ActOpen, alert.NoticeSent),
		n("self-gone-3", 1, alert.ActOpen, alert.NoticeDropped),
		n("7b23", 1, alert.ActOpen, alert.NoticeSent),
	}, now)
	if len(got) != 2 || got[0].Incident != "self-clock-2" || got[0].Act != alert.ActOpen {
		t.Fatalf("notices %+v, want the opening of self-clock-2 and its end", got)
	}
	if end := got[1]; end.Incident != "self-clock-2" || end.Act != alert.ActResolve || end.Revision != 2 || end.State != alert.NoticePending || !end.Created.Equal(now) {
		t.Errorf("end %+v", end)
	}
}
