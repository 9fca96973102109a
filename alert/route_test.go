package alert

import (
	"slices"
	"testing"

	"serin/probe"
)

func routeFacts(severity Severity, list ...Fact) Facts {
	return Facts{Incident: Incident{ID: "7f3k", Severity: severity}, Alerts: list}
}

func firingFact(kind Kind, target, scene, size string) Fact {
	return Fact{Alert: Alert{Kind: kind, State: StateFiring}, Target: target, Scene: scene, Size: size, Scenes: []string{"chat", "batch"},
		Labels: map[string]string{"team": "search/eu"}}
}

func TestRoutes(t *testing.T) {
	all := []string{"slack", "pager", "mail"}
	slow := firingFact(KindTTFT, "gw-eu", "chat", string(probe.Long))
	f := func(match map[string]string, facts Facts, want bool) {
		t.Helper()
		got := NewRoutes([]Route{{Match: match, Channels: []string{"pager"}}}, all).Channels(facts)
		expect := all
		if want {
			expect = []string{"pager"}
		}
		if !slices.Equal(got, expect) {
			t.Errorf("%v: channels %v, want %v", match, got, expect)
		}
	}
	f(nil, routeFacts(Warning, slow), true)
	f(map[string]string{"severity": "critical"}, routeFacts(Warning, slow), false)
	f(map[string]string{"severity": "critical"}, routeFacts(Critical), true)
	f(map[string]string{"severity": "warning | critical"}, routeFacts(Warning, slow), true)
	f(map[string]string{"kind": "ttft", "target": "gw-*", "scene": "chat", "size": "long"}, routeFacts(Warning, slow), true)
	f(map[string]string{"kind": "tpot|timeout"}, routeFacts(Warning, slow), false)
	f(map[string]string{"target": "us-*"}, routeFacts(Warning, slow), false)
	f(map[string]string{"team": "search*"}, routeFacts(Warning, slow), true) // a star runs over slashes
	f(map[string]string{"team": "ads"}, routeFacts(Warning, slow), false)
	f(map[string]string{"tier": "*"}, routeFacts(Warning, slow), true) // * matches no label too
	f(map[string]string{"tier": "?*"}, routeFacts(Warning, slow), false)

	// All patterns of alerts hold for one and the same alert.
	both := routeFacts(Warning, firingFact(KindTTFT, "gw-eu", "chat", "short"), firingFact(KindError, "gw-eu", "batch", "long"))
	f(map[string]string{"kind": "ttft", "scene": "batch"}, both, false)
	f(map[string]string{"kind": "error", "scene": "batch"}, both, true)

	// A whole target stands for its scenes and sizes.
	whole := firingFact(KindTimeout, "gw-eu", "", "")
	f(map[string]string{"scene": "batch", "size": "medium"}, routeFacts(Critical, whole), true)
	f(map[string]string{"scene": "support"}, routeFacts(Critical, whole), false)

	// What is over or held back chooses nothing.
	over, held := slow, slow
	over.Alert.State, held.Inhibited = StateOK, "timeout"
	f(map[string]string{"kind": "ttft"}, routeFacts(Warning, over), false)
	f(map[string]string{"kind": "ttft"}, routeFacts(Warning, held), false)
}

func TestRoutesAddUp(t *testing.T) {
	all := []string{"a", "b", "c"}
	list := []Route{{Match: map[string]string{"kind": "ttft"}, Channels: []string{"c"}}, {Channels: []string{"a", "c"}}}
	if got := NewRoutes(list, all).Channels(routeFacts(Warning, firingFact(KindTTFT, "x", "chat", "short"))); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("two routes: %v", got)
	}
	if got := NewRoutes(nil, all).Channels(routeFacts(Warning)); !slices.Equal(got, all) {
		t.Errorf("no routes: %v", got)
	}
	if got := NewRoutes(list[:1], all).Channels(routeFacts(Warning, firingFact(KindError, "x", "", ""))); !slices.Equal(got, all) {
		t.Errorf("no route matches: %v, want all: nothing is silent by accident", got)
	}
}

func TestFactsAreBounded(t *testing.T) {
	f := Facts{}
	for range maxFacts + 3 {
		f.Alerts = append(f.Alerts, Fact{})
	}
	if b := f.Bounded(); len(b.Alerts) != maxFacts || b.More != 3 || len(f.Alerts) != maxFacts+3 {
		t.Errorf("%d alerts, %d more", len(b.Alerts), b.More)
	}
}
