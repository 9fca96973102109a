package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"time"

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
	return "Example: serin baseline show -c serin.toml 'gw-eu/chat/*'\n\nFor each slot of today, and each part of it that is slow by itself on most days: the samples and days its band is made of, the usual value and the limit. Reads the store, also beside a running daemon."
}

// slotBand is one line of baseline show; Mean, Low and Limit are seconds.
type slotBand struct {
	Series  string         `json:"series"`
	Metric  probe.Metric   `json:"metric"`
	Slot    time.Time      `json:"slot"`
	From    time.Time      `json:"from"` // of the part of the slot that is meant: its beginning, mostly
	State   string         `json:"state"`
	N       int            `json:"n"`
	Days    int            `json:"days"`
	Widened string         `json:"widened,omitempty"`
	Daily   float64        `json:"daily,omitempty"` // Mean is so many times that of the slot, because most days are slow at this time by themselves
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

// slotsOf asks for the band of each slot of the local day, and of each part of it that is usual in another way.
func slotsOf(s *baseline.Series, sub subject, slot time.Duration, now time.Time) []slotBand {
	zone := sub.Canary.Scene.Zone
	if zone == nil {
		zone = time.UTC
	}
	y, mon, day := now.In(zone).Date()
	var list []slotBand
	for start := time.Duration(0); start < 24*time.Hour; start += slot {
		first, daily := true, 0.0
		for at := start; at < start+slot; at += baseline.DailyPart {
			hour, minute := int(at/time.Hour), int(at%time.Hour/time.Minute)
			from := time.Date(y, mon, day, hour, minute, 0, 0, zone)
			b := s.Band(from)
			absent := from.Hour() != hour || from.Minute() != minute // today: the clock was put forward
			if absent || !first && b.Daily == daily {
				continue
			}
			first, daily = false, b.Daily
			list = append(list, slotBand{b.Canary, b.Metric, b.Slot, from, b.State, b.N, b.Days, b.Widened, ratioOf(b.Daily), b.Mean, b.Low, b.Limit, b.LeftOut})
		}
	}
	return list
}

// ratioOf is what a raise (ln) makes of a value; 0 where there is none.
func ratioOf(raise float64) float64 {
	if raise == 0 {
		return 0
	}
	return math.Exp(raise)
}

// byItself says where a part of a slot has a usual value of its own.
func (b slotBand) byItself() string {
	switch {
	case b.Daily > 0:
		return fmt.Sprintf("  ×%.2f of the slot's: slow at this time on most days", b.Daily)
	case !b.From.Equal(b.Slot):
		return "  the slot's"
	}
	return ""
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
		_, _ = fmt.Fprintf(out, "  %-6s %-9s %5d %5d %-7s %9s %9s%s\n", b.From.Format("15:04"), b.State, b.N, b.Days, width, usual, limit, b.byItself())
	}
	return err
}
