package app

import (
	"context"
	"time"

	"serin/baseline/store"
)

// dayGaugesWithin bounds the reading of daily sums at a scrape.
const dayGaugesWithin = 2 * time.Second

// dayGauges writes what each scene used at each target since midnight of the scene's zone. The sums are those of the
// store: a restart does not begin them anew.
func (d *daemon) dayGauges(g *gaugeLines) {
	ctx, cancel := context.WithTimeout(context.Background(), dayGaugesWithin)
	defer cancel()
	now := time.Now().UTC()
	list, err := d.store.Daily(ctx, now.AddDate(0, 0, -1), now.AddDate(0, 0, 1)) // zones are up to a day apart
	if err != nil {
		d.log.Warn("read the day's sums for /metrics", "error", err)
		return
	}
	for id, sum := range d.today(list, now) {
		labels := []label{{"target", id[0]}, {"scene", id[1]}}
		d.put(g, float64(sum.InputTokens), "serin_day_input_tokens", labels...)
		d.put(g, float64(sum.OutputTokens), "serin_day_output_tokens", labels...)
		if sum.CostUSD > 0 || sum.Unpriced == 0 { // else nothing is known
			d.put(g, sum.CostUSD, "serin_day_cost_usd", labels...)
		}
	}
}

// today adds up, by target and scene, the sums of configured canaries whose day is the present one of their scene.
func (d *daemon) today(list []store.Daily, now time.Time) map[[2]string]store.Daily {
	out := map[[2]string]store.Daily{}
	for i := range list {
		x := &list[i]
		run, ok := d.run(x.Key())
		if !ok || x.Day != now.In(run.Canary.Scene.Zone).Format(time.DateOnly) {
			continue
		}
		id := [2]string{x.Target, x.Scene}
		sum := out[id]
		sum.InputTokens += x.InputTokens
		sum.OutputTokens += x.OutputTokens
		sum.CostUSD += x.CostUSD
		sum.Unpriced += x.Unpriced
		out[id] = sum
	}
	return out
}
