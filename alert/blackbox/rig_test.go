// Package blackbox_test pins what alerting does from outside: config, samples and clock in; transitions, incidents,
// messages and the states of /metrics out. Only this file knows the engine's exported API.
package blackbox_test

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"serin/alert"
	"serin/alert/engine"
	"serin/alert/incident"
	"serin/configs"
	"serin/probe"
)

// world answers a probe that a canary sends at a time. A sample without an outcome: no probe was begun.
type world func(c *probe.Canary, at time.Time) probe.Sample

// rig is a daemon in virtual time: schedules, re-probes, ticks and a perfect outbox around the engine.
type rig struct {
	t       testing.TB
	cfg     *configs.Config
	now     time.Time
	every   time.Duration // of ticks
	lag     time.Duration // of a probe behind its run: no two samples have one instant, even when the clock was set back
	world   world
	disk    *disk
	book    *book
	engine  *engine.Engine
	people  *incident.Incidents
	box     *mailbox
	lanes   []*lane
	flights []flight
	sent    int // re-probes
	silence string
}

// lane is one canary's schedule.
type lane struct {
	canary *probe.Canary
	due    func(time.Time) time.Time
	next   time.Time
	extra  []time.Time // re-probes that were asked for
}

// flight is a probe under way.
type flight struct {
	sample probe.Sample
	ends   time.Time
}

func newRig(t testing.TB, cfg *configs.Config, now time.Time, w world, d *disk) *rig {
	return &rig{t: t, cfg: cfg, now: now, every: 5 * time.Second, world: w, disk: d, book: newBook(now)}
}

// loadConfig reads a config text as the daemon does.
func loadConfig(t testing.TB, text string, now time.Time) *configs.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serin.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := configs.Load(configs.Options{Path: path, NoSecrets: true, Now: now})
	if configs.HasErrors(problems) {
		t.Fatalf("config: %v\n%s", problems, text)
	}
	return cfg
}

func watched(cfg *configs.Config) []alert.Watched {
	var list []alert.Watched
	for _, r := range cfg.Runs {
		list = append(list, alert.Watched{Canary: r.Canary, Spec: r.Spec, Rule: r.Rule, Due: r.Due, Config: cfg.Revision})
	}
	return list
}

func channels(cfg *configs.Config) []string {
	var names []string
	for _, c := range cfg.Channels {
		names = append(names, c.Name)
	}
	return names
}

// learn puts days of regular samples on disk, as an import does.
func (r *rig) learn(days int) {
	for _, run := range r.cfg.Runs {
		for at := run.Due(r.now.AddDate(0, 0, -days)); at.Before(r.now); at = run.Due(at) {
			s := r.world(run.Canary, at)
			s.Spec = run.Spec
			if s.Outcome != "" {
				r.disk.record(alert.Record{Sample: s})
			}
		}
	}
}

// start begins a process over what is on disk, and delivers what is owed.
func (r *rig) start() {
	r.lanes = nil
	r.setLanes()
	r.disk.told = r.tell
	r.box = &mailbox{rig: r}
	r.engine = engine.New(engine.Options{History: r.disk, Baseline: r.cfg.Baseline, Reprobes: true})
	r.people = incident.New(r.options())
	snap := r.disk.snapshot()
	for _, n := range snap.Notices {
		if n.State == alert.NoticePending {
			r.box.Add(n)
		}
	}
	judged, err := r.engine.Load(r.t.Context(), watched(r.cfg), r.cfg.Maintenance, snap, r.now)
	r.check(err)
	r.people.Configure(r.options(), r.cfg.Maintenance)
	r.people.Load(snap, r.engine, r.now)
	r.commit(judged, alert.Told{})
	r.tick()
}

func (r *rig) options() incident.Options {
	return incident.Options{IncidentOptions: r.cfg.Incident, Channels: channels(r.cfg), Instance: "serin-1", Region: "eu-1",
		Route: func(f alert.Facts) []string { return alert.NewRoutes(r.cfg.Routes, channels(r.cfg)).Channels(f) }}
}

// carry is the path of what the engine judged, as the daemon has it.
func (r *rig) carry(judged alert.Judged, now time.Time) {
	r.commit(judged, r.people.Update(judged.Transitions, now))
}

func (r *rig) commit(judged alert.Judged, told alert.Told) {
	for _, x := range judged.Reprobes {
		r.reprobe(x)
	}
	if c := (alert.Change{Judged: judged, Told: told}); !c.IsEmpty() {
		r.check(r.disk.Commit(r.t.Context(), c))
	}
	r.box.Add(told.Notices...)
}

// restart stops the process in order and starts it again.
func (r *rig) restart() {
	r.disk.flush()
	r.start()
}

// kill ends the process: what was not on disk yet is lost. It starts again at once.
func (r *rig) kill() {
	r.disk.pending = nil
	r.start()
}

// killBeforeDelivery ends the process after the next change that holds a notice was stored, before anything was sent. It
// starts again with the next tick.
func (r *rig) killBeforeDelivery() { r.box.dead = true }

func (r *rig) reload(cfg *configs.Config) {
	r.cfg = cfg
	r.setLanes()
	r.people.Configure(r.options(), cfg.Maintenance)
	judged, err := r.engine.Reload(r.t.Context(), watched(cfg), cfg.Maintenance, r.now)
	r.check(err)
	r.carry(judged, r.now)
}

// setLanes schedules the canaries of the config; those that were scheduled before go on.
func (r *rig) setLanes() {
	old := r.lanes
	r.lanes = nil
	for _, run := range r.cfg.Runs {
		l := &lane{canary: run.Canary, due: run.Due}
		if i := slices.IndexFunc(old, func(x *lane) bool { return x.canary.Key() == run.Canary.Key() }); i >= 0 {
			l.extra = old[i].extra
		}
		l.next = l.due(r.now)
		r.lanes = append(r.lanes, l)
	}
}

// setClock moves the wall clock; what is under way ends by it.
func (r *rig) setClock(by time.Duration) {
	r.now = r.now.Add(by)
	r.lag += time.Millisecond
	for i := range r.flights {
		r.flights[i].ends = r.flights[i].ends.Add(by)
	}
	for _, l := range r.lanes {
		l.next = l.due(r.now)
	}
	r.book.say(r.now, "the clock is set")
	if by.Abs() > time.Hour { // as the daemon does
		r.restart()
	}
}

// tick lets the engine look at the time.
func (r *rig) tick() {
	if r.box.struck {
		r.disk.flush()
		r.start()
		return
	}
	r.disk.age(r.now)
	judged := r.engine.Tick(r.now)
	r.commit(judged, r.people.Tick(judged.Transitions, r.now))
}

// until lets virtual time pass.
func (r *rig) until(end time.Time) {
	tick := r.now.Truncate(r.every).Add(r.every)
	for {
		at, do := tick, func() { r.tick(); tick = tick.Add(r.every) }
		for _, l := range r.lanes {
			if !l.next.After(at) {
				at, do = l.next, func() { l.next = l.due(at); r.send(l.canary, probe.Schedule) }
			}
			if len(l.extra) > 0 && l.extra[0].Before(at) {
				at, do = l.extra[0], func() { l.extra = l.extra[1:]; r.sent++; r.send(l.canary, probe.Reprobe) }
			}
		}
		for i := range r.flights {
			if r.flights[i].ends.Before(at) {
				at, do = r.flights[i].ends, func() { r.land(i) }
			}
		}
		if at.After(end) {
			r.now = end
			return
		}
		if at.After(r.now) {
			r.now = at
		}
		do()
	}
}

func (r *rig) send(c *probe.Canary, why probe.Trigger) {
	s := r.world(c, r.now.Add(r.lag))
	if s.Outcome == "" {
		return
	}
	s.Spec, s.Trigger = r.spec(c), why
	if s.Outcome != probe.Skipped && why == probe.Schedule {
		r.carry(r.engine.Begun(c.Key(), s.Time), r.now)
	}
	r.flights = append(r.flights, flight{s, r.now.Add(lasts(c, &s))})
}

func (r *rig) spec(c *probe.Canary) string {
	for _, run := range r.cfg.Runs {
		if run.Canary.Key() == c.Key() {
			return run.Spec
		}
	}
	return ""
}

func (r *rig) land(i int) {
	s := r.flights[i].sample
	r.flights = slices.Delete(r.flights, i, i+1)
	r.observe(s)
}

// observe hands a sample to the engine.
func (r *rig) observe(s probe.Sample) {
	r.disk.age(r.now)
	r.carry(r.engine.Observe(s), r.now)
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("%s: %v", r.now.Format(time.RFC3339), err)
	}
}

// reprobe makes the extra probes of a canary that were not sent yet those that the engine wants.
func (r *rig) reprobe(x alert.Reprobe) {
	for _, l := range r.lanes {
		if l.canary.Key() == x.Canary {
			l.extra = slices.SortedFunc(slices.Values(x.At), time.Time.Compare)
		}
	}
}

// What people order. Each returns the error that they would read.

func (r *rig) beSilent(d time.Duration, severity string, match ...string) error {
	var ms alert.Matchers
	for _, text := range match {
		m, err := alert.ParseMatcher(text)
		if err != nil {
			return err
		}
		ms = append(ms, m)
	}
	told, s, _, err := r.people.Silence(alert.Silence{Match: ms, Ends: r.now.Add(d), Reason: "new GPU", By: "kim", Cap: alert.Severity(severity)}, r.now)
	r.silence = s.ID
	r.commit(alert.Judged{}, told)
	return err
}

// expire ends the newest silence.
func (r *rig) expire() error {
	told, _, err := r.people.Expire(r.silence, "ann", r.now)
	r.commit(alert.Judged{}, told)
	return err
}

// ack takes the open incidents of a scope, until a time if it is not zero.
func (r *rig) ack(scope string, until time.Time) error {
	id := "none"
	for _, inc := range r.people.Status().Incidents {
		if inc.Scope == scope || slices.Contains(inc.Targets(), scope) {
			id = inc.ID
		}
	}
	told, err := r.people.Ack(id, "kim", "looking", until, r.now)
	r.commit(alert.Judged{}, told)
	return err
}

func (r *rig) accept(pattern string) error {
	judged, _, err := r.engine.Accept(pattern, "kim", "new hardware", r.now)
	r.carry(judged, r.now)
	return err
}

func (r *rig) undo(pattern string) error {
	judged, _, err := r.engine.Undo(pattern, "kim", "old hardware", r.now)
	r.carry(judged, r.now)
	return err
}

func (r *rig) reset(pattern string) error {
	judged, _, err := r.engine.ResetBaseline(pattern, "kim", "new model", r.now)
	r.carry(judged, r.now)
	return err
}

func (r *rig) mark(text string) error {
	told, _, err := r.people.Mark(alert.Mark{Text: text, By: "kim"}, r.now)
	r.commit(alert.Judged{}, told)
	return err
}

// mailbox is an outbox whose channels take everything at once.
type mailbox struct {
	rig    *rig
	dead   bool // the process dies before the next delivery
	struck bool
}

// Add delivers notices.
func (b *mailbox) Add(list ...alert.Notice) {
	for _, n := range list {
		if b.dead {
			b.struck = true
			continue
		}
		b.rig.book.message(b.rig.now, n)
		n.State, n.Sent = alert.NoticeSent, b.rig.now
		b.rig.disk.notices[noticeKey(n)] = encode(n)
	}
}

// tell writes what was decided into the book.
func (r *rig) tell(c alert.Change) {
	for _, x := range slices.Concat(c.Transitions, c.History) {
		r.book.transition(x)
	}
	for _, inc := range c.Incidents {
		r.book.incident(r.now, inc)
	}
}

// disk is a journal and a history in memory. What holds no notice is written a second later.
type disk struct {
	records   map[string][]*alert.Record // by canary, in the order of time
	alerts    map[string]string          // JSON, as a store keeps them
	incidents map[string]string
	notices   map[string]string
	blobs     map[string]string
	silences  map[string]string
	marks     []alert.Mark
	pending   []alert.Change
	since     time.Time // of the oldest pending change, as of the last look
	told      func(alert.Change)
}

var (
	_ alert.Journal = (*disk)(nil)
	_ alert.History = (*disk)(nil)
)

func newDisk() *disk {
	return &disk{records: map[string][]*alert.Record{}, alerts: map[string]string{}, incidents: map[string]string{},
		notices: map[string]string{}, blobs: map[string]string{}, silences: map[string]string{}}
}

func (d *disk) clone() *disk {
	c := &disk{records: map[string][]*alert.Record{}, alerts: maps.Clone(d.alerts), incidents: maps.Clone(d.incidents),
		notices: maps.Clone(d.notices), blobs: maps.Clone(d.blobs), silences: maps.Clone(d.silences), marks: slices.Clone(d.marks)}
	for key, m := range d.records {
		c.records[key] = slices.Clone(m)
	}
	return c
}

// Commit keeps a change in order; one that people wait for is on disk when it returns.
func (d *disk) Commit(_ context.Context, c alert.Change) error {
	d.told(c)
	d.pending = append(d.pending, c)
	if len(c.Notices)+len(c.Silences)+len(c.Marks) > 0 {
		d.flush()
	}
	return nil
}

// age writes what has waited for a second.
func (d *disk) age(now time.Time) {
	if len(d.pending) == 0 {
		d.since = time.Time{}
		return
	}
	if d.since.IsZero() {
		d.since = now
	}
	if now.Sub(d.since).Abs() >= time.Second {
		d.flush()
	}
}

func (d *disk) flush() {
	for _, c := range d.pending {
		d.write(c)
	}
	d.pending, d.since = nil, time.Time{}
}

func (d *disk) write(c alert.Change) {
	for _, rec := range c.Records {
		d.record(rec)
	}
	for _, x := range c.Exclusions {
		d.exclude(x)
	}
	for _, a := range c.Alerts {
		d.alerts[a.ID] = encode(a)
	}
	for _, inc := range c.Incidents {
		d.incidents[inc.ID] = encode(inc)
	}
	for _, n := range c.Notices {
		d.notices[noticeKey(n)] = encode(n)
	}
	for _, s := range c.Silences {
		d.silences[s.ID] = encode(s)
	}
	for _, b := range slices.Concat(c.Blobs, c.State) {
		if d.blobs[b.Key] = string(b.Body); b.Body == nil {
			delete(d.blobs, b.Key)
		}
	}
	d.marks = append(d.marks, c.Marks...)
}

// record puts a record in its place by time; one of the same instant is replaced.
func (d *disk) record(rec alert.Record) {
	key := rec.Sample.Key()
	i, known := slices.BinarySearchFunc(d.records[key], rec.Sample.Time, func(a *alert.Record, at time.Time) int { return a.Sample.Time.Compare(at) })
	if known {
		d.records[key][i] = &rec
		return
	}
	d.records[key] = slices.Insert(d.records[key], i, &rec)
}

// exclude replaces records, for clones share them.
func (d *disk) exclude(x alert.Exclusion) {
	for i, rec := range d.records[x.Canary] {
		if at := rec.Sample.Time.UnixNano(); at < x.From || at > x.To {
			continue
		}
		out := map[probe.Metric]bool{}
		maps.Copy(out, rec.Excluded)
		out[x.Metric] = x.Excluded
		d.records[x.Canary][i] = &alert.Record{Sample: rec.Sample, Residuals: rec.Residuals, Excluded: out}
	}
}

// History reads a canary's records.
func (d *disk) History(_ context.Context, canary string, since time.Time) iter.Seq2[alert.Record, error] {
	d.flush()
	return func(yield func(alert.Record, error) bool) {
		for _, rec := range d.records[canary] {
			if !rec.Sample.Time.Before(since) && !yield(*rec, nil) {
				return
			}
		}
	}
}

// snapshot is what a start finds.
func (d *disk) snapshot() alert.Snapshot {
	var s alert.Snapshot
	open, members := map[string]bool{}, map[string]bool{}
	for _, inc := range each[alert.Incident](d.incidents) {
		s.Incidents = append(s.Incidents, inc)
		open[inc.ID] = true
		for _, id := range inc.Alerts() {
			members[id] = true
		}
	}
	for _, a := range each[alert.Alert](d.alerts) {
		switch {
		case a.Resolved.IsZero():
			s.Alerts = append(s.Alerts, a)
		case members[a.ID]:
			s.Settled = append(s.Settled, a)
		}
	}
	for _, n := range each[alert.Notice](d.notices) {
		if n.State == alert.NoticePending || n.Act == alert.ActOpen && open[n.Incident] {
			s.Notices = append(s.Notices, n)
		}
	}
	s.Silences, s.Marks = each[alert.Silence](d.silences), slices.Clone(d.marks)
	for _, key := range slices.Sorted(maps.Keys(d.blobs)) {
		s.Blobs = append(s.Blobs, alert.Blob{Key: key, Body: json.RawMessage(d.blobs[key])})
	}
	return s
}

func noticeKey(n alert.Notice) string {
	return n.Created.UTC().Format(time.RFC3339Nano) + n.Incident + "/" + n.Channel + "/" + encode(n.Revision)
}

// each returns the values of a table, by key.
func each[T any](table map[string]string) []T {
	var list []T
	for _, key := range slices.Sorted(maps.Keys(table)) {
		var v T
		if err := json.Unmarshal([]byte(table[key]), &v); err != nil {
			panic(err)
		}
		list = append(list, v)
	}
	return list
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// states writes the states of now into the book.
func (r *rig) states() {
	_, canaries, firing := r.engine.Status()
	people, held := r.people.Status(), map[string]bool{}
	for _, a := range firing {
		held[a.Series+" "+string(a.Kind)] = people.Mutes[a.ID].IsFull() || people.Inhibited[a.ID] != ""
	}
	r.book.states(r.now, canaries, held)
}
