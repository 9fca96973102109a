package probe

import "testing"

// TestAbsorb keeps old values known and takes in new ones, without growing by a source that was there.
func TestAbsorb(t *testing.T) {
	secret := func(label, v string) Secret {
		s, err := SecretFromValue(label, v)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var r Redactor
	r.Add(secret("environment variable A", "first-secret-value"))
	for range 3 {
		newer := &Redactor{}
		newer.Add(secret("environment variable A", "second-secret-value"))
		newer.Add(secret("environment variable B", "third-hidden-thing"))
		r.Absorb(newer)
	}
	if got := r.Redact("first-secret-value second-secret-value third-hidden-thing"); got != "*** *** ***" {
		t.Errorf("redacted to %q", got)
	}
	if len(r.secrets) != 2 {
		t.Errorf("%d sources, want 2", len(r.secrets))
	}
}
