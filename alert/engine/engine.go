package engine

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"serin/baseline"
)

// Reprober runs extra probes of a canary through the real scheduler, so that they obey its limits. After Load and
// Reload the engine cancels a canary's extra runs and asks again for those that are still ahead.
type Reprober interface {
	Reprobe(canary string, at []time.Time)
	CancelReprobes(canary string)
}

// Mailbox takes notices that are on disk (or held in memory while the store is broken) for delivery.
type Mailbox interface {
	Add(notices ...Notice)
}

// EngineOptions wire an Engine to the world. Mailbox, Reprober and Log may be nil: nothing is delivered, asked or said.
type EngineOptions struct {
	Journal     Journal
	History     History
	Mailbox     Mailbox
	Reprober    Reprober
	Channels    []string             // names of all channels
	ChannelsFor func(Facts) []string // which of them an incident goes to; nil = all
	Incident    IncidentOptions
	Baseline    baseline.Options
	Instance    string
	Region      string
	ExternalURL string
	UndoCommand string      // how a person takes an acceptance back, with %s for the series; "" = there is no command
	Forgetful   bool        // no start will follow from what is journalled: the state that only a start reads is not written
	Recorded    bool        // samples come from a record: a run without one is a gap in it, and no missing data
	Trace       func(Alert) // hears of every observation: the alert that it was brought to, after it; nil = nobody does
	Log         *slog.Logger
}

// Engine carries samples to the journal and to people: it judges each against its band, lets it vote, opens and closes
// alerts and incidents, and owes notices to channels. Load comes first; then Observe, Begun and Tick, Reload and
// Imported, all from one goroutine. Status may be asked from any.
type Engine struct {
	opt      EngineOptions
	log      *slog.Logger
	now      time.Time // of the running call; between calls, of the last one
	ticked   time.Time // when Tick was last called
	watches  map[string]*watch
	targets  map[string]*target
	order    []*target         // by name
	orphans  []orphan          // found open at the start, to be ended
	stored   map[string][]byte // bodies of the blobs that the start found; nil when all is recalled
	sums     map[string]uint64 // of the bodies of all blobs, as last committed
	seed     maphash.Seed      // of sums
	used     usedIDs
	locked   map[string]string // credential → the canary whose alert tells that it is refused
	begins   bool              // Begun has been called: runs in flight are known
	caughtUp bool              // the first call after the start has been
	rewound  bool              // the clock was set back, and has not jumped ahead since
	broken   bool              // the journal could not write the last change
	tx       *tx
	silences []Silence // active and planned
	lapsed   []Silence // the newest that came to their end
	marks    []Mark    // of the last days, by time
	windows  []*window
	closing  []*window // that left the config while they ran
	answers  time.Time // when the re-probe was due that the sample at hand answers; zero = about when it was sent

	mu   sync.Mutex
	view Status
	idx  map[string]int // canary → its place in view
}

// NewEngine returns an engine that watches nothing yet.
func NewEngine(opt EngineOptions) *Engine {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Baseline.Window == 0 {
		opt.Baseline = baseline.DefaultOptions()
	}
	return &Engine{opt: opt, log: opt.Log, tx: newTx(), watches: map[string]*watch{}, targets: map[string]*target{},
		stored: map[string][]byte{}, sums: map[string]uint64{}, seed: maphash.MakeSeed(), locked: map[string]string{}, used: usedIDs{}, idx: map[string]int{}}
}

// Tick does what no sample can trigger: it announces incidents whose group_wait ended, finds missing data, lets votes
// and rates age, leaves long alerts out of the bands, and reminds. Call it every few seconds: runs that fell into a gap
// of more than 90 s between two calls (suspend, a clock step) are not held against their canaries.
func (e *Engine) Tick(ctx context.Context, now time.Time) error {
	e.open(now)
	e.catchUp()
	e.lapse()
	jumped := e.jumped()
	e.mistimed(ctx)
	e.ticked = e.now
	for _, t := range e.order {
		for _, c := range t.canaries {
			e.tickCanary(c, jumped)
		}
		e.ageRates(t)
		for _, m := range ringMetrics() {
			if p := t.pools[m]; p != nil {
				e.tickPool(t, p)
			}
		}
		if !t.settled() {
			e.tx.tell(t)
		}
	}
	return e.finish(ctx)
}

// tickGap is how long the engine may go without a tick before it takes the clock for stepped or the machine for asleep.
const tickGap = 90 * time.Second

func (e *Engine) jumped() bool {
	gap := e.now.Sub(e.ticked)
	return e.ticked.IsZero() || gap < 0 || gap > tickGap
}

func (e *Engine) tickCanary(c *watch, jumped bool) {
	e.noData(c, jumped)
	if len(c.memo.Asks) > 0 {
		c.memo = c.memo.lapse(e.now, c.Canary.Target.TotalTimeout)
		e.tx.touch(c)
	}
	if c.calm {
		return
	}
	for _, k := range c.kinds() {
		if s := c.alerts[k].State; !s.open() && s != StatePending {
			continue
		}
		a := c.alerts[k]
		if a.State == StatePending && k != KindNoData {
			e.age(c, k, a)
		}
		if c.excludes(a, e.now) {
			e.exclude(c, k, a)
		}
		if a.Open() && k.Metric() != "" {
			e.promote(c, k)
			e.acceptDue(c, k)
		}
	}
}

// age drops the votes of a pending alert that are too old to count.
func (e *Engine) age(c *watch, k Kind, a Alert) {
	a, dropped := a.aged(c.quorum(k), e.now)
	if !dropped {
		return
	}
	t := turn{From: a.State}
	a.settle(c.blank(k).State, e.now, &t)
	e.take(c, k, a, t)
}
