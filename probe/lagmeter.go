package probe

import (
	"sync"
	"time"
)

// The ticker that measures this process's own delay: where the kernel does not stamp reads, and until the first token,
// where one read may bring several, of which the kernel stamps the newest alone.
const (
	lagTick  = 10 * time.Millisecond
	lagFloor = time.Millisecond // less is not remembered
	lagKept  = 4096             // delays remembered
)

// lagMeter measures how late this process wakes. It ticks only while someone needs it: each tick wakes the process, which
// costs as much as an event of a stream.
type lagMeter struct {
	mu    sync.Mutex
	users int
	ticks bool           // tick runs; it ends itself at the tick after the last user left
	gone  sync.WaitGroup // of tick
	late  []lateTick     // newest last
}

// lateTick is one wake: it was due at due and happened at woke.
type lateTick struct{ due, woke time.Time }

// acquire starts the ticker for the first user; release must follow.
func (m *lagMeter) acquire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users++
	if !m.ticks {
		m.ticks = true
		m.gone.Go(m.tick)
	}
}

// release ends the ticker with its last user.
func (m *lagMeter) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users--
}

// wait returns when the ticker has ended: a tick at the most after the last user left.
func (m *lagMeter) wait() { m.gone.Wait() }

func (m *lagMeter) tick() {
	for m.needed() {
		due := time.Now().Add(lagTick)
		time.Sleep(lagTick)
		m.note(lateTick{due, time.Now()})
	}
}

func (m *lagMeter) needed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ticks = m.users > 0
	return m.ticks
}

func (m *lagMeter) note(t lateTick) {
	if t.woke.Sub(t.due) < lagFloor {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.late) == lagKept {
		m.late = append(m.late[:0], m.late[1:]...)
	}
	m.late = append(m.late, t)
}

// lateAt returns how late a wake at t may have been: the longest delay that t lies in or just behind.
func (m *lagMeter) lateAt(t time.Time) time.Duration { return m.lateUntil(t, lagFloor) }

// lateUntil is lateAt with the delays that ended up to behind before t.
func (m *lagMeter) lateUntil(t time.Time, behind time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	var worst time.Duration
	for _, l := range m.late {
		if !t.Before(l.due) && !t.After(l.woke.Add(behind)) {
			worst = max(worst, l.woke.Sub(l.due))
		}
	}
	return worst
}
