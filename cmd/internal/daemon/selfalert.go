package daemon

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"serin/alert"
)

// selfAlert tells the channels that serin itself is not well: once when it begins, once when it is over.
type selfAlert struct {
	name  string // part of the incident's id
	tell  func(notices ...alert.Notice)
	names func() []string // of the channels
	by    []string        // instance and region, for the footer

	mu   sync.Mutex
	id   string   // of the open one; "" = all is well
	told []string // the channels that were told of it
}

// begin opens the alert and reports true; a second call while it is open does nothing.
func (s *selfAlert) begin(headline string, lines ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id != "" {
		return false
	}
	now := time.Now()
	s.id = selfPrefix + s.name + "-" + strings.ToLower(rand.Text()[:8]) // two may begin within one instant
	s.told = s.names()
	s.send(now, 1, alert.ActOpen, "firing", headline, lines)
	return true
}

// end resolves it; without a begin it does nothing.
func (s *selfAlert) end(headline string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		return
	}
	s.send(time.Now(), 2, alert.ActResolve, "resolved", headline, nil)
	s.id = ""
}

func (s *selfAlert) send(now time.Time, revision int, act alert.Act, state, headline string, lines []string) {
	m := alert.Message{Severity: alert.Warning, State: state, Headline: headline, Incident: s.id, Footer: s.by}
	for _, l := range lines {
		m.Lines = append(m.Lines, alert.Line{Role: "detail", Text: l})
	}
	for _, name := range s.told {
		s.tell(alert.Notice{Incident: s.id, Channel: name, Revision: revision, Act: act, Message: m, State: alert.NoticePending, Created: now})
	}
}

// storeHealth says on the channels when the store stops taking writes and when it takes them again. The notices go to the
// outbox at once and to the store when it heals: that is the one case in which a message leaves before it is on disk.
func (d *Daemon) storeHealth(ok bool, why error) {
	if !d.ready.Load() { // starting: serve asks again when all is built
		return
	}
	if ok {
		d.storeAlert.end("serin can write its store again; what waited in memory is on disk")
		return
	}
	d.storeAlert.begin("serin cannot write its store",
		d.opt.Redact.Text(fmt.Sprint(why)), "alerts are still decided and sent, from memory; a restart now could lose or repeat one")
}

// tellOutbox hands notices to the outbox and to the journal.
func (d *Daemon) tellOutbox(notices ...alert.Notice) {
	d.owe(alert.Change{Told: alert.Told{Notices: notices}})
}

// owe journals a change that the engine does not know of and hands its notices to the outbox. Probes call it, so it never
// waits for the disk: the change stands in the store's queue, and the outbox's note of its attempt, which is waited for
// before a message leaves, stands behind it.
func (d *Daemon) owe(c alert.Change) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = d.store.Commit(now, c) // a broken store says so by itself and keeps the change for later
	d.outbox.Add(c.Notices...)
}
