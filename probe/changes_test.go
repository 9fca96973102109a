package probe

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe/prompt"
	"serin/probe/wire"
)

// say is an answer of a model with a fingerprint, first token after ttft; no usage where tokens is 0.
func say(model, print, text string, ttft time.Duration, tokens int) []step {
	s := steps(E(fmt.Sprintf(`{"model":%q,"system_fingerprint":%q}`, model, print)), sleep(ttft), tok(text), times(9, sleep(10*ms), tok("b")), fin("stop"))
	if tokens > 0 {
		s = steps(s, usage(tokens))
	}
	return steps(s, done(), end())
}

// changes sends a probe for each script and returns the change flags of each sample.
func changes(t *testing.T, canary *Canary, restart int, scripts ...[]step) (flags []string) {
	t.Helper()
	srv := scripted(scripts...)
	synctest.Test(t, func(t *testing.T) {
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		for i := range scripts {
			if i == restart {
				seen := p.Fingerprints()
				p.Close()
				p = New(Options{Dial: srv.dial})
				p.RestoreFingerprints(seen)
			}
			s, err := p.Do(t.Context(), Shot{Canary: canary})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range []Flag{ModelChanged, UsageGone, SameAnswer} {
				if s.Has(f) {
					got += string(f) + " "
				}
			}
			flags = append(flags, got)
		}
		p.Close()
	})
	return flags
}

func TestChanges(t *testing.T) {
	at := 50 * ms
	n := 0
	next := func(model, print string, tokens int) []step { // each answer another one
		n++
		return say(model, print, fmt.Sprint("a", n), at, tokens)
	}
	f := func(name string, restart int, want []string, scripts ...[]step) {
		t.Helper()
		if got := changes(t, testCanary(), restart, scripts...); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	const model, usage = "model_changed ", "usage_gone "
	f("model", -1, []string{"", "", model, "", ""}, next("m1", "f", 10), next("m1", "f", 10), next("m2", "f", 10), next("m2", "f", 10), next("m1", "f", 10))
	f("fingerprint", -1, []string{"", model, ""}, next("m", "f1", 10), next("m", "f2", 10), next("m", "f2", 10))
	f("from unknown", -1, []string{"", "", "", model}, next("", "", 10), next("m", "f", 10), next("", "", 10), next("m2", "f", 10))
	f("balancer", -1, []string{"", model, "", ""}, next("m", "f1", 10), next("m", "f2", 10), next("m", "f1", 10), next("m", "f2", 10))
	f("usage", -1, []string{"", usage, "", "", usage}, next("m", "f", 10), next("m", "f", 0), next("m", "f", 0), next("m", "f", 10), next("m", "f", 0))
	f("never usage", -1, []string{"", ""}, next("m", "f", 0), next("m", "f", 0))
	f("failure between", -1, []string{"", "", model}, next("m1", "f", 10), answer(500, "no"), next("m2", "f", 10))
	f("over a restart", 1, []string{"", model + usage}, next("m1", "f", 10), next("m2", "f", 0))

	rollback := [][]step{next("m1", "f", 10)}
	want := []string{""}
	for i := range recentNames {
		rollback = append(rollback, next("m2", "f", 10))
		want = append(want, map[bool]string{true: model}[i == 0])
	}
	f("rollback after a while", -1, append(want, model), append(rollback, next("m1", "f", 10))...)
}

func TestWhatIsReported(t *testing.T) {
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	type turn struct {
		after  time.Duration
		sample Sample
		want   string
	}
	flagged := func(f ...Flag) Sample {
		return Sample{Outcome: OK, ReturnedModel: "m", Flags: f}
	}
	checked := func(c string) Sample { return Sample{Outcome: OK, Check: c} }
	named := func(model, print string, f ...Flag) Sample {
		return Sample{Outcome: OK, ReturnedModel: model, SystemFingerprint: print, Flags: f}
	}
	f := func(name string, steps ...turn) {
		t.Helper()
		var p Fingerprint
		for i, x := range steps {
			s := x.sample
			s.Target, s.Scene, s.Size, s.Time = "gw", "chat", Short, start.Add(x.after)
			var got []string
			for _, c := range p.compare(&s, true) {
				if c.Text == "" {
					t.Errorf("%s: %+v", name, c)
				}
				got = append(got, c.What)
			}
			if strings.Join(got, " ") != x.want {
				t.Errorf("%s, step %d: %q, want %q", name, i+1, got, x.want)
			}
		}
	}
	f("model", turn{0, named("m1", "f"), ""}, turn{1, named("m2", "f"), "model_changed"}, turn{2, named("m2", "f"), ""})
	f("buffered from the first", turn{0, flagged(BufferedSuspect), ""}, turn{1, flagged(BufferedSuspect), ""})
	f("became buffered", turn{0, flagged(), ""}, turn{1, flagged(BufferedSuspect), "buffered_suspect"}, turn{2, flagged(BufferedSuspect), ""})
	f("back and forth is reported once an hour", turn{0, flagged(), ""}, turn{1, flagged(BufferedSuspect), "buffered_suspect"}, turn{2, flagged(), ""},
		turn{time.Hour, flagged(BufferedSuspect), ""}, turn{time.Hour + 1, flagged(), ""}, turn{time.Hour + 2, flagged(BufferedSuspect), "buffered_suspect"})
	f("caches", turn{0, flagged(CacheHit), "cache_hit"}, turn{1, flagged(CacheHit, SameAnswer), "same_answer"}, turn{2, flagged(SameAnswer), ""})
	f("usage", turn{0, Sample{Outcome: OK, TokensSource: "usage"}, ""}, turn{1, flagged(), "usage_gone"}, turn{2, flagged(), ""})
	f("check", turn{0, checked("pass"), ""}, turn{1, checked("fail"), "check_failed"}, turn{2, checked("fail"), ""}, turn{3, checked(""), ""}, turn{4, checked("fail"), ""})
	f("check failed from the first", turn{0, checked("fail"), ""})
	f("two at once", turn{0, Sample{Outcome: OK, ReturnedModel: "m1", TokensSource: "usage"}, ""}, turn{1, named("m2", "f"), "model_changed usage_gone"})
}

func TestNamesText(t *testing.T) {
	for s, want := range map[*Sample]string{
		{ReturnedModel: "m2", SystemFingerprint: "f2"}: `"m2", before as "m1"`,
		{ReturnedModel: "m1", SystemFingerprint: "f2"}: `"f2", before "f1"`,
		{SystemFingerprint: "f2"}:                      `"f2", before "f1"`,
	} {
		if got := namesText(s, "m1", "f1"); !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}

// An answer like the last one to the same prompt is a cache's only if it came in under a fifth of the time.
func TestSameAnswer(t *testing.T) {
	const same = "same_answer "
	f := func(name string, c *Canary, want []string, scripts ...[]step) {
		t.Helper()
		if got := changes(t, c, -1, scripts...); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	slow := func(text string) []step { return say("m", "f", text, 910*ms, 10) } // 1 s in all
	fast := func(text string, ttft time.Duration) []step {
		return steps(sleep(ttft), tok(text), times(9, tok("b")), fin("stop"), usage(10), done(), end())
	}
	f("repeated slowly", testCanary(), []string{"", "", ""}, slow("a"), slow("a"), fast("a", 200*ms))
	f("at once", testCanary(), []string{"", same, same}, slow("a"), fast("a", 199*ms), fast("a", 5*ms))
	f("another answer at once", testCanary(), []string{"", "", ""}, slow("a"), fast("c", 5*ms), fast("c", 4*ms))
	keep := testCanary()
	keep.Target.Cache = "keep"
	f("wanted", keep, []string{"", ""}, slow("a"), fast("a", 5*ms))
	two := testCanary()
	two.Prompts = []prompt.Prompt{{ID: "one", User: "1"}, {ID: "two", User: "2"}}
	f("two prompts", two, []string{"", "", same, ""}, slow("a"), slow("c"), fast("a", 5*ms), slow("c"))
}

// The chat template in front of the nonce always hits a prefix cache.
func TestCacheHitNeedsMoreThanTheTemplate(t *testing.T) {
	f := func(input, cached int64, want bool) {
		t.Helper()
		if got := hitsCache(wire.Usage{Input: wire.Num{V: input, Known: true}, Cached: wire.Num{V: cached, Known: true}}); got != want {
			t.Errorf("%d of %d cached: %v", cached, input, got)
		}
	}
	f(80, 0, false)
	f(80, 10, false) // a small model's template
	f(80, 32, false)
	f(80, 33, true)
	f(4000, 400, false)
	f(4000, 401, true)
	f(0, 5, false)
}

func TestPriceAt(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	price := func(model string, from int, in float64) Price {
		p := Price{Model: model, Input: Some(in)}
		if from > 0 {
			p.From = day(from)
		}
		return p
	}
	f := func(at int, want float64, list ...Price) {
		t.Helper()
		p := (&Target{Prices: list}).PriceAt(day(at))
		if p == nil != (want == 0) || p != nil && p.Input.V != want {
			t.Errorf("on day %d: %+v, want %v", at, p, want)
		}
	}
	f(5, 0)
	f(5, 1, price("m", 0, 1))
	f(5, 0, price("m", 6, 1))
	f(6, 1, price("m", 6, 1))
	f(9, 2, price("m", 0, 1), price("m", 8, 2))
	f(9, 2, price("m", 8, 2), price("m", 0, 1)) // whatever their order
	f(7, 1, price("m", 8, 2), price("m", 0, 1))
	f(9, 1, price("m*", 0, 1), price("*", 8, 9)) // the first glob decides
	f(7, 9, price("m*", 8, 1), price("*", 0, 9)) // unless it is not in force yet
	f(9, 1, price("m", 8, 1), price("m", 8, 2))
}
