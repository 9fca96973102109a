package incident

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// told lists what a rig's channels were owed: channel:act.
func (r *rig) told() string {
	var list []string
	for _, n := range r.log.notices {
		list = append(list, n.Channel+":"+string(n.Act))
	}
	return strings.Join(list, " ")
}

// routed is a rig whose slow canary turns critical, with routes by severity.
func routed(t *testing.T) (*rig, time.Time) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9)
	r.opt.Channels = []string{"slack", "pager"}
	r.opt.ChannelsFor = NewRoutes([]Route{{Match: map[string]string{"severity": "warning|critical"}, Channels: []string{"slack"}},
		{Match: map[string]string{"severity": "critical", "kind": "ttft"}, Channels: []string{"pager"}}}, r.opt.Channels).Channels
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(40*time.Minute), slower(4))
	return r.start(), begin
}

func TestChannelJoinsWhenSeverityRises(t *testing.T) {
	r, _ := routed(t)
	r.run(3 * time.Hour)
	want := "slack:open slack:update slack:thread pager:open slack:resolve pager:resolve"
	if got := r.told(); got != want {
		t.Fatalf("told %s\nwant %s", got, want)
	}
	joined := r.log.notices[3]
	if !joined.Message.Mention || joined.Message.Severity != Critical || joined.Message.State != "firing" {
		t.Errorf("the joined channel's opening: %+v", joined.Message)
	}
	seen := map[string]bool{}
	for _, n := range r.log.notices {
		key := fmt.Sprint(n.Channel, n.Revision)
		if seen[key] {
			t.Errorf("two notices under the key %s", key)
		}
		seen[key] = true
	}
}

// TestChannelsStay restarts and reloads while an incident is open: it goes on where it was announced.
func TestChannelsStay(t *testing.T) {
	r, begin := routed(t)
	r.run(begin.Add(17 * time.Minute).Sub(r.now)) // opened and escalated
	before := r.told()
	if !strings.HasSuffix(before, "pager:open") {
		t.Fatalf("told %s", before)
	}
	r.opt.ChannelsFor = func(Facts) []string { return []string{"mail"} }
	r.opt.Channels = []string{"mail", "slack", "pager"}
	r.start()
	r.run(3 * time.Hour)
	if got := strings.TrimPrefix(r.told(), before+" "); got != "slack:resolve pager:resolve" {
		t.Errorf("after the restart: %s", got)
	}
}

// TestChannelsGone reloads a config without any of the incident's channels: those that it goes to now begin with an opening.
func TestChannelsGone(t *testing.T) {
	r, begin := routed(t)
	r.run(begin.Add(10 * time.Minute).Sub(r.now))
	if got := r.told(); got != "slack:open" {
		t.Fatalf("told %s", got)
	}
	r.engine.opt.ChannelsFor = nil
	if err := r.engine.Reload(t.Context(), r.watched, []string{"mail"}, DefaultIncident(), r.now); err != nil {
		t.Fatal(err)
	}
	r.run(3 * time.Hour)
	if got := strings.TrimPrefix(r.told(), "slack:open "); got != "mail:open mail:update mail:thread mail:resolve" {
		t.Errorf("after the reload: %s", got)
	}
}

func TestFiringTellsWhatIsOpen(t *testing.T) {
	r, begin := routed(t)
	if got := r.engine.Firing(r.now); len(got) != 0 {
		t.Errorf("before the drift: %+v", got)
	}
	r.run(begin.Add(17 * time.Minute).Sub(r.now))
	owed := len(r.log.notices)
	list := r.engine.Firing(r.now)
	if len(list) != 2 || list[0].Channel != "slack" || list[1].Channel != "pager" || list[0].Incident != r.log.notices[0].Incident {
		t.Fatalf("firing: %+v", list)
	}
	f := list[0].Facts
	if len(f.Alerts) == 0 || f.Alerts[0].Target != "gw" || f.Alerts[0].Scene != "chat" || f.Alerts[0].Size != "short" || f.Incident.Severity != Critical {
		t.Errorf("facts: %+v", f)
	}
	if slices.ContainsFunc(f.Alerts, func(x Fact) bool { return x.Alert.Votes != nil || x.Alert.Calm != nil }) {
		t.Error("facts hold votes")
	}
	if len(r.log.notices) != owed {
		t.Error("asking what fires owes notices")
	}
	r.run(3 * time.Hour)
	if got := r.engine.Firing(r.now); len(got) != 0 {
		t.Errorf("after the end: %+v", got)
	}
}
