// Package replay brings recorded samples to the production engine in virtual time: what would a rule have decided?
package replay

import (
	"context"
	"fmt"
	"time"

	"serin/alert"
	"serin/baseline"
)

// Options say how a tape is brought to the engine.
type Options struct {
	Cut      Cut
	Watched  []alert.Watched // of one target; canaries that the tape does not have are left out of it
	Baseline baseline.Options
	History  alert.History     // before From; nil = none
	From     time.Time         // samples before it are not replayed; zero = all are
	Until    time.Time         // nor are those at or after it
	Trace    func(alert.Alert) // hears of every observation, as alert.EngineOptions say; nil = nobody does
}

// Result is what a rule made of a tape.
type Result struct {
	Events     []Event // by time
	Regular    int     // samples judged
	Extra      int     // samples that answered re-probes
	Unanswered int     // re-probes that the engine asked for and no sample answered
}

// Run brings one target's recorded samples to a new engine in virtual time and returns what it decided. A
// re-probe that the engine asks for is answered by the first unused sample that is not regular, at or after the time it
// was due, within 2 minutes.
func Run(ctx context.Context, t *Tape, o Options) (Result, error) {
	t.mu.Lock()
	t.sort()
	t.mu.Unlock()
	p := newPlayer(t, o)
	if len(p.lanes) == 0 {
		return Result{}, nil
	}
	p.engine = alert.NewEngine(alert.EngineOptions{Journal: &p.log, History: o.History, Reprober: p, Incident: alert.DefaultIncident(),
		Baseline: o.Baseline, Forgetful: true, Recorded: true, Trace: o.Trace})
	first, _ := p.next()
	if first == nil {
		return Result{}, nil
	}
	start := time.Unix(0, first.rows[first.at].at).UTC()
	if !o.From.IsZero() {
		start = o.From
	}
	p.minute = start.Truncate(time.Minute)
	if err := p.engine.Load(ctx, p.watched(), alert.Snapshot{}, start); err != nil {
		return Result{}, fmt.Errorf("start engine: %w", err)
	}
	err := p.run(ctx)
	return Result{p.log.events, p.regular, p.extra, p.unanswered}, err
}
