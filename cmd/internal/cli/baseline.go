package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"time"

	"serin/alert"
	"serin/alert/engine"
	"serin/alert/replay"
	"serin/baseline"
	"serin/baseline/store"
	"serin/cmd/internal/human"
	"serin/configs"
	"serin/probe"
)

type baselineCmd struct {
	Show  baselineShowCmd  `cmd:"" help:"Show what is normal, slot by slot."`
	Reset baselineResetCmd `cmd:"" help:"Forget the history of canaries: they learn anew."`
}

type baselineResetCmd struct {
	Pattern string `arg:"" help:"Glob over canaries (target/scene/size) or targets."`
	orderFlags
}

// Help shows an example.
func (baselineResetCmd) Help() string {
	return "Example: serin baseline reset 'gw-eu' --why 'new hardware, nothing compares'\n\nThe samples stay in the store; bands are made of what comes from now on. Open latency alerts end."
}

// Run asks the daemon to forget.
func (c *baselineResetCmd) Run(ctx context.Context, o Options) error {
	return c.send(ctx, o, "/api/v1/baseline/reset", url.Values{"pattern": {c.Pattern}}, "learning anew")
}

type baselineShowCmd struct {
	configFlag
	Store   string `placeholder:"PATH" help:"Store file (default: that of the config, else the default place)."`
	Pattern string `arg:"" optional:"" help:"Glob over canaries (target/scene/size) or targets. Default: all."`
	Format  string `enum:"text,json" default:"text" help:"text, or json (one slot a line)."`
}

// Help shows an example.
func (baselineShowCmd) Help() string {
	return "Example: serin baseline show -c serin.toml 'gw-eu/chat/*'\n\nFor each slot of today: the samples and days its band is made of, the usual value and the limit. Reads the store, also beside a running daemon."
}

// poolBack is how far back the samples of a band are looked for: the window and the days that widen it.
const poolBack = 16 * 24 * time.Hour

// slotBand is one line of baseline show; Mean, Low and Limit are seconds.
type slotBand struct {
	Series  string         `json:"series"`
	Metric  probe.Metric   `json:"metric"`
	Slot    time.Time      `json:"slot"`
	State   string         `json:"state"`
	N       int            `json:"n"`
	Days    int            `json:"days"`
	Widened string         `json:"widened,omitempty"`
	Mean    float64        `json:"mean,omitempty"`
	Low     float64        `json:"low,omitempty"`
	Limit   float64        `json:"limit,omitempty"`
	LeftOut map[string]int `json:"left_out,omitempty"`
}

// Run prints bands.
func (c *baselineShowCmd) Run(ctx context.Context, o Options) error {
	cfg, err := (&backtestCmd{configFlag: c.configFlag}).config()
	if err != nil {
		return err
	}
	path, err := storePath(c.Store, c.Config)
	if err != nil {
		return err
	}
	st, err := openStore(ctx, path, o.Stderr, true)
	if err != nil {
		return fail(ExitUsage, err)
	}
	out := bufio.NewWriter(o.Stdout)
	err = c.show(ctx, st, cfg, out, time.Now())
	return errors.Join(err, out.Flush(), st.Close())
}

func (c *baselineShowCmd) show(ctx context.Context, st *store.Store, cfg *configs.Config, out io.Writer, now time.Time) error {
	tape, err := storeTape(ctx, st, store.Query{Since: now.Add(-poolBack), Pattern: c.Pattern})
	if err != nil {
		return err
	}
	found, _ := subjects(tape.Canaries(replay.Cut{}), cfg, 0, nil)
	switch days := int(poolBack.Hours() / 24); {
	case len(found) == 0 && c.Pattern == "":
		return fail(ExitUsage, fmt.Errorf("the store has no samples of the last %d days yet: the first come with the schedules (serin validate --schedule), older ones with serin import", days))
	case len(found) == 0:
		return fail(ExitUsage, fmt.Errorf("no canary with samples of the last %d days matches %q", days, c.Pattern))
	}
	for _, sub := range found {
		records, err := collect(st.History(ctx, sub.Canary.Key(), now.Add(-poolBack)), now)
		if err != nil {
			return err
		}
		for _, m := range sub.series() {
			state, err := pastState(ctx, st, sub.Canary.Key(), m, now)
			if err != nil {
				return err
			}
			s := seriesOf(sub, m, records, sub.Rule.Threshold, baselineOptions(cfg), state, now)
			if err := c.print(out, sub, m, slotsOf(s, sub, baselineOptions(cfg).Slot, now)); err != nil {
				return err
			}
		}
	}
	return nil
}

// slotsOf asks for the band of each slot of the local day.
func slotsOf(s *baseline.Series, sub subject, slot time.Duration, now time.Time) []slotBand {
	zone := sub.Canary.Scene.Zone
	if zone == nil {
		zone = time.UTC
	}
	y, mon, day := now.In(zone).Date()
	var list []slotBand
	for start := time.Duration(0); start < 24*time.Hour; start += slot {
		hour, minute := int(start/time.Hour), int(start%time.Hour/time.Minute)
		from := time.Date(y, mon, day, hour, minute, 0, 0, zone)
		if from.Hour() != hour || from.Minute() != minute { // today the clock was put forward
			continue
		}
		b := s.Band(from)
		list = append(list, slotBand{b.Canary, b.Metric, b.Slot, b.State, b.N, b.Days, b.Widened, b.Mean, b.Low, b.Limit, b.LeftOut})
	}
	return list
}

func (c *baselineShowCmd) print(out io.Writer, sub subject, m probe.Metric, list []slotBand) error {
	if c.Format == "json" {
		for _, b := range list {
			if err := json.NewEncoder(out).Encode(b); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := fmt.Fprintf(out, "%s %s\n  %-6s %-9s %5s %5s %-7s %9s %9s\n", sub.Canary.Key(), m, "slot", "state", "n", "days", "window", "usual", "limit")
	for _, b := range list {
		width := b.Widened
		if width != "" && width != "day" {
			width = "±" + width
		}
		usual, limit := "–", "–"
		if b.Limit > 0 {
			usual, limit = human.Seconds(b.Mean), human.Seconds(b.Limit)
		}
		_, _ = fmt.Fprintf(out, "  %-6s %-9s %5d %5d %-7s %9s %9s\n", b.Slot.Format("15:04"), b.State, b.N, b.Days, width, usual, limit)
	}
	return err
}

// collect returns the records up to a time.
func collect(list iter.Seq2[alert.Record, error], until time.Time) ([]alert.Record, error) {
	var out []alert.Record
	for r, err := range list {
		if err != nil {
			return nil, fmt.Errorf("read samples: %w", err)
		}
		if r.Sample.Time.After(until) {
			break
		}
		if r.Sample.Trigger != probe.Check {
			out = append(out, r)
		}
	}
	return out, nil
}

// seriesOf builds a series as it stood at a time.
func seriesOf(sub subject, m probe.Metric, records []alert.Record, th baseline.Threshold, opt baseline.Options, st *baseline.State, at time.Time) *baseline.Series {
	s := baseline.NewSeries(baseline.Key{Canary: sub.Canary.Key(), Metric: m, Spec: sub.Spec, Zone: sub.Canary.Scene.Zone, Interval: sub.Canary.Interval}, opt, th)
	var points []baseline.Point
	var missed []baseline.LeftOut
	for i := range records {
		r := &records[i]
		if !r.Sample.Regular() || r.Sample.Outcome == probe.Skipped {
			continue
		}
		v, why := baseline.Value(&r.Sample, m)
		if why == "" && sub.Spec != "" && r.Sample.Spec != "" && r.Sample.Spec != sub.Spec && opt.OnChange != "keep" {
			why = "spec"
		}
		if why == "" && r.Sample.Has(probe.InMaintenance) {
			why = string(probe.InMaintenance)
		}
		if why != "" {
			missed = append(missed, baseline.LeftOut{At: r.Sample.Time, Why: why})
			continue
		}
		points = append(points, baseline.Point{At: r.Sample.Time, Y: baseline.Y(v), Regular: true, Excluded: r.Excluded[m], Res: r.Residuals[m]})
	}
	s.Load(points, st, at)
	for _, x := range missed {
		s.Miss(x.At, x.Why)
	}
	return s
}

// pastState returns what was accepted or forgotten of a series until a time; what is frozen now is left out of it.
func pastState(ctx context.Context, st *store.Store, key string, m probe.Metric, at time.Time) (*baseline.State, error) {
	body, err := st.Blob(ctx, engine.SeriesKey(key, m))
	if err != nil || body == nil {
		return nil, err
	}
	var stored baseline.State
	if err := json.Unmarshal(body, &stored); err != nil {
		return nil, fmt.Errorf("read the state of %s %s: %w", key, m, err)
	}
	out := &baseline.State{Since: stored.Since}
	if out.Since > at.UnixNano() {
		out.Since = 0
	}
	for _, h := range stored.Shifts {
		if h.To <= at.UnixNano() {
			out.Shifts = append(out.Shifts, h)
		}
	}
	return out, nil
}
