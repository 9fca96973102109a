package daemon

import (
	"sync"
	"time"

	"serin/configs"
	"serin/probe"
)

// budgetWarn is the share of a day's budget from which on people are told.
const budgetWarn = 0.8

// budget says before each run whether it is within the day's budget of its target. A run is sent while the budget is not
// used up, what is under way counted at its output cap: one run may end above the bound, no second one begins there. It keeps books for every target, with a limit or without. It reads no clock and is safe for concurrent
// use; instants are wall-clock times.
type budget struct {
	mu     sync.Mutex
	zone   *time.Location
	limits map[string]configs.BudgetLimit
	books  map[string]*book // by target
}

// book is what one target used on one day.
type book struct {
	day    string // in the budget's zone
	tokens int64
	usd    float64
	held   map[*hold]bool // under way
}

// hold is what a probe under way may cost at most.
type hold struct {
	target string
	most   probe.Spend
}

// usage is how much of a target's budget is used, what is under way included.
type usage struct {
	Day    string
	Tokens int64
	USD    float64
	Limit  configs.BudgetLimit
}

// Share returns the used share of the limit that is nearest to its end; 0 without a limit.
func (u usage) Share() float64 {
	var share float64
	if u.Limit.Tokens > 0 {
		share = float64(u.Tokens) / float64(u.Limit.Tokens)
	}
	if u.Limit.USD > 0 {
		share = max(share, u.USD/u.Limit.USD)
	}
	return share
}

func newBudget(conf configs.Budget) *budget {
	b := &budget{books: map[string]*book{}}
	b.zone, b.limits = conf.Zone, conf.Limits
	if b.zone == nil {
		b.zone = time.UTC
	}
	return b
}

// take reports whether a run of c may be sent at now. If so it holds the run's worst case; give the hold to settle.
func (b *budget) take(c *probe.Canary, now time.Time) (h *hold, used usage, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	used = b.used(c.Target.Name, now)
	if used.Limit != (configs.BudgetLimit{}) && used.Share() >= 1 {
		return nil, used, false
	}
	return b.hold(c, now), used, true
}

// force holds the worst case of a run that is sent whatever the budget says: the second try of one that was taken.
func (b *budget) force(c *probe.Canary, now time.Time) *hold {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hold(c, now)
}

func (b *budget) hold(c *probe.Canary, now time.Time) *hold {
	h := &hold{target: c.Target.Name, most: c.Most(now)}
	b.book(h.target, now).held[h] = true
	return h
}

// settle puts what the run used in place of its hold. It counts for the day on which it was sent.
func (b *budget) settle(h *hold, c *probe.Canary, s *probe.Sample, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.book(h.target, now).held, h)
	b.enter(s, c.Spent(s), now)
}

// replay enters a stored sample of an earlier life; c is nil where its canary is no longer configured.
func (b *budget) replay(c *probe.Canary, s *probe.Sample, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	spent := probe.Spend{Tokens: s.InputTokens.V + s.OutputTokens.V, USD: s.CostUSD}
	if c != nil {
		spent = c.Spent(s)
	}
	b.enter(s, spent, now)
}

func (b *budget) enter(s *probe.Sample, spent probe.Spend, now time.Time) {
	if k := b.book(s.Target, now); b.day(s.Time) == k.day {
		k.tokens += spent.Tokens
		k.usd += spent.USD.V
	}
}

// book returns the target's book of today, a new one after midnight; what is under way goes over.
func (b *budget) book(target string, now time.Time) *book {
	today := b.day(now)
	k := b.books[target]
	if k == nil {
		k = &book{day: today, held: map[*hold]bool{}}
		b.books[target] = k
	}
	if k.day != today {
		k.day, k.tokens, k.usd = today, 0, 0
	}
	return k
}

func (b *budget) day(t time.Time) string { return t.In(b.zone).Format(time.DateOnly) }

func (b *budget) used(target string, now time.Time) usage {
	k := b.book(target, now)
	u := usage{Day: k.day, Tokens: k.tokens, USD: k.usd, Limit: b.limits[target]}
	for h := range k.held {
		u.Tokens += h.most.Tokens
		u.USD += h.most.USD.V
	}
	return u
}

// all returns the usage of every target that has a limit.
func (b *budget) all(now time.Time) map[string]usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]usage, len(b.limits))
	for target := range b.limits {
		out[target] = b.used(target, now)
	}
	return out
}

// midnight returns the beginning of the day of now in the budget's zone.
func (b *budget) midnight(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	y, m, d := now.In(b.zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, b.zone)
}

// use takes other limits. stale reports that the books must be read again from the store: the day begins at another
// time, or there was no limit so far and what was used before this process began is not in them.
func (b *budget) use(conf configs.Budget) (stale bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	zone := conf.Zone
	if zone == nil {
		zone = time.UTC
	}
	stale = len(conf.Limits) > 0 && (len(b.limits) == 0 || zone.String() != b.zone.String())
	b.zone, b.limits = zone, conf.Limits
	return stale
}

// forget closes the books, to be filled by replay; what is under way stays held.
func (b *budget) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.books {
		k.day, k.tokens, k.usd = "", 0, 0
	}
}
