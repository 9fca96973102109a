package configs

import "time"

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

func (l *loader) resolveBudget() {
	s, k := l.table("budget"), l.file.Budget
	l.cfg.Budget = Budget{Zone: s.zone(k.Timezone), Limits: map[string]BudgetLimit{}}
	if k.Tokens < 0 || k.USD < 0 {
		s.fail("", "holds a negative bound", "write the most that a target may use a day, or remove it")
	}
}

// budgetOf sets the budget of one target: its own keys, where it has none those of [budget].
func (l *loader) budgetOf(t *target, k targetKeys) {
	limit := BudgetLimit{Tokens: int64(l.file.Budget.Tokens), USD: l.file.Budget.USD}
	if t.has("budget_tokens") {
		limit.Tokens = int64(k.BudgetTokens)
	}
	if t.has("budget_usd") {
		limit.USD = k.BudgetUSD
	}
	key := "budget_usd"
	if k.BudgetTokens < 0 {
		key = "budget_tokens"
	}
	if k.BudgetTokens < 0 || k.BudgetUSD < 0 {
		t.fail(key, "is below 0", "write the most that the target may use a day, or 0 for no bound")
		return
	}
	if limit.USD > 0 && len(t.Prices) == 0 {
		if !t.has(key) {
			key = "" // that of [budget]
		}
		t.warn(key, "has a budget in US dollars and no price, so that nothing is counted against it", "give its model a [[price]], or bound it by budget_tokens")
	}
	if limit != (BudgetLimit{}) {
		l.cfg.Budget.Limits[t.Name] = limit
	}
}
