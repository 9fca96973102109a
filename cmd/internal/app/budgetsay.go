package app

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"serin/alert"
	"serin/baseline/store"
	"serin/cmd/internal/telemetry"
	"serin/configs"
	"serin/probe"
)

// saidKey is where the store keeps which budgets were spoken of, so that a restart does not repeat it.
const saidKey = "budget/said"

// budgetNews remembers, for each target, the day and the stage that the channels were told of.
type budgetNews struct {
	mu   sync.Mutex
	said map[string]budgetSaid
}

type budgetSaid struct {
	Day   string `json:"day"`
	Stage int    `json:"stage"` // 1 = long stopped, 2 = medium too, 3 = all
	early bool   // told by an earlier life, whose message this one cannot edit
}

// stageOf returns the stage of a used share; 0 = all canaries are sent.
func stageOf(share float64) int {
	switch {
	case share >= shortUntil:
		return 3
	case share >= mediumUntil:
		return 2
	case share >= longUntil:
		return 1
	}
	return 0
}

// take notes that a target has reached a stage. open is true when its day was not spoken of yet, update when the message
// of the day can be edited to a later stage.
func (n *budgetNews) take(target string, u usage) (stage int, open, update bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	stage = stageOf(u.Share())
	was := n.said[target]
	open = was.Day != u.Day
	update = !open && stage > was.Stage && !was.early
	if open || update {
		if n.said == nil {
			n.said = map[string]budgetSaid{}
		}
		n.said[target] = budgetSaid{Day: u.Day, Stage: stage}
	}
	return stage, open, update
}

func (n *budgetNews) blob() (alert.Blob, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	body, err := json.Marshal(n.said)
	return alert.Blob{Key: saidKey, Body: body}, err
}

func (n *budgetNews) restore(blobs []alert.Blob) error {
	for _, b := range blobs {
		if b.Key != saidKey {
			continue
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if err := json.Unmarshal(b.Body, &n.said); err != nil {
			return fmt.Errorf("read which budgets were spoken of: %w", err)
		}
		for target, s := range n.said {
			s.early = true
			n.said[target] = s
		}
	}
	return nil
}

// overBudget tells, once a target and day, that canaries stop for want of budget; a later stage edits that message.
func (d *daemon) overBudget(c *probe.Canary, u usage) {
	stage, open, update := d.news.take(c.Target.Name, u)
	if !open && !update {
		return
	}
	zone := d.config().Budget.Zone
	d.log.Warn("budget of the day is nearly used up", "target", c.Target.Name, "day", u.Day, "stopped", stoppedSizes(stage),
		"tokens", u.Tokens, "tokens_limit", u.Limit.Tokens, "usd", u.USD, "usd_limit", u.Limit.USD)
	blob, err := d.news.blob()
	if err != nil {
		d.log.Error("write which budgets were spoken of", "error", err)
	}
	act := alert.ActOpen
	if update {
		act = alert.ActUpdate
	}
	notices := d.budgetNotices(c.Target.Name, stage, act, u, zone)
	d.owe(alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{blob}}, Told: alert.Told{Notices: notices}})
}

func (d *daemon) budgetNotices(target string, stage int, act alert.Act, u usage, zone *time.Location) []alert.Notice {
	m := alert.Message{Severity: alert.Warning, State: "firing", Headline: fmt.Sprintf("%s: %s of the day's probing budget is used, %s until midnight %s",
		target, percent(u.Share()), stoppedSizes(stage)+" stop", zone),
		Incident: fmt.Sprintf("budget-%s-%s", target, u.Day), Footer: []string{"seen by " + d.config().Instance.Name}}
	for _, text := range usedLines(u) {
		m.Lines = append(m.Lines, alert.Line{Role: "detail", Text: text})
	}
	m.Lines = append(m.Lines, alert.Line{Role: "hint", Text: "long canaries stop at 80 %, medium ones at 90 %, all at 100 %; raise [budget] or budget_tokens / budget_usd of the target, or probe less often"})
	var out []alert.Notice
	for _, name := range d.channelNames() {
		out = append(out, alert.Notice{Incident: m.Incident, Channel: name, Revision: stage, Act: act, Message: m, State: alert.NoticePending, Created: time.Now()})
	}
	return out
}

func usedLines(u usage) (lines []string) {
	if u.Limit.Tokens > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d tokens, probes under way counted at their output cap", u.Tokens, u.Limit.Tokens))
	}
	if u.Limit.USD > 0 {
		lines = append(lines, fmt.Sprintf("%.4f of %.4f USD", u.USD, u.Limit.USD))
	}
	return lines
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func stoppedSizes(stage int) string {
	switch stage {
	case 1:
		return "long canaries"
	case 2:
		return "long and medium canaries"
	}
	return "all canaries"
}

// readBudget fills the books with what the store knows of today.
func (d *daemon) readBudget(ctx context.Context) error {
	now := time.Now()
	d.budget.forget()
	for s, err := range d.store.Samples(ctx, store.Query{Since: d.budget.midnight(now)}) {
		if err != nil {
			return fmt.Errorf("read what of today's budget is used: %w", err)
		}
		run, _ := d.run(s.Key())
		d.budget.replay(run.Canary, &s, now)
	}
	return nil
}

// useBudget takes the budget of a reloaded config.
func (d *daemon) useBudget(ctx context.Context, conf configs.Budget) {
	if !d.budget.use(conf) {
		return
	}
	if err := d.readBudget(ctx); err != nil {
		d.log.Error("take the new budget", "error", err)
	}
}

func (d *daemon) budgetGauges(g *telemetry.Gauges) {
	for target, u := range d.budget.all(time.Now()) {
		if u.Limit.Tokens > 0 {
			g.Add(float64(u.Tokens)/float64(u.Limit.Tokens), "serin_budget_used_ratio", "target", target, "unit", "tokens")
		}
		if u.Limit.USD > 0 {
			g.Add(u.USD/u.Limit.USD, "serin_budget_used_ratio", "target", target, "unit", "usd")
		}
	}
}
