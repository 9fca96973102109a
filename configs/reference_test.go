package configs

import (
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

// TestEveryKeyHasAMeaning shows that a key without a meaning, and a meaning without a key, are found.
func TestEveryKeyHasAMeaning(t *testing.T) {
	was := meanings
	defer func() { meanings = was }()
	for _, change := range [][3]string{
		{"| `slot` |", "| `slott` |", "baseline.slott is no key"},
		{"| `slot` |", "| slot |", "no meaning for baseline.slot"},
	} {
		meanings = strings.Replace(was, change[0], change[1], 1)
		if _, err := Reference(); err == nil || !strings.Contains(err.Error(), change[2]) {
			t.Errorf("%q: error %v, want %q", change[1], err, change[2])
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
