package incident_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/alert/incident"
	"serin/probe"
)

var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// house is a scripted engine with the incidents that read it, and a store of what they returned.
type house struct {
	t         *testing.T
	now       time.Time
	opt       incident.Options
	windows   []alert.Maintenance
	targets   []alert.Target
	firing    map[string]alert.Alert
	incidents *incident.Incidents
	stored    map[string]alert.Incident
	alerts    map[string]alert.Alert
	silences  map[string]alert.Silence
	blobs     map[string]alert.Blob
	notices   []alert.Notice
}

var _ incident.Engine = (*house)(nil)

// newHouse watches targets "name" or "name=provider", each with the canaries short, medium and long of the scene chat.
func newHouse(t *testing.T, targets ...string) *house {
	h := &house{t: t, now: start, firing: map[string]alert.Alert{}, stored: map[string]alert.Incident{}, alerts: map[string]alert.Alert{},
		silences: map[string]alert.Silence{}, blobs: map[string]alert.Blob{}}
	h.opt = incident.Options{IncidentOptions: alert.DefaultIncident(), Channels: []string{"slack"}}
	scene := &probe.Scene{Name: "chat"}
	for _, spec := range targets {
		name, provider, _ := strings.Cut(spec, "=")
		target := &probe.Target{Name: name, Provider: provider, BaseURL: "https://" + name + ".example/v1"}
		v := alert.Target{Target: target}
		for _, size := range probe.Sizes() {
			v.Canaries = append(v.Canaries, alert.CanaryStatus{Canary: &probe.Canary{Target: target, Scene: scene, Size: size}, States: map[alert.Kind]alert.State{}})
		}
		h.targets = append(h.targets, v)
	}
	h.restart()
	return h
}

func (h *house) Targets() []alert.Target { return h.targets }

func (h *house) Firing(target string) (list []alert.Alert) {
	for _, id := range slices.Sorted(maps.Keys(h.firing)) {
		if a := h.firing[id]; target == "" || a.Target() == target {
			list = append(list, a)
		}
	}
	return list
}

func (h *house) Recent(string, alert.Kind, time.Time) alert.Recent { return alert.Recent{} }

// restart makes the incidents anew from what they had stored.
func (h *house) restart() {
	h.incidents = incident.New(h.opt)
	h.incidents.Configure(h.opt, h.windows)
	snap := alert.Snapshot{Incidents: slices.Collect(maps.Values(h.stored)), Silences: slices.Collect(maps.Values(h.silences)),
		Blobs: slices.Collect(maps.Values(h.blobs)), Alerts: slices.Collect(maps.Values(h.alerts))}
	h.incidents.Load(snap, h, h.now)
}

func (h *house) keep(told alert.Told) {
	for _, inc := range told.Incidents {
		h.stored[inc.ID] = inc
	}
	for _, s := range told.Silences {
		h.silences[s.ID] = s
	}
	for _, b := range told.State {
		h.blobs[b.Key] = b
	}
	h.notices = append(h.notices, told.Notices...)
}

// set makes an alert of a series fire, rise, recover or end, and tells the incidents.
func (h *house) set(series string, k alert.Kind, state alert.State, s alert.Severity) {
	h.t.Helper()
	id := series + "/" + string(k)
	a, was := h.firing[id]
	from := alert.StateOK
	if was {
		from = a.State
	} else {
		a = alert.Alert{ID: fmt.Sprintf("%s@%d", id, h.now.Unix()), Series: series, Kind: k, FirstBreach: h.now, Fired: h.now}
	}
	tr := alert.Transition{At: h.now, Series: series, Kind: k, From: from, To: state, Alert: a.ID}
	if was && from == state && a.Severity != s {
		tr.Event = alert.EventSeverity
	}
	a.State, a.Severity, a.LastBreach = state, s, h.now
	h.firing[id] = a
	if !state.IsFiring() {
		a.Resolved = h.now
		delete(h.firing, id)
	}
	tr.After = &a
	h.alerts[a.ID] = a
	for n, t := range h.targets {
		for c := range t.Canaries {
			if t.Canaries[c].Key() == series {
				h.targets[n].Canaries[c].States[k] = state
			}
		}
	}
	h.keep(h.incidents.Update([]alert.Transition{tr}, h.now))
}

func (h *house) fire(series string, k alert.Kind) { h.set(series, k, alert.StateFiring, alert.Warning) }
func (h *house) end(series string, k alert.Kind)  { h.set(series, k, alert.StateOK, "") }

// pass lets time go by with a tick every 5 s.
func (h *house) pass(d time.Duration) {
	for end := h.now.Add(d); h.now.Before(end); {
		h.now = h.now.Add(5 * time.Second)
		h.keep(h.incidents.Tick(nil, h.now))
	}
}

// sent returns the notices since the last call: act, "!" with a mention, "*" where it pages, severity, and the number of the incident.
func (h *house) sent() string {
	var list []string
	order := slices.SortedFunc(maps.Values(h.stored), func(a, b alert.Incident) int { return strings.Compare(a.Opened.String()+a.ID, b.Opened.String()+b.ID) })
	for _, n := range h.notices {
		text := string(n.Act)
		if n.Message.Mention {
			text += "!"
		}
		if n.Pages {
			text += "*"
		}
		nr := slices.IndexFunc(order, func(i alert.Incident) bool { return i.ID == n.Incident })
		list = append(list, fmt.Sprintf("%s %s %d", text, n.Facts.Incident.Severity, nr+1))
	}
	h.notices = nil
	return strings.Join(list, ", ")
}

func (h *house) want(what, want string) {
	h.t.Helper()
	if got := h.sent(); got != want {
		h.t.Errorf("%s: sent %q, want %q", what, got, want)
	}
}

func TestOpensAfterGroupWaitAndResolves(t *testing.T) {
	h := newHouse(t, "gw")
	h.fire("gw/chat/short", alert.KindTTFT)
	h.pass(25 * time.Second)
	h.want("before group_wait ends", "")
	h.pass(5 * time.Second)
	h.want("group_wait", "open!* warning 1")
	h.set("gw/chat/short", alert.KindTTFT, alert.StateRecovering, alert.Warning)
	h.pass(time.Minute)
	h.want("the first calm check", "update warning 1")
	h.end("gw/chat/short", alert.KindTTFT)
	h.want("the end", "resolve* warning 1")
}

func TestEndsSilentlyWithinGroupWait(t *testing.T) {
	h := newHouse(t, "gw")
	h.fire("gw/chat/short", alert.KindTTFT)
	h.pass(10 * time.Second)
	h.end("gw/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.want("an alert that is over before anybody heard of it", "")
}

func TestCriticalWaitsTenSeconds(t *testing.T) {
	h := newHouse(t, "gw")
	h.set("gw/chat/short", alert.KindError, alert.StateFiring, alert.Critical)
	h.pass(10 * time.Second)
	h.want("critical", "open!* critical 1")
}

func TestEscalationMentionsAndPages(t *testing.T) {
	h := newHouse(t, "gw")
	h.fire("gw/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.sent()
	h.set("gw/chat/short", alert.KindTTFT, alert.StateFiring, alert.Critical)
	h.want("escalation", "update critical 1, thread!* critical 1")
}

func TestInfoJoinsOnceItRises(t *testing.T) {
	h := newHouse(t, "gw")
	h.set("gw/chat/long", alert.KindTTFT, alert.StateFiring, alert.Info)
	h.pass(30 * time.Minute)
	h.want("info", "")
	h.set("gw/chat/long", alert.KindTTFT, alert.StateFiring, alert.Warning)
	h.pass(30 * time.Second)
	h.want("once it is a warning", "open!* warning 1")
}

func TestGroups(t *testing.T) {
	f := func(by string, key bool, want string, targets ...string) {
		t.Helper()
		h := newHouse(t, targets...)
		h.opt.GroupBy = by
		h.restart()
		for n, v := range h.targets {
			v.BaseURL = "https://shared.example/v1"
			if n == len(h.targets)-1 {
				v.BaseURL = "https://other.example:8443/v1"
			}
			kind := alert.KindTTFT
			if key {
				kind = alert.KindError
			}
			h.fire(v.Name+"/chat/short", kind)
		}
		h.pass(time.Minute)
		var groups []string
		for _, inc := range h.stored {
			groups = append(groups, fmt.Sprintf("%s:%d", inc.Group, len(inc.Members)))
		}
		slices.Sort(groups)
		if got := strings.Join(groups, " "); got != want {
			t.Errorf("%s %v: groups %q, want %q", by, targets, got, want)
		}
	}
	f("provider", false, "host/other.example:8443:1 provider/acme:2", "a=acme", "b=acme", "c")
	f("provider", false, "host/other.example:8443:1 host/shared.example:2", "a", "b", "c")
	f("target", false, "target/a:1 target/b:1", "a=acme", "b=acme")
}

func TestTargetsOfAProviderAreOneMessage(t *testing.T) {
	h := newHouse(t, "a=acme", "b=acme", "c=acme")
	h.fire("a/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.want("the first", "open!* warning 1")
	h.fire("b/chat/short", alert.KindTTFT)
	h.fire("b/chat/long", alert.KindTTFT)
	h.pass(time.Minute)
	h.want("it grows to several targets", "update warning 1, thread* warning 1")
	h.fire("c/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.want("a third one", "update warning 1, thread warning 1")
	h.end("a/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.want("one recovers", "update warning 1, thread warning 1")
	for _, s := range []string{"b/chat/short", "b/chat/long", "c/chat/short"} {
		h.end(s, alert.KindTTFT)
	}
	h.want("all have", "resolve* warning 1")
}

func TestRefusedKeyIsOneIncidentACredential(t *testing.T) {
	h := newHouse(t, "a=acme", "b=acme")
	for _, name := range []string{"a", "b"} {
		h.set(name+"/chat/short", alert.KindError, alert.StateFiring, alert.Critical)
	}
	refused := newHouse(t, "a=acme", "b=acme")
	for _, name := range []string{"a", "b"} {
		id := name + "/chat/short/error"
		refused.firing[id] = alert.Alert{ID: id, Series: name + "/chat/short", Kind: alert.KindError, State: alert.StateFiring, Severity: alert.Critical,
			Fired: refused.now, Last: alert.Evidence{Outcome: probe.Auth}}
	}
	refused.fire("a/chat/long", alert.KindTTFT)
	refused.pass(time.Minute)
	var groups []string
	for _, inc := range refused.stored {
		groups = append(groups, fmt.Sprintf("%s:%d", strings.SplitN(inc.Group, "/", 2)[0], len(inc.Members)))
	}
	slices.Sort(groups)
	if got := strings.Join(groups, " "); got != "credential:2 provider:1" {
		t.Errorf("groups %q, want the refused key apart from what is slow", got)
	}
}

func TestFiresAgainReopens(t *testing.T) {
	h := newHouse(t, "gw")
	cycle := func() {
		h.fire("gw/chat/short", alert.KindTTFT)
		h.pass(time.Minute)
		h.end("gw/chat/short", alert.KindTTFT)
		h.pass(20 * time.Minute)
	}
	cycle()
	h.want("once", "open!* warning 1, resolve* warning 1")
	cycle()
	h.want("again within 30 min", "reopen!* warning 1, resolve* warning 1")
	h.fire("gw/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.want("the third time", "reopen!* warning 1")
	h.end("gw/chat/short", alert.KindTTFT)
	h.pass(25 * time.Minute)
	h.want("it stays open", "update warning 1")
	h.fire("gw/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.want("the fourth time", "update warning 1, thread warning 1")
	h.end("gw/chat/short", alert.KindTTFT)
	h.pass(31 * time.Minute)
	h.want("after 30 calm minutes", "update warning 1, resolve* warning 1")
	h.pass(40 * time.Minute)
	h.fire("gw/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.want("later than reopen_within", "open!* warning 2")
}

func TestDownInhibitsSlow(t *testing.T) {
	h := newHouse(t, "gw")
	h.set("gw/chat/short", alert.KindError, alert.StateFiring, alert.Warning)
	h.fire("gw/chat/short", alert.KindTTFT)
	h.fire("gw/chat/long", alert.KindTTFT)
	h.pass(time.Minute)
	h.want("the error and the slowness of another canary", "open!* warning 1")
	inc := h.incidents.Status().Incidents[0]
	if got := len(inc.Members); got != 2 {
		t.Errorf("%d members, want the error and the long canary's TTFT", got)
	}
	h.end("gw/chat/short", alert.KindError)
	h.pass(time.Minute)
	if got := len(h.incidents.Status().Incidents[0].Members); got != 3 {
		t.Errorf("%d members after the error ended, want the inhibited alert to have joined", got)
	}
}

func TestSilence(t *testing.T) {
	h := newHouse(t, "gw")
	matchers := alert.Matchers{{Name: "target", Pattern: "gw"}}
	told, s, keys, err := h.incidents.Silence(alert.Silence{Match: matchers, Ends: h.now.Add(time.Hour), Reason: "new GPUs", By: "kim"}, h.now)
	if err != nil || len(keys) != 3 {
		t.Fatalf("silence: %v, matches %v", err, keys)
	}
	h.keep(told)
	h.fire("gw/chat/short", alert.KindTTFT)
	h.pass(30 * time.Minute)
	h.want("silenced", "")
	told, _, err = h.incidents.Expire(s.ID, "kim", h.now)
	if err != nil {
		t.Fatal(err)
	}
	h.keep(told)
	h.want("the silence ended: what fires still is sent at once", "open!* warning 1")
	told, _, _, _ = h.incidents.Silence(alert.Silence{Match: matchers, Ends: h.now.Add(5 * time.Hour), Reason: "again", By: "kim"}, h.now)
	h.keep(told)
	h.pass(4*time.Hour + time.Minute)
	h.want("a known incident is edited, and not reminded of", "update warning 1")
	h.end("gw/chat/short", alert.KindTTFT)
	h.want("its end is sent", "resolve* warning 1")
}

func TestSilenceNamesTheFix(t *testing.T) {
	h := newHouse(t, "gw")
	_, _, _, err := h.incidents.Silence(alert.Silence{Match: alert.Matchers{{Name: "tarject", Pattern: "gw"}}, Ends: h.now.Add(time.Hour), Reason: "x", By: "kim"}, h.now)
	if err == nil || !strings.Contains(err.Error(), "there are severity, kind, target") {
		t.Errorf("error %v, want the names that can be matched", err)
	}
}

func TestMaintenanceEnds(t *testing.T) {
	h := newHouse(t, "gw")
	end := start.Add(time.Hour)
	h.windows = []alert.Maintenance{{Name: "gpu-night", Next: func(after time.Time) (time.Time, time.Time, bool) {
		return start, end, after.Before(end)
	}}}
	h.restart()
	h.fire("gw/chat/short", alert.KindTTFT)
	h.fire("gw/chat/long", alert.KindTTFT)
	h.pass(30 * time.Minute)
	h.end("gw/chat/long", alert.KindTTFT)
	h.pass(29 * time.Minute)
	h.want("inside the window", "")
	h.pass(2 * time.Minute)
	h.want("what fires still at its end", "open!* warning 1")
}

func TestAckStopsReminders(t *testing.T) {
	h := newHouse(t, "gw")
	h.set("gw/chat/short", alert.KindError, alert.StateFiring, alert.Critical)
	h.pass(4*time.Hour + time.Minute)
	h.want("the opening and a reminder after 4 h", "open!* critical 1, thread* critical 1")
	id := h.incidents.Status().Incidents[0].ID
	for _, who := range []string{"kim", "lee"} {
		told, err := h.incidents.Ack(id, who, "looking", time.Time{}, h.now)
		if err != nil {
			t.Fatal(err)
		}
		h.keep(told)
	}
	h.want("acks", "update critical 1, thread critical 1, update critical 1, thread critical 1")
	if got, want := h.incidents.Status().Incidents[0].Acked, "kim (looking); lee (looking)"; got != want {
		t.Errorf("acked by %q, want %q: the second adds to the first", got, want)
	}
	h.pass(9 * time.Hour)
	h.want("after the ack", "")
	if _, err := h.incidents.Ack("nope", "kim", "", time.Time{}, h.now); err == nil {
		t.Error("an unknown incident was acknowledged")
	}
}

func TestRemindersOfWhatIsOnlySlow(t *testing.T) {
	h := newHouse(t, "gw")
	h.fire("gw/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.sent()
	var at []time.Duration
	for h.now.Before(start.Add(61 * time.Hour)) {
		h.pass(time.Minute)
		if h.sent() != "" {
			at = append(at, h.now.Sub(start).Round(time.Hour))
		}
	}
	if want := []time.Duration{4 * time.Hour, 12 * time.Hour, 36 * time.Hour, 60 * time.Hour}; !slices.Equal(at, want) {
		t.Errorf("reminders at %v, want %v", at, want)
	}
}

func TestRestartChangesNothing(t *testing.T) {
	script := func(h *house, restart func()) {
		h.fire("a/chat/short", alert.KindTTFT)
		restart()
		h.pass(time.Minute)
		restart()
		h.fire("b/chat/short", alert.KindTTFT)
		restart()
		h.pass(time.Minute)
		h.set("b/chat/short", alert.KindTTFT, alert.StateFiring, alert.Critical)
		restart()
		h.end("a/chat/short", alert.KindTTFT)
		restart()
		h.pass(time.Minute)
		h.end("b/chat/short", alert.KindTTFT)
		restart()
		h.pass(10 * time.Minute)
		h.fire("a/chat/short", alert.KindTTFT)
		restart()
		h.pass(5 * time.Hour)
	}
	plain, restarted := newHouse(t, "a=acme", "b=acme"), newHouse(t, "a=acme", "b=acme")
	script(plain, func() {})
	script(restarted, restarted.restart)
	if got, want := restarted.sent(), plain.sent(); got != want {
		t.Errorf("with restarts sent\n%s\nwithout\n%s", got, want)
	}
}

func TestChannelsJoinWithSeverity(t *testing.T) {
	h := newHouse(t, "gw")
	h.opt.Channels = []string{"team", "pager"}
	h.opt.Route = alert.NewRoutes([]alert.Route{{Match: map[string]string{"severity": "critical"}, Channels: []string{"team", "pager"}},
		{Match: map[string]string{"severity": "warning"}, Channels: []string{"team"}}}, h.opt.Channels).Channels
	h.restart()
	h.fire("gw/chat/short", alert.KindTTFT)
	h.pass(time.Minute)
	h.set("gw/chat/short", alert.KindTTFT, alert.StateFiring, alert.Critical)
	var list []string
	for _, n := range h.notices {
		list = append(list, n.Channel+" "+string(n.Act))
	}
	if got, want := strings.Join(list, ", "), "team open, team update, pager open, team thread, pager thread"; got != want {
		t.Errorf("notices %q, want %q", got, want)
	}
}

func TestModelChangeIsAMark(t *testing.T) {
	h := newHouse(t, "gw")
	tr := alert.Transition{At: h.now, Series: "gw", Event: alert.EventModel, Reason: "answers as model b"}
	first := h.incidents.Update([]alert.Transition{tr}, h.now)
	second := h.incidents.Update([]alert.Transition{tr}, h.now.Add(time.Minute))
	if len(first.Marks) != 1 || first.Marks[0].By != "serin" || len(second.Marks) != 0 {
		t.Errorf("marks %v, then %v: want one, set once", first.Marks, second.Marks)
	}
}
