package alert

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"serin/baseline"
	"serin/probe"
	"serin/probe/glob"
)

// Maintenance is a planned window that comes again: what its matchers hold for is muted while it lasts, its samples stay
// out of the bands, and at its end one message sums up what fired.
type Maintenance struct {
	Name  string
	Match Matchers       // none = everything
	Cap   Severity       // told as no more than that; "" = nothing is told
	Probe bool           // probes go on
	Zone  *time.Location // of its clock; nil = UTC
	// Next returns the earliest window that ends after a time, its end not included; ok is false when none will come.
	Next func(after time.Time) (from, to time.Time, ok bool)
}

// Covers reports whether a canary is in one of the maintenance windows at a time; with resting, only in one during which
// it is not probed. It returns the window's name. It is safe for concurrent use.
func Covers(list []Maintenance, c *probe.Canary, at time.Time, resting bool) (name string, ok bool) {
	for _, m := range list {
		if resting && m.Probe {
			continue
		}
		if from, _, ok := m.Next(at); ok && !from.After(at) && m.Matches(c) {
			return m.Name, true
		}
	}
	return "", false
}

// Matches reports whether the window is about a canary, kind and severity left aside.
func (m Maintenance) Matches(c *probe.Canary) bool {
	f := Fact{Alert: Alert{Series: c.Key()}, Target: c.Target.Name, Scene: c.Scene.Name, Size: string(c.Size), Labels: c.Target.Labels}
	return m.Match.Without("kind", "severity").holds(f)
}

// span is one maintenance window in time; to is not in it.
type span struct{ from, to time.Time }

func (s span) has(at time.Time) bool { return !at.Before(s.from) && at.Before(s.to) }

// window is a maintenance as the engine follows it: its running or next span, and the one before.
type window struct {
	Maintenance
	now, last span
	asked     time.Time // when Next was asked for now
	past      pastWindow
}

// pastWindow is what a restart must find again of a running window.
type pastWindow struct {
	From time.Time       `json:"from"`
	To   time.Time       `json:"to"`
	Open map[string]bool `json:"open,omitempty"` // ids of alerts that it mutes
	Over []Alert         `json:"over,omitempty"` // those of them that ended
	More int             `json:"more,omitempty"` // ended ones beyond maxOver
}

const (
	blobWindow = "maintenance/" // + name: pastWindow
	maxOver    = 50             // ended alerts of a window that are named
)

func (w *window) covers(at time.Time) bool { return w.now.has(at) || w.last.has(at) }

func (w *window) mute() Mute {
	return Mute{Maintenance: w.Name, Until: asStored(w.now.to), Cap: w.Cap}
}

// turn brings the window's spans to a time.
func (w *window) turn(now time.Time) {
	if w.now.to.After(now) && !now.Before(w.asked) {
		return
	}
	w.asked = now
	from, to, ok := w.Next(now)
	if !ok {
		from, to = time.Time{}, time.Time{}
	}
	if next := (span{from, to}); next != w.now {
		w.last, w.now = w.now, next
	}
}

// UseMaintenance puts maintenance windows in force, in the place of all earlier ones. What ran and is gone is summed up at
// the next tick. Call it before Load, and before Reload.
func (e *Engine) UseMaintenance(list []Maintenance) {
	var windows []*window
	for _, m := range list {
		w := &window{Maintenance: m}
		if i := slices.IndexFunc(e.windows, func(x *window) bool { return x.Name == m.Name }); i >= 0 {
			w.past, w.last = e.windows[i].past, e.windows[i].last
			e.windows = slices.Delete(slices.Clone(e.windows), i, i+1)
		}
		windows = append(windows, w)
	}
	for _, w := range e.windows { // gone
		if !w.past.From.IsZero() {
			e.closing = append(e.closing, w)
		}
	}
	e.windows = windows
}

// recallWindows takes what is stored of windows that ran at the stop.
func (e *Engine) recallWindows() {
	for key := range e.stored {
		name, is := strings.CutPrefix(key, blobWindow)
		var past pastWindow
		if !is || !e.recallBlob(key, &past) {
			continue
		}
		i := slices.IndexFunc(e.windows, func(w *window) bool { return w.Name == name })
		if i < 0 {
			e.closing = append(e.closing, &window{Maintenance: Maintenance{Name: name}, past: past})
			continue
		}
		e.windows[i].past = past
	}
	slices.SortFunc(e.closing, func(a, b *window) int { return cmp.Compare(a.Name, b.Name) })
}

// turnWindows follows the windows, and sums up those that are over.
func (e *Engine) turnWindows() {
	for _, w := range e.windows {
		w.turn(e.now)
		running := w.now.has(e.now)
		if !w.past.From.IsZero() && !(running && w.now.from.Before(w.past.To)) {
			e.catchUpOn(w)
			w.past = pastWindow{}
		}
		if !running {
			continue
		}
		if w.past.From.IsZero() {
			w.past.From = asStored(w.now.from)
			e.log.Info("maintenance begins", "maintenance", w.Name, "until", w.now.to)
		}
		w.past.To = asStored(w.now.to)
	}
	for _, w := range e.closing {
		e.catchUpOn(w)
	}
	e.closing = nil
}

// watchMuted notes that a window mutes an open alert.
func (e *Engine) watchMuted(a Alert) {
	if w := e.windowOf(a); w != nil && !w.past.Open[a.ID] {
		if w.past.Open == nil {
			w.past.Open = map[string]bool{}
		}
		w.past.Open[a.ID] = true
	}
}

// endedMuted keeps an alert that ended while a window muted it, for the summary. What people had been told of is not in
// it: they are told of its end.
func (e *Engine) endedMuted(a Alert) {
	w := e.windowOf(a)
	if w == nil {
		return
	}
	delete(w.past.Open, a.ID)
	switch {
	case a.Announced, !a.worthy():
	case len(w.past.Over) >= maxOver:
		w.past.More++
	default:
		a.Votes, a.Calm, a.Decided, a.Cycles = nil, nil, nil, nil
		w.past.Over = append(w.past.Over, a)
	}
}

// windowOf returns the running window that mutes an alert, nil when none does.
func (e *Engine) windowOf(a Alert) *window {
	if a.Mute.Maintenance == "" || !a.Muted() {
		return nil
	}
	i := slices.IndexFunc(e.windows, func(w *window) bool { return w.Name == a.Mute.Maintenance && !w.past.From.IsZero() })
	if i < 0 {
		return nil
	}
	return e.windows[i]
}

// running lists the windows that run, as they mute.
func (e *Engine) running() (list []Mute) {
	for _, w := range e.windows {
		if w.now.has(e.now) {
			list = append(list, w.mute())
		}
	}
	return list
}

// saveWindows adds what a restart must find again of running windows.
func (e *Engine) saveWindows(x *tx) {
	if e.opt.Forgetful {
		return
	}
	for _, w := range e.windows {
		if w.past.From.IsZero() {
			e.forget(x, blobWindow+w.Name)
			continue
		}
		e.save(x, blobWindow+w.Name, w.past)
	}
}

// entering returns the value with which a sample enters its band, or why it does not.
func entering(s *probe.Sample, m probe.Metric) (v time.Duration, why string) {
	if v, why = baseline.Value(s, m); why == "" && s.Has(probe.InMaintenance) {
		why = string(probe.InMaintenance)
	}
	return v, why
}

// inMaintenance marks a sample whose probe ran within a window: it enters no band.
func (e *Engine) inMaintenance(c *watch, s *probe.Sample, rec *Record) {
	for _, w := range e.windows {
		if w.Matches(c.Canary) && w.aboutLatency() && (overlap(w.now, s.Time, e.now) || overlap(w.last, s.Time, e.now)) {
			s.Flags = append(slices.Clone(s.Flags), probe.InMaintenance)
			rec.Sample = *s
			return
		}
	}
}

func overlap(s span, from, to time.Time) bool {
	return from.Before(s.to) && !to.Before(s.from) && !s.to.IsZero()
}

// aboutLatency reports whether the window can be about a latency at all.
func (w *window) aboutLatency() bool {
	for _, m := range w.Match {
		if m.Name == "kind" && !slices.ContainsFunc(Kinds(), func(k Kind) bool { return k.Metric() != "" && glob.Match(m.Pattern, string(k)) != m.Not }) {
			return false
		}
	}
	return true
}
