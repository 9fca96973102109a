// Package replay is the one driver of virtual time: it brings recorded or simulated samples to the production engine. What would a rule
// have decided?
package replay

import (
	"context"
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

// TapeOptions say how a tape is brought to the engine.
type TapeOptions struct {
	Options           // Watched is of one target; canaries that the tape does not have are left out of it. From zero = all samples are replayed
	Cut     Cut       // which of them are regular
	Until   time.Time // samples at or after it are not replayed; zero = all are
}

// Run brings one target's recorded samples to a new engine in virtual time and returns what it decided. A re-probe that the engine
// asks for is answered by the first unused sample that is not regular, at or after the time it was due, within 2 minutes.
func Run(ctx context.Context, t *Tape, o TapeOptions) (Result, error) {
	t.mu.Lock()
	t.sort()
	t.mu.Unlock()
	p := newPlayer(t, &o)
	if o.From.IsZero() {
		first, row := p.first()
		if first == nil {
			return Result{}, nil
		}
		o.From = time.Unix(0, row.at).UTC()
	}
	o.Recorded = true
	return Drive(ctx, p, o.Options)
}

// answerWithin is how late after its due time a recorded sample still answers a re-probe.
const answerWithin = 2 * time.Minute

// player answers probes from a tape.
type player struct {
	tape   *Tape
	cut    Cut
	tracks []*playback // of the watched canaries
}

var _ Source = (*player)(nil)

// playback is one canary's way through the tape.
type playback struct {
	*track
	at, end int // the next row for a regular probe, and behind the last
	extra   int // the next row for a re-probe
}

// newPlayer makes the options' canaries those that the tape has.
func newPlayer(t *Tape, o *TapeOptions) *player {
	p := &player{tape: t, cut: o.Cut}
	var watched []alert.Watched
	for _, w := range o.Watched {
		c := t.canaries[w.Canary.Key()]
		if c == nil {
			continue
		}
		l := &playback{track: c, end: len(c.rows)}
		if !o.From.IsZero() {
			l.at = c.since(o.From.UnixNano())
		}
		if !o.Until.IsZero() {
			l.end = c.since(o.Until.UnixNano())
		}
		l.extra = l.at
		w.Due, w.Spec = p.due(l), p.firstSpec(l)
		watched = append(watched, w)
		p.tracks = append(p.tracks, l)
	}
	o.Watched = watched
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
func (p *player) due(l *playback) func(time.Time) time.Time {
	return func(after time.Time) time.Time {
		for i := l.since(after.UnixNano() + 1); i < len(l.rows); i++ {
			if p.tape.regular(&l.rows[i], p.cut) {
				return time.Unix(0, l.rows[i].at).UTC()
			}
		}
		return time.Time{}
	}
}

// firstSpec is the spec that a canary begins with: samples without one belong to it.
func (p *player) firstSpec(l *playback) string {
	for i := l.at; i < l.end; i++ {
		if spec := p.tape.traits[l.rows[i].trait].spec; spec != "" {
			return spec
		}
	}
	return ""
}

// first returns the canary with the earliest row left, and that row.
func (p *player) first() (best *playback, of *row) {
	for _, l := range p.tracks {
		if l.at < l.end && (best == nil || l.rows[l.at].at < of.at) {
			best, of = l, &l.rows[l.at]
		}
	}
	return best, of
}

// Next returns the next regular row.
func (p *player) Next() (int, time.Time, bool) {
	for _, l := range p.tracks {
		for l.at < l.end && !p.tape.regular(&l.rows[l.at], p.cut) {
			l.at++
		}
	}
	l, r := p.first()
	if l == nil {
		return 0, time.Time{}, false
	}
	return slices.Index(p.tracks, l), time.Unix(0, r.at).UTC(), true
}

// Probe returns the regular row that is next, or the first unused one that answers a re-probe.
func (p *player) Probe(i int, due time.Time, why probe.Trigger) (probe.Sample, bool) {
	l := p.tracks[i]
	if why == probe.Schedule {
		l.at++
		return p.tape.sample(l.track, &l.rows[l.at-1]), true
	}
	l.extra = max(l.extra, l.since(due.UnixNano()))
	for ; l.extra < l.end && l.rows[l.extra].at <= due.Add(answerWithin).UnixNano(); l.extra++ {
		if r := &l.rows[l.extra]; !p.tape.regular(r, p.cut) {
			l.extra++
			return p.tape.sample(l.track, r), true
		}
	}
	return probe.Sample{}, false
}
