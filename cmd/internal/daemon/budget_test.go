package daemon

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/alert/slack/slacktest"
	"serin/configs"
	"serin/probe"
)

// spender is a canary of a size that costs what its sample says.
func spender(target string, size probe.Size) *probe.Canary {
	return &probe.Canary{Target: &probe.Target{Name: target, Prices: []probe.Price{{Model: "*", Input: probe.Some(1.0), Output: probe.Some(2.0)}}},
		Scene: &probe.Scene{Name: "chat"}, Size: size, InputTokens: 50, MaxTokens: 100}
}

func answered(c *probe.Canary, at time.Time, in, out int64) *probe.Sample {
	return &probe.Sample{Time: at, Target: c.Target.Name, Scene: "chat", Size: c.Size, Outcome: probe.OK, HTTPStatus: 200, InputTokens: probe.Some(in), OutputTokens: probe.Some(out)}
}

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// A run is sent until the budget is used up, whatever its size.
func TestBudgetStopsAtTheLimit(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := func(limit configs.BudgetLimit, used int64, want bool) {
		t.Helper()
		b := newBudget(configs.Budget{Limits: map[string]configs.BudgetLimit{"gw": limit}})
		short := spender("gw", probe.Short)
		b.settle(b.force(short, now), short, answered(short, now, used, 0), now)
		for _, size := range probe.Sizes() {
			c := spender("gw", size)
			h, _, ok := b.take(c, now)
			if ok != want {
				t.Errorf("at %d of %+v %s is sent: %v, want %v", used, limit, size, ok, want)
			}
			if ok {
				b.settle(h, c, &probe.Sample{Time: now, Target: "gw", Outcome: probe.DNS}, now) // costs nothing
			}
		}
	}
	tokens := configs.BudgetLimit{Tokens: 1000}
	f(tokens, 0, true)
	f(tokens, 999, true)
	f(tokens, 1000, false)
	f(configs.BudgetLimit{USD: 0.001}, 999, true) // a dollar a million
	f(configs.BudgetLimit{USD: 0.001}, 1001, false)
	f(configs.BudgetLimit{Tokens: 1_000_000, USD: 0.001}, 1001, false) // whichever is nearer to its end
	f(configs.BudgetLimit{}, 1_000_000_000, true)
}

// What is under way counts at its cap; what broke off stays there, what was refused is given back.
func TestBudgetHoldsTheCap(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	sent := probe.Known(time.Millisecond)
	f := func(name string, s probe.Sample, tokens int64, usd float64) {
		t.Helper()
		b := newBudget(configs.Budget{Limits: map[string]configs.BudgetLimit{"gw": {Tokens: 1000}}})
		c := spender("gw", probe.Short)
		h, _, _ := b.take(c, now)
		if u := b.all(now)["gw"]; u.Tokens != 150 || u.USD < 0.00025-1e-12 || u.USD > 0.00025+1e-12 {
			t.Errorf("%s: under way %d tokens, %v USD", name, u.Tokens, u.USD)
		}
		s.Time, s.Target = now, "gw"
		b.settle(h, c, &s, now)
		if u := b.all(now)["gw"]; u.Tokens != tokens || u.USD < usd-1e-12 || u.USD > usd+1e-12 {
			t.Errorf("%s: %d tokens, %v USD, want %d and %v", name, u.Tokens, u.USD, tokens, usd)
		}
	}
	f("ok", probe.Sample{Outcome: probe.OK, HTTPStatus: 200, InputTokens: probe.Some[int64](40), OutputTokens: probe.Some[int64](7)}, 47, 54e-6)
	f("ok without usage", probe.Sample{Outcome: probe.OK, HTTPStatus: 200}, 150, 250e-6)
	f("truncated", probe.Sample{Outcome: probe.Truncated, HTTPStatus: 200, InputTokens: probe.Some[int64](40), OutputTokens: probe.Some[int64](7)}, 140, 240e-6)
	f("stalled", probe.Sample{Outcome: probe.TimeoutStall, HTTPStatus: 200}, 150, 250e-6)
	f("no headers in time", probe.Sample{Outcome: probe.TimeoutFirstToken, Sent: sent}, 150, 250e-6)
	f("reset", probe.Sample{Outcome: probe.Reset, Sent: sent}, 150, 250e-6)
	f("refused by filter, counted", probe.Sample{Outcome: probe.ContentFilter, HTTPStatus: 200, InputTokens: probe.Some[int64](40), OutputTokens: probe.Some[int64](0)}, 40, 40e-6)
	f("401", probe.Sample{Outcome: probe.Auth, HTTPStatus: 401, Sent: sent}, 0, 0)
	f("429", probe.Sample{Outcome: probe.RateLimited, HTTPStatus: 429, Sent: sent}, 0, 0)
	f("500", probe.Sample{Outcome: probe.HTTP5xx, HTTPStatus: 500, Sent: sent}, 0, 0)
	f("dns", probe.Sample{Outcome: probe.DNS}, 0, 0)
	f("connect", probe.Sample{Outcome: probe.TimeoutConnect}, 0, 0)
}

// The day is that of the zone, also where clocks change; what was sent before midnight counts for the day before.
func TestBudgetMidnight(t *testing.T) {
	zone := zoneOf(t, "Europe/Berlin")
	b := newBudget(configs.Budget{Zone: zone, Limits: map[string]configs.BudgetLimit{"gw": {Tokens: 100}}})
	c := spender("gw", probe.Short)
	late := time.Date(2026, 3, 28, 23, 59, 59, 0, zone)
	h, _, _ := b.take(c, late)
	early := late.Add(2 * time.Second)
	b.settle(h, c, answered(c, late, 90, 20), early)
	if u := b.all(early)["gw"]; u.Tokens != 0 || u.Day != "2026-03-29" {
		t.Errorf("after midnight %+v", u)
	}
	b.settle(b.force(c, early), c, answered(c, early, 90, 20), early)
	if _, _, ok := b.take(c, early.Add(22*time.Hour)); ok { // the day of 23 hours
		t.Error("sent although the day's budget is spent")
	}
	if _, _, ok := b.take(c, early.Add(23*time.Hour)); !ok {
		t.Error("not sent on the next day")
	}
	if at := b.midnight(early.Add(20 * time.Hour)); !at.Equal(time.Date(2026, 3, 29, 0, 0, 0, 0, zone)) {
		t.Errorf("midnight %s", at)
	}
}

// However runs overlap, no second run begins above the bound: the day ends at most one run above it.
func TestBudgetBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		limit := int64(500 + rnd.IntN(5000))
		b := newBudget(configs.Budget{Limits: map[string]configs.BudgetLimit{"gw": {Tokens: limit}}})
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		type flight struct {
			h  *hold
			c  *probe.Canary
			at time.Time
		}
		var flying []flight
		total := int64(0)
		for now.Day() == 1 {
			now = now.Add(time.Duration(rnd.IntN(600)) * time.Second)
			if now.Day() != 1 {
				break
			}
			c := spender("gw", probe.Sizes()[rnd.IntN(3)])
			if h, _, ok := b.take(c, now); ok {
				flying = append(flying, flight{h, c, now})
			}
			if n := len(flying); n > 0 && (n == 4 || rnd.IntN(2) == 0) {
				x := flying[0]
				flying = flying[1:]
				s := answered(x.c, x.at, 50, int64(rnd.IntN(101)))
				b.settle(x.h, x.c, s, now)
				total += s.InputTokens.V + s.OutputTokens.V
			}
		}
		if total >= limit+150 {
			t.Fatalf("%d tokens used of %d", total, limit)
		}
	}
}

func TestBudgetNewsOncePerStageAndDay(t *testing.T) {
	var n budgetNews
	u := func(day string, tokens int64) usage {
		return usage{Day: day, Tokens: tokens, Limit: configs.BudgetLimit{Tokens: 100}}
	}
	f := func(n *budgetNews, target string, u usage, stopped, isNew bool) {
		t.Helper()
		if s, is := n.reach(target, u); is != isNew || is && s.Stopped != stopped {
			t.Errorf("%s %+v: %+v, new %v", target, u, s, is)
		}
	}
	f(&n, "a", u("1", 79), false, false)
	f(&n, "a", u("1", 80), false, true)
	f(&n, "a", u("1", 85), false, false)
	f(&n, "b", u("1", 100), true, true)
	f(&n, "a", u("1", 100), true, true)
	f(&n, "a", u("1", 95), false, false) // what was under way cost less than its cap
	f(&n, "a", u("1", 101), true, false)
	blob, err := n.blob()
	if err != nil || !json.Valid(blob.Body) {
		t.Fatal(err, blob)
	}
	var later budgetNews // after a restart
	if err := later.restore([]alert.Blob{{Key: "other"}, blob}); err != nil {
		t.Fatal(err)
	}
	f(&later, "a", u("1", 100), true, false)
	f(&later, "a", u("2", 80), false, true)
	f(&later, "a", u("2", 100), true, true)
}

const budgetToml = rigToml + `
[budget]
tokens = 2000
timezone = "Asia/Shanghai"
[[price]]
model = "m"
input = 1
output = 2
`

// The whole daemon through two virtual days and a restart: warned once and stopped once a day, whole again at midnight of
// the zone, and not reset by the restart.
func TestBudgetDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, budgetToml)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		zone := zoneOf(t, "Asia/Shanghai")
		r.run(20 * time.Hour)
		r.run(20 * time.Hour)
		used, skipped := map[string]int64{}, map[string]time.Time{}
		for _, s := range r.seen {
			day := s.Time.In(zone).Format(time.DateOnly)
			used[day] += s.InputTokens.V + s.OutputTokens.V
			if s.Outcome != probe.Skipped {
				continue
			}
			if s.Reason != probe.ReasonBudget || s.Side != probe.SideBudget {
				t.Errorf("skipped for %q, side %q", s.Reason, s.Side)
			}
			if _, ok := skipped[day]; !ok {
				skipped[day] = s.Time
			}
		}
		if len(used) < 2 {
			t.Fatalf("days %v", used)
		}
		for day, n := range used {
			if n >= 2000+600 {
				t.Errorf("%d tokens on %s", n, day)
			}
		}
		warned, stopped := map[string]int{}, map[string]int{}
		for _, c := range r.slack.Calls() {
			day := c.At.In(zone).Format(time.DateOnly)
			switch {
			case c.Method != slacktest.Post:
			case strings.Contains(c.Text, "% of the day's probing budget"):
				warned[day]++
			case strings.Contains(c.Text, "budget is used up"):
				stopped[day]++
			}
		}
		for day, at := range skipped {
			if warned[day] != 1 || stopped[day] != 1 {
				t.Errorf("%d warnings and %d stops on %s, skipped from %s, want one each\n%s", warned[day], stopped[day], day, at, r.log.String())
			}
		}
		if len(skipped) < 2 {
			t.Errorf("budget was reached on %d days only: %v", len(skipped), used)
		}
	})
}
