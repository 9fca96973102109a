// Package incident turns alerts into incidents and incidents into notices: it groups, mutes, inhibits, reminds and closes. It reads
// what fires from the engine and never calls it to change anything.
package incident

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"serin/alert"
)

// Engine is what incidents read of judging.
type Engine interface {
	// Targets returns the watched targets, by name.
	Targets() []alert.Target
	// Firing returns the firing and recovering alerts of a target, of all targets where the name is "".
	Firing(target string) []alert.Alert
	// Recent returns what a canary's newest probes say of a latency kind beside trouble that began at since.
	Recent(canary string, k alert.Kind, since time.Time) alert.Recent
}

// Options say how incidents are grouped and where they are sent.
type Options struct {
	alert.IncidentOptions
	Channels    []string                                           // names of all channels, in the order of the config
	Route       func(alert.Facts) []string                         // which of them an incident goes to; nil = all
	Paused      func(target string) (until time.Time, paused bool) // until when a target is not probed, for auth or quota; nil = never
	Instance    string
	Region      string
	ExternalURL string
	Log         *slog.Logger
}

// Incidents are all open incidents with what mutes them. Load comes first; then Update, Tick and the commands, all from one
// goroutine. Status may be asked from any.
type Incidents struct {
	opt      Options
	log      *slog.Logger
	engine   Engine
	now      time.Time
	told     alert.Told           // what the running call has to say
	open     map[string]*incident // waiting or open, by group
	closed   []*incident          // of the last hours: they may be reopened
	used     usedIDs
	silences []alert.Silence // active and planned
	marks    []alert.Mark    // of the last days, by time
	windows  []*window
	targets  map[string]alert.Target // of the running call
	mutes    map[string]alert.Mute   // of firing alerts, by id
	inhibits map[string]string       // by id: by what

	mu   sync.Mutex
	view Status
}

// incident is an incident with its alerts as they were last seen: firing ones, and those that ended.
type incident struct {
	alert.Incident
	alerts map[string]alert.Alert // by id
	edit   bool                   // its message is out of date
	rose   bool                   // its severity rose since the last message
	again  bool                   // it fires again after it was over
	acked  bool                   // somebody took it just now
	slower []string               // ids of alerts that are slower still than their last 24 h
	since  time.Time              // when the first of what no message has said yet came; zero = nothing
}

// New returns incidents that know of nothing yet.
func New(opt Options) *Incidents {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Incidents{opt: opt, log: opt.Log, open: map[string]*incident{}, used: usedIDs{}, mutes: map[string]alert.Mute{}, inhibits: map[string]string{}}
}

// Configure takes another config's options and maintenance windows.
func (i *Incidents) Configure(opt Options, windows []alert.Maintenance) {
	if opt.Log == nil {
		opt.Log = i.log
	}
	i.opt, i.log = opt, opt.Log
	i.useWindows(windows)
}

// Update brings incidents up to date with what an engine's call changed, and returns what people are to hear.
func (i *Incidents) Update(ts []alert.Transition, now time.Time) alert.Told {
	ts = slices.DeleteFunc(slices.Clone(ts), isQuiet)
	if len(ts) == 0 {
		return alert.Told{}
	}
	i.begin(now)
	i.take(ts)
	var targets []string
	for _, t := range ts {
		if name := (alert.Alert{Series: t.Series}).Target(); !slices.Contains(targets, name) {
			targets = append(targets, name)
		}
	}
	for _, name := range targets {
		i.refresh(name)
	}
	return i.commit()
}

// isQuiet reports whether a transition is of no interest here: nothing fired before it or fires after it.
func isQuiet(t alert.Transition) bool {
	return !t.From.IsFiring() && !t.To.IsFiring() && t.Event != alert.EventModel && t.Event != alert.EventSpec
}

// Tick does what time alone brings: group_wait ends, silences and windows begin and end, reminders come due.
func (i *Incidents) Tick(ts []alert.Transition, now time.Time) alert.Told {
	i.begin(now)
	i.expire()
	i.take(ts)
	i.refresh("")
	return i.commit()
}

// begin starts a call at a time. Of it only the wall clock counts: a restart has no monotonic reading.
func (i *Incidents) begin(now time.Time) {
	i.now, i.told, i.targets = now.Round(0), alert.Told{}, nil
}

func (i *Incidents) commit() alert.Told {
	for _, inc := range i.sorted() {
		i.enqueueDue(inc)
	}
	i.publish()
	return i.told
}

// take keeps alerts as transitions left them, and marks what endpoint or config changed.
func (i *Incidents) take(ts []alert.Transition) {
	for _, t := range ts {
		switch {
		case t.Event == alert.EventModel || t.Event == alert.EventSpec:
			i.markOwn(t.Series, t.Reason, t.At)
		case t.After != nil:
			i.takeAlert(t)
		}
	}
}

func (i *Incidents) takeAlert(t alert.Transition) {
	inc, m := i.member(t.After.ID)
	if inc == nil {
		return
	}
	inc.alerts[t.After.ID] = *t.After
	switch {
	case t.Resolved():
		m.Ended = t.After.Resolved
		inc.edit = inc.edit || m.Announced
		i.touch(inc)
	case m.Announced && t.Event == alert.EventSlower:
		inc.slower = append(inc.slower, m.Alert)
	case m.Announced && t.From != t.To:
		inc.edit = true
	}
}

// member returns an alert's open incident and its place there, nil where it is in none.
func (i *Incidents) member(id string) (*incident, *alert.Member) {
	for _, inc := range i.open {
		if n := slices.IndexFunc(inc.Members, func(m alert.Member) bool { return m.Alert == id }); n >= 0 {
			return inc, &inc.Members[n]
		}
	}
	return nil, nil
}

// refresh looks at every alert that fires on a target, on all of them where the name is "": what mutes it, whether it joins an
// incident, and how grave that is.
func (i *Incidents) refresh(target string) {
	firing := map[string]bool{}
	for _, a := range i.engine.Firing(target) {
		firing[a.ID] = true
		freed := i.weigh(a)
		inc, m := i.member(a.ID)
		if inc == nil {
			i.join(a, freed)
			continue
		}
		inc.alerts[a.ID] = a
		i.setMember(inc, m)
	}
	for _, inc := range i.sorted() {
		i.endGone(inc, target, firing)
		i.raise(inc)
	}
	if target == "" {
		forget(i.mutes, firing)
		forget(i.inhibits, firing)
	}
}

// forget drops what is kept of alerts that do not fire any more.
func forget[V any](m map[string]V, firing map[string]bool) {
	maps.DeleteFunc(m, func(id string, _ V) bool { return !firing[id] })
}

// weigh brings an alert's mute and inhibition up to date; it reports whether it may be sent now and could not before.
func (i *Incidents) weigh(a alert.Alert) (freed bool) {
	was, held := i.mutes[a.ID], i.inhibits[a.ID]
	is, by := i.muteOf(i.fact(a)), inhibitedBy(a, i.target(a.Target()))
	if is != was {
		i.recordMute(a, was, is)
	}
	setOrDelete(i.mutes, a.ID, is)
	setOrDelete(i.inhibits, a.ID, by)
	return (was.IsFull() || held != "") && !is.IsFull() && by == ""
}

func setOrDelete[V comparable](m map[string]V, key string, v V) {
	var none V
	if v == none {
		delete(m, key)
		return
	}
	m[key] = v
}

// setMember copies what mutes and inhibits an alert into its incident. A message that people know of says so.
func (i *Incidents) setMember(inc *incident, m *alert.Member) {
	mute, by := i.mutes[m.Alert], i.inhibits[m.Alert]
	if m.Mute == mute && m.Inhibited == by {
		return
	}
	m.Mute, m.Inhibited = mute, by
	inc.edit = inc.edit || m.Announced
	i.touch(inc)
}

// endGone ends members of a target, of all of them where the name is "", that the engine does not show as firing any more.
func (i *Incidents) endGone(inc *incident, target string, firing map[string]bool) {
	for n := range inc.Members {
		m := &inc.Members[n]
		if !m.Ended.IsZero() || firing[m.Alert] || target != "" && m.Target != target {
			continue
		}
		m.Ended = i.now
		i.touch(inc)
	}
}

// raise lifts the incident's severity to that of its gravest alert that may be sent.
func (i *Incidents) raise(inc *incident) {
	for _, m := range inc.Members {
		if !m.Ended.IsZero() || m.Mute.IsFull() || m.Inhibited != "" {
			continue
		}
		if s := m.Mute.Lower(inc.alerts[m.Alert].Severity); graver(s, inc.Severity) {
			inc.Severity = s
			inc.rose = inc.rose || inc.State == alert.IncidentOpen
			i.touch(inc)
		}
	}
}

func graver(a, b alert.Severity) bool {
	order := []alert.Severity{"", alert.Info, alert.Warning, alert.Critical}
	return slices.Index(order, a) > slices.Index(order, b)
}

// touch puts an incident into what the call stores.
func (i *Incidents) touch(inc *incident) {
	kept := inc.Incident
	kept.Members = slices.Clone(kept.Members)
	n := slices.IndexFunc(i.told.Incidents, func(x alert.Incident) bool { return x.ID == kept.ID })
	if n < 0 {
		i.told.Incidents = append(i.told.Incidents, kept)
		return
	}
	i.told.Incidents[n] = kept
}

// sorted lists the waiting and open incidents in the order they opened.
func (i *Incidents) sorted() []*incident {
	return slices.SortedFunc(maps.Values(i.open), func(a, b *incident) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
}

// target returns a target as the engine shows it in this call; one that is gone has but a name.
func (i *Incidents) target(name string) alert.Target {
	if i.targets == nil {
		i.targets = map[string]alert.Target{}
		for _, t := range i.engine.Targets() {
			i.targets[t.Name] = t
		}
	}
	return i.targets[name]
}
