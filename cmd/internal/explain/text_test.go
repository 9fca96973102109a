package explain

import (
	"strings"
	"testing"
)

// TestWhyInWords: no reason is a bare word of the store.
func TestWhyInWords(t *testing.T) {
	for _, why := range []string{noBand, "learning", "first", "cold_start", "client_suspect", "spec", "absent"} {
		if got := whyText(why); got == why || !strings.Contains(got, " ") {
			t.Errorf("%s: %q", why, got)
		}
	}
	if got := whyText("own_words of it"); got != "own words of it" {
		t.Errorf("%q", got)
	}
}
