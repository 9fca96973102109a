package configs

import (
	"time"
)

// Budget is what probing may use, for each target and day.
type Budget struct {
	Zone   *time.Location // whose midnight begins the day
	Limits map[string]BudgetLimit
}

// BudgetLimit is one target's budget of a day; 0 = no bound.
type BudgetLimit struct {
	Tokens int64   // input and output
	USD    float64 // by [[price]]
}

// budgetKeys are the keys of [budget].
type budgetKeys struct {
	Tokens   int     `koanf:"tokens"`
	USD      float64 `koanf:"usd"`
	Timezone string  `koanf:"timezone"`
}

func defaultBudget() budgetKeys { return budgetKeys{Timezone: "UTC"} }

func (l *loader) resolveBudget() {
	s := l.single("budget")
	l.budget = defaultBudget()
	l.decode(layers{s}, &l.budget)
	l.cfg.Budget = Budget{Zone: l.zone(s, l.budget.Timezone), Limits: map[string]BudgetLimit{}}
	if l.budget.Tokens < 0 || l.budget.USD < 0 {
		l.rep.fail(s.at(""), s.path, "holds a negative bound", "write the most that a target may use a day, or remove it")
	}
}

// budgetOf sets the budget of one target: its own keys, where it has none those of [budget].
func (l *loader) budgetOf(t *target, k targetKeys) {
	limit := BudgetLimit{Tokens: int64(l.budget.Tokens), USD: l.budget.USD}
	for _, key := range []string{"budget_tokens", "budget_usd"} {
		if at, name := t.from.at(key); t.from.has(key) && (k.BudgetTokens < 0 || k.BudgetUSD < 0) {
			l.rep.fail(at, name, "is below 0", "write the most that the target may use a day, or 0 for no bound")
			return
		}
	}
	if t.from.has("budget_tokens") {
		limit.Tokens = int64(k.BudgetTokens)
	}
	if t.from.has("budget_usd") {
		limit.USD = k.BudgetUSD
	}
	if limit.USD > 0 && len(t.Prices) == 0 {
		at, name := t.from.at("budget_usd")
		if !t.from.has("budget_usd") {
			name = t.from[0].path
		}
		l.rep.warn(at, name, "has a budget in US dollars and no price, so that nothing is counted against it", "give its model a [[price]], or bound it by budget_tokens")
	}
	if limit != (BudgetLimit{}) {
		l.cfg.Budget.Limits[t.Name] = limit
	}
}
