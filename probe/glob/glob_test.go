package glob

import "testing"

func TestMatch(t *testing.T) {
	f := func(pattern, s string, want bool) {
		t.Helper()
		if got := Match(pattern, s); got != want {
			t.Errorf("Match(%q, %q) = %v", pattern, s, got)
		}
	}
	f("*", "", true)
	f("acme/*", "acme/m/x", true)
	f("*/x", "acme/m/x", true)
	f("gpt-4o*", "gpt-4o-mini", true)
	f("gpt-4o*", "gpt-4", false)
	f("*-eu", "gw-eu-eu", true)
	f("g?-*x*", "gw-axb", true)
	f("g?", "g", false)
	f("", "a", false)
	f("a*b*c", "aXbYbZ", false)
	f("gw-[a-c]", "gw-b", true)
	f("gw-[a-c]", "gw-d", false)
	f("lab | gw-*", "gw-eu", true)
	f("lab|gw-*", "lab-2", false)
	f("[a", "[a", false)
}

func TestValid(t *testing.T) {
	f := func(pattern string, want bool) {
		t.Helper()
		if got := Valid(pattern); got != want {
			t.Errorf("Valid(%q) = %v", pattern, got)
		}
	}
	f("gw-*", true)
	f("a|b*", true)
	f("", false)
	f("a||b", false)
	f("[a", false)
}

func TestMatchKey(t *testing.T) {
	f := func(pattern, key string, want bool) {
		t.Helper()
		if got := MatchKey(pattern, key); got != want {
			t.Errorf("MatchKey(%q, %q) = %v", pattern, key, got)
		}
	}
	f("gw-*", "gw-eu/chat/short", true)
	f("gw-*|lab", "lab/chat/short", true)
	f("*/chat", "gw-eu/chat/short", true)
	f("*/*/short|long", "gw-eu/chat/long", true)
	f("gw-*/short", "gw-eu/chat/short", false)
	f("gw-eu/chat/short/more", "gw-eu/chat/short", false)
	f("gw-eu/chat", "gw-eu", false)
	if ValidKey("gw-*/[a") || ValidKey("") || ValidKey("a//b") || !ValidKey("*/chat|batch") {
		t.Error("ValidKey")
	}
}
