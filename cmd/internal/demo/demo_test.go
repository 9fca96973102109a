package demo

import (
	"bytes"
	"strings"
	"testing"
)

// TestStory plays the whole demo, on the real clock as a reader sees it: one message that opens, and its edit that resolves.
func TestStory(t *testing.T) {
	if testing.Short() {
		t.Skip("the demo takes half a minute")
	}
	var out bytes.Buffer
	err := Run(t.Context(), &out, true)
	told := out.String()
	if err != nil {
		t.Fatalf("%v\n%s", err, told)
	}
	rest := told
	for _, want := range []string{"FAULT", "new message:", "WARNING gw-eu is slow", "FIX", "edited:", "RESOLVED gw-eu is back to normal"} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("no %q in its place:\n%s", want, told)
		}
		rest = after
	}
	if n := strings.Count(told, "new message:"); n != 1 {
		t.Errorf("%d new messages, want one:\n%s", n, told)
	}
	for _, never := range []string{"could not be sent", "refuses"} {
		if strings.Contains(told, never) {
			t.Errorf("the story says %q:\n%s", never, told)
		}
	}
}
