package message

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"serin/alert"
)

// spark is the leading canary's last hour with what counted: ▁▂▁▅▇█ last hour · 6 of the last 6 checks above 378 ms.
func (v view) spark(t trouble) string {
	c, a := v.canary(t), t.alerts[0]
	switch {
	case len(v.now) > 1 || a.Kind == alert.KindNoData:
		return ""
	case c == nil || v.Recent == nil:
		return weighed(a)
	}
	k := a.Kind
	if k.Metric() == "" {
		k = alert.KindTTFT
	}
	values := v.Recent(c.Key(), k, a.Began()).Values
	return joined(" · ", hourOf(values, t.isSlow()), v.above(t, c, values))
}

// hourOf draws the values of the last hour.
func hourOf(values []float64, slow bool) string {
	if _, high := extent(values); high == 0 || len(values) < 3 {
		return ""
	}
	if !slow {
		return sparkline(values) + " last hour (·: failed)"
	}
	return sparkline(values) + " last hour"
}

// above counts the newest checks above the limit; of a recovering target those below it.
func (v view) above(t trouble, c *alert.CanaryStatus, values []float64) string {
	a := t.alerts[0]
	limit := cmp.Or(a.Last.Limit, c.Bands[a.Kind.Metric()].Limit)
	if !t.isSlow() || limit <= 0 {
		return ""
	}
	values = values[max(0, len(values)-newest):]
	n, below := 0, 0
	for _, x := range values {
		if measured(x) && x > limit {
			n++
		} else if measured(x) {
			below++
		}
	}
	switch {
	case t.isRecovering() && below > 0:
		return fmt.Sprintf("%d of the last %s below %s", below, count(len(values), "check"), seconds(limit))
	case weighed(a) != "":
		return weighed(a)
	case n == 0:
		return ""
	}
	return fmt.Sprintf("%d of the last %s above %s", n, count(len(values), "check"), seconds(limit))
}

// weighed says why an alert fired that no count of checks above a limit decided; "" where one did.
func weighed(a alert.Alert) string {
	f := a.Fit
	switch {
	case f == nil:
		return ""
	case f.Away:
		return fmt.Sprintf("about %s of usual for hours; by itself the level rarely goes beyond %s", times(f.Hours), times(f.Reach))
	}
	return fmt.Sprintf("%s fit a lasting step to %s of usual; by itself the level moves by %.0f %%", count(max(f.Checks, f.Votes), "check"), times(f.Ratio), 100*f.Moves())
}

// marks lists marks: 89 s before it began: mark "vllm 0.13".
func (v view) marks(from time.Time) string {
	var parts []string
	for _, m := range v.Marks {
		text := `mark "` + alert.OneLine(m.Text, 100) + `"`
		switch d := from.Sub(m.At); {
		case d >= time.Second:
			text = elapsed(d) + " before it began: " + text
		case d <= -time.Second:
			text = "at " + v.time(m.At) + ": " + text
		default:
			text = "as it began: " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}
