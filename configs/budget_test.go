package configs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/probe"
)

func TestBudget(t *testing.T) {
	setEnv(t)
	c := mustLoad(t, `
[budget]
tokens = 100_000
usd = 1.5
timezone = "Asia/Shanghai"
[target_defaults]
base_url = "https://gateway.example/v1"
[[provider]]
name = "gw"
budget_tokens = 7
[[target]]
name = "plain"
model = "m"
[[target]]
name = "nearest"
provider = "gw"
model = "m"
budget_usd = 2
[[target]]
name = "free"
model = "m"
budget_tokens = 0
budget_usd = 0.0
[[scene]]
name = "chat"
targets = ["*"]
short = "*/5 * * * *"
[[price]]
model = "*"
input = 1
output = 1
`)
	want := map[string]BudgetLimit{"plain": {Tokens: 100_000, USD: 1.5}, "nearest": {Tokens: 7, USD: 2}}
	if diff := cmp.Diff(want, c.Budget.Limits); diff != "" {
		t.Error(diff)
	}
	if c.Budget.Zone.String() != "Asia/Shanghai" {
		t.Errorf("zone %s", c.Budget.Zone)
	}
}

func TestPriceByDate(t *testing.T) {
	setEnv(t)
	c := mustLoad(t, base+`
[[price]]
model = "m*"
input = 1
output = 1
from = 2026-01-01
[[price]]
model = "m*"
input = 2
output = 2
from = 2026-03-01
[[price]]
model = "*"
input = 9
output = 9
`)
	f := func(at time.Time, want float64) {
		t.Helper()
		if p := c.Targets[0].PriceAt(at); p == nil || p.Input != probe.Some(want) {
			t.Errorf("price at %s is %+v, want %v", at, p, want)
		}
	}
	day := func(m time.Month, d int) time.Time { return time.Date(2026, m, d, 0, 0, 0, 0, time.UTC) }
	f(day(1, 1).Add(-1), 9) // before its day, the next glob that matches counts
	f(day(1, 1), 1)
	f(day(3, 1).Add(-1), 1)
	f(day(3, 1), 2)
	f(day(12, 31), 2)
}

func TestExpectKeys(t *testing.T) {
	setEnv(t)
	c := mustLoad(t, `[[target]]
name = "gw"
base_url = "https://gateway.example/v1"
model = "m"
[[scene]]
name = "chat"
targets = ["gw"]
[scene.short]
schedule = "*/5 * * * *"
expect = { contains = "b", json_field = "a.b[0]", json_equals = "1", max_length = 20, language = "en" }
[scene.medium]
schedule = "*/5 * * * *"
expect = { json = true }
`)
	medium, short := c.Runs[0].Canary.Expect, c.Runs[1].Canary.Expect
	if !short.Check(`{"a":{"b":[1]}}`) || short.Miss(`{"a":{"b":[2]}}`) != "json_equals" || short.Language != "en" || short.MaxLength != 20 {
		t.Errorf("short expects %+v", short)
	}
	if medium.Check("no") || !medium.Check("[]") {
		t.Errorf("medium expects %+v", medium)
	}
}
