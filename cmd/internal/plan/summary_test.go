package plan

import (
	"math"
	"strings"
	"testing"

	"serin/probe"
)

func TestSummary(t *testing.T) {
	c := mustLoad(t, `
[[target]]
name = "gw"
base_url = "https://gateway.example/v1"
model = "m"
[[target]]
name = "think"
base_url = "https://gateway.example/v1"
model = "r"
reasoning = true
[[scene]]
name = "chat"
targets = ["*"]
short = "*/10 * * * *"
[[scene]]
name = "night"
targets = ["gw"]
metrics = ["ttft"]
medium = { schedule = "0 */2 * * *", max_tokens = 150 }
[scene.rule]
preset = "literal"
[[price]]
model = "m"
input = 2
output = 10
`)
	s := Summarize(c, Options{Now: noon, SampleBytes: 1000, BandBytes: 500, Series: 77})
	f := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Max(1, want) {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	f("canaries", float64(s.Canaries), 3)
	f("probes", s.ProbesDay, 144+144+12)
	f("input", s.InputDay, 288*30+12*500)
	f("output", s.OutputDay, 144*190+144*1024+12*150)
	f("output at the cap", s.OutputCapDay, 144*512+144*4096+12*150)
	cost := func(out float64) float64 { return (144*30*2 + 12*500*2 + (out+12*150)*10) / 1e6 }
	f("cost", s.CostDay.V, cost(144*190))
	f("cost at the cap", s.CostCapDay.V, cost(144*512))
	f("unpriced", float64(s.Unpriced), 1)
	f("MB", s.StoreMBDay, (300*1000+(48*2+48*2+12)*500)/1e6)
	f("series", float64(s.Series), 77)
	f("alerted series", float64(s.AlertedSeries), 5)
	f("false alerts", s.FalseAlerts, 4*0.1+295)
	text := s.String()
	for _, want := range []string{"3 canaries on 2 targets in 2 scenes: 300 probes a day", "1 canary without a price left out", "about 295 on 5 series", "about 77\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestEstimateSeries(t *testing.T) {
	c := mustLoad(t, base)
	one := estimateSeries(c)
	if want := 60 + 1 + (5 + 5*2 + 2 + 4) + 104; one != want {
		t.Errorf("estimate = %d, want %d", one, want)
	}
	// medium lands in another input bucket (500 and more), so it brings histograms of its own.
	c = mustLoad(t, base+"medium = \"*/10 * * * *\"\n")
	if got, want := estimateSeries(c), one+21+104; got != want {
		t.Errorf("estimate = %d, want %d", got, want)
	}
}

func TestRound(t *testing.T) {
	f := func(v float64, want string) {
		t.Helper()
		if got := round(v); got != want {
			t.Errorf("round(%v) = %q, want %q", v, got, want)
		}
	}
	f(0, "0")
	f(999.4, "999")
	f(1000, "1 000")
	f(1234567, "1 234 567")
}

func TestUnpricedSummary(t *testing.T) {
	s := Summarize(mustLoad(t, base), Options{Now: noon})
	if s.CostDay.Known || s.CostCapDay != (probe.Money{}) || !strings.Contains(s.String(), "money a day: not known") {
		t.Errorf("a cost without a price: %+v\n%s", s, s)
	}
}
