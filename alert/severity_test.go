package alert

import (
	"testing"
	"time"
)

// TestSeverityOf is the whole table.
func TestSeverityOf(t *testing.T) {
	lasted := func(a Alert, d time.Duration) Alert {
		a.FirstBreach, a.LastBreach, a.Last.At = day0, day0.Add(d), day0.Add(d)
		return a
	}
	f := func(what string, a Alert, s Surroundings, want Severity) {
		t.Helper()
		if got := SeverityOf(a, s); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	one := func(k Kind) Alert { return lasted(Alert{Series: "t/s/short", Kind: k}, time.Minute) }
	whole := func(k Kind) Alert { return lasted(Alert{Series: "t", Kind: k}, time.Minute) }
	f("limit", one(KindLimit), Surroundings{Canaries: 1, Down: 1}, Warning)
	f("no data", one(KindNoData), Surroundings{Canaries: 3}, Critical)
	f("one of three down", one(KindError), Surroundings{Canaries: 3, Down: 1}, Warning)
	f("two of four down", one(KindTimeout), Surroundings{Canaries: 4, Down: 2}, Critical)
	f("the only one down", one(KindTimeout), Surroundings{Canaries: 1, Down: 1}, Critical)
	f("a rate", whole(KindError), Surroundings{Canaries: 2, Down: 2}, Warning)
	f("slow", one(KindTTFT), Surroundings{Canaries: 3}, Warning)
	f("slow alone", one(KindTTFT), Surroundings{Canaries: 3, Judged: true}, Info)
	f("slow alone for long", lasted(one(KindTTFT), aloneFor), Surroundings{Canaries: 3, Judged: true}, Warning)
	f("slow for long, with all", lasted(one(KindTTFT), aloneFor), Surroundings{Canaries: 3, Judged: true, Whole: true}, Info)
	fixed := one(KindTTFT)
	fixed.Fixed = true
	f("above the user's limit", fixed, Surroundings{Canaries: 3, Judged: true}, Warning)
	urgent := one(KindTTFT)
	urgent.Urgent = true
	f("above the user's critical limit", urgent, Surroundings{Canaries: 3, Judged: true}, Critical)
	steep := lasted(one(KindTTFT), SteepFor)
	steep.Steep = day0
	f("steep", steep, Surroundings{Canaries: 3, Judged: true}, Critical)
	steep.Last.At = day0.Add(SteepFor - 1)
	f("not steep for long", steep, Surroundings{Canaries: 3, Judged: true}, Info)
	f("the whole target", whole(KindTTFT), Surroundings{Canaries: 3, Grown: true}, Warning)
	f("the whole target, while it learns", whole(KindTTFT), Surroundings{Canaries: 3}, Info)
	if Graver(Info, Warning) != Warning || Graver(Critical, "") != Critical || Graver("", Info) != Info {
		t.Error("severities are out of order")
	}
}
