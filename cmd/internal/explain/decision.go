package explain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/cmd/internal/human"
	"serin/probe"
)

// Decision is how one series was judged: at one alert, or between two times in which none fired. All values are seconds.
type Decision struct {
	Series  string     `json:"series"`
	Kind    alert.Kind `json:"kind"`
	From    time.Time  `json:"from"`
	Until   time.Time  `json:"until"`
	Summary []string   `json:"summary"` // what happened, against what it was held, why it fired or did not

	Alert   *alert.Alert       `json:"alert,omitempty"`
	Band    *baseline.Band     `json:"band,omitempty"` // as it was stored then
	Checks  []Check            `json:"checks"`         // newest last
	Step    *alert.Fit         `json:"step,omitempty"` // where a lasting step up decides
	Changes []alert.Transition `json:"changes"`
	Marks   []alert.Mark       `json:"marks,omitempty"`
}

// Check is one observation: with an alert as it was stored with the decision, else a stored sample beside the band of its slot.
type Check struct {
	At      time.Time     `json:"at"`
	Trigger probe.Trigger `json:"trigger,omitempty"`
	Value   float64       `json:"value,omitempty"`
	Mean    float64       `json:"mean,omitempty"`
	Limit   float64       `json:"limit,omitempty"`
	Ratio   float64       `json:"ratio,omitempty"`
	Z       float64       `json:"z,omitempty"`
	Call    baseline.Call `json:"call"`
	Why     string        `json:"why,omitempty"`   // it was not judged
	Parts   []Part        `json:"parts,omitempty"` // of a round: what each canary added
}

// Part is what one canary added to a round. Ratio is of usual for its half hour, without today's offset.
type Part struct {
	Canary string  `json:"canary,omitempty"` // "" = not known
	Ratio  float64 `json:"ratio"`
}

func ratioOf(ln float32) float64 { return math.Exp(float64(ln)) }

// single reports whether the series is one canary, not a whole target.
func (d *Decision) single() bool { return strings.Count(d.Series, "/") == 2 }

// hold puts a stored sample beside the band of its slot.
func hold(s *probe.Sample, m probe.Metric, b *baseline.Band) Check {
	c := Check{At: s.Time, Trigger: s.Trigger, Call: baseline.NotJudged}
	value, why := baseline.Value(s, m)
	c.Value, c.Why = value.Seconds(), why
	switch {
	case why != "":
	case b == nil || b.Limit == 0:
		c.Why = noBand
	default:
		c.Mean, c.Limit, c.Ratio, c.Call = b.Mean, b.Limit, c.Value/b.Mean, baseline.Calm
		if c.Value > b.Limit {
			c.Call = baseline.Breach
		}
	}
	return c
}

// noBand is why a value could not be held against anything.
const noBand = "no_band"

// summarize writes the three sentences.
func (d *Decision) summarize() {
	if d.Alert != nil {
		d.Summary = []string{d.happened(), d.heldAgainst(), d.whyFired()}
		return
	}
	d.Summary = []string{d.seen(), d.heldAgainst(), d.whyQuiet()}
}

// name is the series as people write it, with what is meant of it.
func (d *Decision) name() string {
	what := map[alert.Kind]string{alert.KindTimeout: "timeouts", alert.KindError: "errors", alert.KindLimit: "refusals by a limit", alert.KindNoData: "missing data"}[d.Kind]
	if what == "" {
		what = strings.ToUpper(string(d.Kind))
	}
	return what + " of " + strings.ReplaceAll(d.Series, "/", " / ")
}

func (d *Decision) happened() string {
	a, what := d.Alert, d.name()
	w := a.Worst
	switch {
	case w.Value > 0 && w.Ratio > 0 && !a.Fixed:
		what += fmt.Sprintf(": %.1fx its usual at worst, %s", w.Ratio, human.Seconds(w.Value))
	case w.Value > 0:
		what += ": " + human.Seconds(w.Value) + " at worst"
	case w.Ratio > 0:
		what += fmt.Sprintf(": all canaries together %.1fx their usual at worst", w.Ratio)
	case w.Outcome != "":
		what += fmt.Sprintf(": %s (%d timeouts, %d errors in %s)", strings.TrimSpace(string(w.Outcome)+" "+w.Reason), a.Timeouts, a.Errors, human.Plural(a.Probes, "check"))
	}
	began := a.FirstBreach
	if began.IsZero() {
		began = a.Fired
	}
	if a.Resolved.IsZero() {
		return fmt.Sprintf("%s, since %s, still firing as %s.", what, human.Time(began), strings.ToUpper(string(a.Severity)))
	}
	return fmt.Sprintf("%s, from %s to %s, fired as %s.", what, human.Time(began), human.Time(a.Resolved), strings.ToUpper(string(a.Severity)))
}

func (d *Decision) heldAgainst() string {
	b := d.Band
	switch {
	case d.Kind.Metric() == "":
		return "Each probe counts by how it ended, no band is needed."
	case d.Alert != nil && d.Alert.Fixed:
		return fmt.Sprintf("It was held against the fixed limit of %s.", human.Seconds(d.Alert.Worst.Limit))
	case !d.single():
		return "Each canary was held against its own band; a round is the median of the canaries, with today's offset taken off."
	case b == nil:
		return "No band is stored for that time: the samples were imported, or nothing was judged yet."
	case b.State != "ready":
		return fmt.Sprintf("It was still learning: day %d, %s.", b.Days, human.Plural(b.N, "sample"))
	}
	return fmt.Sprintf("Usual in that slot (from %s) is %s and the limit %s, from %s of %d days%s.", human.Time(b.Slot), human.Seconds(b.Mean), human.Seconds(b.Limit),
		human.Plural(b.N, "sample"), b.Days, leftOut(b.LeftOut))
}

func leftOut(by map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%d %s", by[why], whyText(why)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; left out: " + strings.Join(parts, ", ")
}

func (d *Decision) whyFired() string {
	a := d.Alert
	text := fmt.Sprintf("It fired at %s", human.Time(a.Fired))
	for _, t := range d.Changes {
		if t.To == alert.StateFiring && t.At.Equal(a.Fired) {
			text += ": " + t.Reason
		}
	}
	if a.Resolved.IsZero() {
		return text + "."
	}
	return text + "; it ended: " + a.Reason + "."
}

// seen says what was measured in a time in which nothing fired.
func (d *Decision) seen() string {
	span := fmt.Sprintf("between %s and %s", human.Time(d.From), human.Time(d.Until))
	if !d.single() {
		return fmt.Sprintf("%s, all canaries together, did not fire %s.", d.name(), span)
	}
	low, high, n := math.Inf(1), 0.0, 0
	for _, c := range d.Checks {
		if c.Value > 0 {
			low, high, n = min(low, c.Value), max(high, c.Value), n+1
		}
	}
	if n == 0 {
		return fmt.Sprintf("%s was not measured %s (%s).", d.name(), span, human.Plural(len(d.Checks), "probe"))
	}
	return fmt.Sprintf("%s was %s to %s in %s %s.", d.name(), human.Seconds(low), human.Seconds(high), human.Plural(n, "check"), span)
}

// whyQuiet says why nothing fired, as far as that is stored.
func (d *Decision) whyQuiet() string {
	for _, t := range slices.Backward(d.Changes) {
		if t.From == alert.StatePending && t.To != alert.StateFiring && t.At.Before(d.Until) {
			return fmt.Sprintf("It was pending until %s and did not fire: %s.", human.Time(t.At), t.Reason)
		}
	}
	if !d.single() {
		return "The score of rounds that did not fire is not kept; use backtest."
	}
	judged, above, most, run := 0, 0, 0, 0
	for _, c := range d.Checks {
		switch {
		case c.Call == baseline.Breach:
			judged, above, run = judged+1, above+1, run+1
			most = max(most, run)
		case c.Call == baseline.Calm:
			judged, run = judged+1, 0
		}
	}
	switch {
	case judged == 0:
		return "It did not fire: none of them could be judged; use backtest."
	case above == 0:
		return "It did not fire: none of them was above the limit."
	}
	return fmt.Sprintf("It did not fire: %d of %d were above the limit, at most %d in a row; what another rule would decide: use backtest.", above, judged, most)
}

// whyText says in words why a value was not judged, or not used.
func whyText(why string) string {
	switch why {
	case noBand:
		return "no band stored: imported, or learning"
	case "learning":
		return "still learning"
	case "first":
		return "the first after a start, on a cold connection"
	case "cold_start":
		return "the model was loaded for it"
	case "client_suspect":
		return "this machine was late itself"
	case "spec":
		return "of another prompt or model"
	case "absent":
		return "it could not be measured"
	}
	return strings.ReplaceAll(why, "_", " ")
}
