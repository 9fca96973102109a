package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

// answerWithin is how late after its due time a recorded sample still answers a re-probe.
const answerWithin = 2 * time.Minute

// lane is one canary's way through the tape.
type lane struct {
	*track
	watched alert.Watched
	key     string
	at      int // the next row
	end     int
	spec    string
	past    map[string]bool // specs that it had
	asked   []int64         // re-probes that are due, by time
}

// player is the daemon's loop over a tape.
type player struct {
	tape   *Tape
	opt    Options
	engine *alert.Engine
	lanes  []*lane
	byKey  map[string]*lane
	flying []flight
	minute time.Time // of the next tick

	regular, extra, unanswered int
	log                        logbook
}

// flight is a probe that has been sent and ends at a time; due is set where it answers a re-probe.
type flight struct {
	lane      *lane
	row       *row
	ends, due int64
}

var _ alert.Reprober = (*player)(nil)

func newPlayer(t *Tape, o Options) *player {
	p := &player{tape: t, opt: o, byKey: map[string]*lane{}, log: newLogbook()}
	for _, w := range o.Watched {
		c := t.canaries[w.Canary.Key()]
		if c == nil {
			continue
		}
		l := &lane{track: c, watched: w, key: w.Canary.Key(), end: len(c.rows)}
		if !o.From.IsZero() {
			l.at = c.since(o.From.UnixNano())
		}
		if !o.Until.IsZero() {
			l.end = c.since(o.Until.UnixNano())
		}
		l.watched.Due = p.due(l)
		l.spec = p.firstSpec(l)
		l.past = map[string]bool{l.spec: true}
		p.lanes = append(p.lanes, l)
		p.byKey[l.key] = l
	}
	return p
}

// since returns the place of the first row at or after a time.
func (c *track) since(at int64) int {
	i, _ := slices.BinarySearchFunc(c.rows, at, func(r row, at int64) int {
		if r.at < at {
			return -1
		}
		return 1
	})
	return i
}

// due tells the regular runs as they were.
func (p *player) due(l *lane) func(time.Time) time.Time {
	return func(after time.Time) time.Time {
		for i := l.since(after.UnixNano() + 1); i < len(l.rows); i++ {
			if p.tape.regular(&l.rows[i], p.opt.Cut) {
				return time.Unix(0, l.rows[i].at).UTC()
			}
		}
		return time.Time{}
	}
}

// firstSpec is the spec that a lane begins with: samples without one belong to it.
func (p *player) firstSpec(l *lane) string {
	for i := l.at; i < l.end; i++ {
		if spec := p.tape.traits[l.rows[i].trait].spec; spec != "" {
			return spec
		}
	}
	return ""
}

func (p *player) watched() []alert.Watched {
	list := make([]alert.Watched, len(p.lanes))
	for i, l := range p.lanes {
		list[i] = l.watched
		list[i].Spec = l.spec
	}
	return list
}

// next returns the lane with the earliest row left, and the time of that row.
func (p *player) next() (*lane, int64) {
	var best *lane
	at := int64(math.MaxInt64)
	for _, l := range p.lanes {
		if l.at < l.end && l.rows[l.at].at < at {
			best, at = l, l.rows[l.at].at
		}
	}
	return best, at
}

// run lets time pass until nothing is left.
func (p *player) run(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l, at := p.next()
		if err := p.land(ctx, at); err != nil {
			return err
		}
		if l == nil {
			return nil
		}
		if err := p.tick(ctx, at); err != nil {
			return err
		}
		r := &l.rows[l.at]
		l.at++
		if err := p.send(ctx, l, r); err != nil {
			return err
		}
	}
}

// send begins the probe of a row: a regular one, or one that a re-probe asked for.
func (p *player) send(ctx context.Context, l *lane, r *row) error {
	f := flight{lane: l, row: r, ends: r.ends()}
	for len(l.asked) > 0 && r.at-l.asked[0] > int64(answerWithin) {
		l.asked = l.asked[1:]
		p.unanswered++
	}
	if !p.tape.regular(r, p.opt.Cut) {
		if len(l.asked) == 0 || l.asked[0] > r.at {
			return nil
		}
		f.due, l.asked = l.asked[0], l.asked[1:]
	} else if spec := p.tape.traits[r.trait].spec; spec != "" && spec != l.spec {
		if err := p.respec(ctx, l, spec, r.at); err != nil {
			return err
		}
	}
	p.flying = append(p.flying, f)
	return nil
}

// respec is the reload that a daemon had when a canary's spec changed. What comes with an earlier spec again, of another
// instance perhaps, stays left out.
func (p *player) respec(ctx context.Context, l *lane, spec string, at int64) error {
	if l.past[spec] {
		return nil
	}
	l.spec, l.past[spec] = spec, true
	if err := p.engine.Reload(ctx, p.watched(), nil, alert.DefaultIncident(), time.Unix(0, at).UTC()); err != nil {
		return fmt.Errorf("change the spec: %w", err)
	}
	return nil
}

// land hands over what ends by a time, in the order of time.
func (p *player) land(ctx context.Context, until int64) error {
	for len(p.flying) > 0 {
		first := 0
		for i := range p.flying {
			if p.flying[i].ends < p.flying[first].ends {
				first = i
			}
		}
		f := p.flying[first]
		if f.ends > until {
			return nil
		}
		p.flying = slices.Delete(p.flying, first, first+1)
		if err := errors.Join(p.tick(ctx, f.ends), p.observe(ctx, f)); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) observe(ctx context.Context, f flight) error {
	s := p.tape.sample(f.lane.track, f.row)
	s.Trigger = probe.Schedule
	p.log.now = later(p.log.now, time.Unix(0, f.ends).UTC())
	var err error
	if f.due != 0 {
		s.Trigger = probe.Reprobe
		p.extra++
		err = p.engine.Answer(ctx, s, time.Unix(0, f.due).UTC())
	} else {
		p.regular++
		err = p.engine.Observe(ctx, s)
	}
	if err != nil {
		return fmt.Errorf("judge %s at %s: %w", f.lane.key, s.Time, err)
	}
	return nil
}

// Bounds of the ticks: an engine with nothing under way needs one before each sample's minute and each hour; after days
// without a sample the time is passed over.
const (
	idleTick = time.Hour
	deadTime = 8 * 24 * time.Hour
)

// tick ticks the minutes up to a time: each while alerts are pending or open, else the hours and the last minute.
func (p *player) tick(ctx context.Context, until int64) error {
	end := time.Unix(0, until).UTC()
	if p.minute.After(end) {
		return nil
	}
	if end.Sub(p.minute) > deadTime {
		p.minute = end.Add(-deadTime).Truncate(time.Minute)
	}
	last := end.Truncate(time.Minute)
	for !p.minute.After(last) {
		p.log.now = later(p.log.now, p.minute)
		if err := p.engine.Tick(ctx, p.minute); err != nil {
			return fmt.Errorf("tick at %s: %w", p.minute, err)
		}
		next := p.minute.Add(time.Minute)
		if !p.log.busy() && next.Before(last) {
			next = earlier(p.minute.Truncate(idleTick).Add(idleTick), last)
		}
		p.minute = next
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Reprobe takes the engine's wishes.
func (p *player) Reprobe(canary string, at []time.Time) {
	l := p.byKey[canary]
	for _, t := range at {
		l.asked = append(l.asked, t.UnixNano())
	}
	slices.Sort(l.asked)
}

// CancelReprobes drops what was asked for and not sent yet.
func (p *player) CancelReprobes(canary string) { p.byKey[canary].asked = nil }
