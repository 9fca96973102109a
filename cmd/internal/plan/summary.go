// Package plan says what a config comes to before it runs: probes, tokens, money and storage a day, the next runs and
// maintenance windows, and where messages go.
package plan

import (
	"fmt"
	"strings"
	"time"

	"serin/configs"
	"serin/probe"
	"serin/probe/schedule"
)

// Options give what a config does not say; zero values take the documented estimates.
type Options struct {
	Now         time.Time // the week that is counted begins here; zero = now
	SampleBytes float64   // of the store, per sample, indexes included; 0 = 225
	BandBytes   float64   // of the store, per band: one a slot and judged series; 0 = 620
	Series      int       // series on /metrics as the program counts them; 0 = by estimateSeries
}

// Summary is what a config means in probes, tokens, money and storage. Days are the mean of the next seven. Tokens and money count regular probes;
// re-probes after a breach add at most 8 %.
type Summary struct {
	Targets       int         `json:"targets"`
	Scenes        int         `json:"scenes"`
	Canaries      int         `json:"canaries"`
	ProbesDay     float64     `json:"probes_per_day"`
	InputDay      float64     `json:"input_tokens_per_day"`
	OutputDay     float64     `json:"output_tokens_per_day"`     // typical
	OutputCapDay  float64     `json:"output_tokens_cap_per_day"` // were every answer as long as its cap
	CostDay       probe.Money `json:"cost_usd_per_day,omitzero"` // typical; of the canaries with a price
	CostCapDay    probe.Money `json:"cost_usd_cap_per_day,omitzero"`
	Unpriced      int         `json:"canaries_without_price"`
	StoreMBDay    float64     `json:"store_mb_per_day"`
	Series        int         `json:"metric_series"`
	FalseAlerts   float64     `json:"false_alerts_per_month"` // about; see falseAlertsPerSeries
	AlertedSeries int         `json:"alerted_series"`
}

// typicalOutput is the usual length of an answer to a built-in prompt, tokens: they ask for 130 to 250.
const typicalOutput = 190

// falseAlertsPerSeries returns about how many false alerts a month one series of a canary and metric gives under a preset.
// They were measured by alert/sim/simulate with 5-minute schedules (seeds 101-112), not on your endpoint: a level that wanders
// gives several times as many. A series by itself gives .03 (balanced) to .16 (sharp); with the alerts of whole
// targets it is .05 where a target has nine canaries, .08 where it has three. 0.1 stands for all of them.
func falseAlertsPerSeries(preset string) float64 {
	if preset == "literal" {
		return 295
	}
	return 0.1
}

// Summarize counts what the config sends, stores and shows.
func Summarize(c *configs.Config, o Options) Summary {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.SampleBytes == 0 {
		o.SampleBytes = 225
	}
	if o.BandBytes == 0 {
		o.BandBytes = 620
	}
	s := Summary{Targets: len(c.Targets), Scenes: len(c.Scenes), Canaries: len(c.Runs), Series: o.Series}
	slots := float64(24*time.Hour) / float64(c.Baseline.Slot)
	weeks := map[string]float64{} // runs a day by schedule: a fleet has few
	for _, r := range c.Runs {
		id := r.Cron + " " + r.Canary.Scene.Zone.String()
		if _, ok := weeks[id]; !ok {
			runs, _ := schedule.WeekCount(r.Entry.Schedule, o.Now)
			weeks[id] = float64(runs) / 7
		}
		day := weeks[id]
		s.add(r, day, o.Now)
		bands := min(day, slots) * float64(len(r.Canary.Scene.Metrics))
		s.StoreMBDay += (day*o.SampleBytes + bands*o.BandBytes) / 1e6
	}
	if s.Series == 0 {
		s.Series = estimateSeries(c)
	}
	return s
}

// add counts one canary with its probes a day.
func (s *Summary) add(r configs.Run, day float64, now time.Time) {
	c := r.Canary
	out := typicalTokens(c)
	s.ProbesDay += day
	s.InputDay += day * float64(c.InputTokens)
	s.OutputDay += day * out
	s.OutputCapDay += day * float64(c.MaxTokens)
	s.AlertedSeries += len(c.Scene.Metrics)
	s.FalseAlerts += float64(len(c.Scene.Metrics)) * falseAlertsPerSeries(r.Rule.Preset)
	p := c.Target.PriceAt(now)
	if p == nil || !p.Input.Known || !p.Output.Known {
		s.Unpriced++
		return
	}
	cost := func(out float64) float64 { return day * (float64(c.InputTokens)*p.Input.V + out*p.Output.V) / 1e6 }
	s.CostDay = probe.Some(s.CostDay.V + cost(out))
	s.CostCapDay = probe.Some(s.CostCapDay.V + cost(float64(c.MaxTokens)))
}

// typicalTokens returns the usual output of a canary; thinking is taken to double it, own prompts are taken at half of
// their cap.
func typicalTokens(c *probe.Canary) float64 {
	most := float64(c.MaxTokens)
	switch {
	case len(c.Prompts) > 0 && !builtin(c):
		return most / 2
	case c.Target.Reasoning:
		return min(most, max(2*typicalOutput, most/4))
	}
	return min(most, typicalOutput)
}

// builtin reports whether the canary sends built-in prompts, whose IDs begin with language and size.
func builtin(c *probe.Canary) bool {
	return strings.HasPrefix(c.Prompts[0].ID, c.Scene.Language+"-"+string(c.Size)+"-")
}

// estimateSeries returns about how many series /metrics shows once every canary has run and nothing has failed:
//
//	canary:  4 counters (probes, input and output tokens, cost), 1 last success, and per metric 1 last value and 4 of the baseline;
//	         1 alert state per metric and for each of timeout, error, limit and no_data
//	target:  1 info, and per input bucket it is probed at 3 histograms of 26+2 series (ttft, ttfa, e2e) and 1 of 18+2 (tpot)
//	process: 60
func estimateSeries(c *configs.Config) int {
	total := 60 + len(c.Targets)
	buckets := map[string]bool{}
	for _, r := range c.Runs {
		m := len(r.Canary.Scene.Metrics)
		total += 5 + 5*m + m + 4
		id := fmt.Sprintf("%s %d", r.Canary.Target.Name, bucketOf(c.Metrics.LatencyBuckets, r.Canary.InputTokens))
		for _, label := range c.Metrics.HistogramLabels {
			switch label {
			case "scene":
				id += " " + r.Canary.Scene.Name
			case "size":
				id += " " + string(r.Canary.Size)
			}
		}
		buckets[id] = true
	}
	return total + len(buckets)*(3*28+20)
}

func bucketOf(edges []int, tokens int) int {
	for i, e := range edges {
		if tokens < e {
			return i
		}
	}
	return len(edges)
}

// String returns the summary for people, a few lines.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s in %s: %s probes a day\n", plural(s.Canaries, "canary", "canaries"), plural(s.Targets, "target", "targets"), plural(s.Scenes, "scene", "scenes"), round(s.ProbesDay))
	fmt.Fprintf(&b, "tokens a day: about %s in, %s out (at most %s out)\n", round(s.InputDay), round(s.OutputDay), round(s.OutputCapDay))
	switch {
	case !s.CostDay.Known:
		b.WriteString("money a day: not known, no [[price]] matches\n")
	case s.Unpriced > 0:
		fmt.Fprintf(&b, "money a day: about $%.2f (at most $%.2f), %s without a price left out\n", s.CostDay.V, s.CostCapDay.V, plural(s.Unpriced, "canary", "canaries"))
	default:
		fmt.Fprintf(&b, "money a day: about $%.2f (at most $%.2f)\n", s.CostDay.V, s.CostCapDay.V)
	}
	fmt.Fprintf(&b, "database: about %.1f MB a day\n", s.StoreMBDay)
	fmt.Fprintf(&b, "series on /metrics: about %d\n", s.Series)
	fmt.Fprintf(&b, "false alerts a month: about %s on %d series (measured on a simulator; a level that wanders gives several times as many)\n", few(s.FalseAlerts), s.AlertedSeries)
	return b.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// few writes a small number with one decimal, a large one without.
func few(f float64) string {
	if f < 10 {
		return fmt.Sprintf("%.1f", f)
	}
	return round(f)
}

// round writes a count with thin groups: 1 234 567.
func round(f float64) string {
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
