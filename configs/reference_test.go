package configs

import (
	"slices"
	"strings"
	"testing"
)

func TestReferenceIsFresh(t *testing.T) {
	text, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "reference.md", text)
}

// TestMeaningsAreOfKeys finds meanings of keys that are no more.
func TestMeaningsAreOfKeys(t *testing.T) {
	s := schema()
	var known []string
	for _, c := range chapters() {
		for _, k := range s.chapter(c.name).names() {
			known = append(known, c.name+"."+k)
		}
	}
	for _, m := range []struct {
		prefix string
		keys   map[string]string
	}{{"target.", targetMeanings()}, {"provider.", providerMeanings()}, {"", sceneMeanings()}, {"rule.", ruleMeanings()}, {"", singleMeanings()}, {"", channelMeanings()}, {"", windowMeanings()}} {
		for key := range m.keys {
			if !slices.Contains(known, m.prefix+key) {
				t.Errorf("meaning of %s%s, which is no key", m.prefix, key)
			}
		}
	}
	for name := range s.keys {
		if !slices.ContainsFunc(chapters(), func(c chapter) bool { return c.name == name }) && name != "allow_plain_secrets" {
			t.Errorf("%s has no chapter", name)
		}
	}
}

func TestNearest(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		got, _ := nearest(s, []string{"base_url", "model", "name", "short", "max_in_flight"})
		if got != want {
			t.Errorf("nearest to %q = %q, want %q", s, got, want)
		}
	}
	f("modle", "model")
	f("Model", "model")
	f("baseurl", "base_url")
	f("max_inflight", "max_in_flight")
	f("nmae", "name")
	f("xyz", "")
	f("", "")
	f(strings.Repeat("x", 200), "")
}
