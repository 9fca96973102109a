package daemon

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
)

// toldBudgetsKey is where the store keeps which budgets people were told of, so that a restart does not repeat it.
const toldBudgetsKey = "budget/said"

// budgetNews remembers, for each target, the newest day and stage that people were told of.
type budgetNews struct {
	mu   sync.Mutex
	told map[string]budgetStage
}

// budgetStage is how far a day's budget is used.
type budgetStage struct {
	Day     string `json:"day"`
	Stopped bool   `json:"stopped"` // used up; else the warning's share is reached
}

// reach reports whether people have to be told that a target has used so much.
func (n *budgetNews) reach(target string, u usage) (stage budgetStage, isNew bool) {
	if u.Share() < budgetWarn {
		return stage, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	stage = budgetStage{Day: u.Day, Stopped: u.Share() >= 1}
	if was := n.told[target]; was == stage || was.Day == u.Day && was.Stopped {
		return stage, false
	}
	if n.told == nil {
		n.told = map[string]budgetStage{}
	}
	n.told[target] = stage
	return stage, true
}

func (n *budgetNews) blob() (alert.Blob, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	body, err := json.Marshal(n.told)
	return alert.Blob{Key: toldBudgetsKey, Body: body}, err
}

func (n *budgetNews) restore(blobs []alert.Blob) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, b := range blobs {
		if b.Key != toldBudgetsKey {
			continue
		}
		if err := json.Unmarshal(b.Body, &n.told); err != nil {
			return fmt.Errorf("read which budgets people were told of: %w", err)
		}
	}
	return nil
}

// noteBudget sends one message at the warning's share of a target's day and one when the budget is used up.
func (d *Daemon) noteBudget(target string, u usage) {
	if u.Limit == (configs.BudgetLimit{}) {
		return
	}
	stage, isNew := d.news.reach(target, u)
	if !isNew {
		return
	}
	d.log.Warn("budget of the day", "target", target, "day", u.Day, "stopped", stage.Stopped,
		"tokens", u.Tokens, "tokens_limit", u.Limit.Tokens, "usd", u.USD, "usd_limit", u.Limit.USD)
	blob, err := d.news.blob()
	if err != nil {
		d.log.Error("write which budgets people were told of", "error", err)
	}
	d.owe(alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{blob}}, Told: alert.Told{Notices: d.budgetNotices(target, stage, u)}})
}

func (d *Daemon) budgetNotices(target string, stage budgetStage, u usage) []alert.Notice {
	cfg := d.config()
	m := alert.Message{Severity: alert.Warning, State: "firing", Footer: []string{"probed from " + cfg.Instance.Name}}
	m.Incident = fmt.Sprintf("budget-%s-%s-80", target, u.Day)
	m.Headline = fmt.Sprintf("%s: %s of the day's probing budget is used", target, percent(u.Share()))
	next := fmt.Sprintf("at 100 %% probing of %s stops until midnight %s", target, cfg.Budget.Zone)
	if stage.Stopped {
		m.Incident = fmt.Sprintf("budget-%s-%s-100", target, u.Day)
		m.Headline = fmt.Sprintf("%s: the day's probing budget is used up, probing stops until midnight %s", target, cfg.Budget.Zone)
		next = "nothing watches this target until then"
	}
	for _, text := range append(usedLines(u), next) {
		m.Lines = append(m.Lines, alert.Line{Role: "detail", Text: text})
	}
	m.Lines = append(m.Lines, alert.Line{Role: "hint", Text: "raise [budget], or budget_tokens / budget_usd of the target, or probe less often"})
	var out []alert.Notice
	for _, name := range d.channelNames() {
		out = append(out, alert.Notice{Incident: m.Incident, Channel: name, Revision: 1, Act: alert.ActNote, Message: m, State: alert.NoticePending, Created: time.Now()})
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

// readBudget fills the books with what the store knows of today.
func (d *Daemon) readBudget(ctx context.Context) error {
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
func (d *Daemon) useBudget(ctx context.Context, conf configs.Budget) {
	if !d.budget.use(conf) {
		return
	}
	if err := d.readBudget(ctx); err != nil {
		d.log.Error("take the new budget", "error", err)
	}
}

func (d gauges) budgetGauges(g *telemetry.Gauges) {
	for target, u := range d.budget.all(time.Now()) {
		if u.Limit.Tokens > 0 {
			g.Add(float64(u.Tokens)/float64(u.Limit.Tokens), "serin_budget_used_ratio", "target", target, "unit", "tokens")
		}
		if u.Limit.USD > 0 {
			g.Add(u.USD/u.Limit.USD, "serin_budget_used_ratio", "target", target, "unit", "usd")
		}
	}
}
