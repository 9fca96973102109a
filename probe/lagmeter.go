package probe

import (
	"sync"
	"time"
)

// The ticker that measures this process's own delay: where the kernel does not stamp reads, and where one read brought
// several tokens, of which the kernel stamps the newest alone.
const (
	lagTick  = 10 * time.Millisecond
	lagFloor = time.Millisecond // less is not remembered
	lagKept  = 4096             // delays remembered
)

// lagMeter measures how late this process wakes. It ticks only while someone needs it.
type lagMeter struct {
	mu    sync.Mutex
	users int
	stop  chan struct{}
	over  chan struct{}
	late  []lateTick // newest last
}

// lateTick is one wake: it was due at due and happened at woke.
type lateTick struct{ due, woke time.Time }

// acquire starts the ticker for the first user; release must follow.
func (m *lagMeter) acquire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users++; m.users > 1 {
		return
	}
	m.stop, m.over = make(chan struct{}), make(chan struct{})
	go m.tick(m.stop, m.over)
}

// release ends the ticker with its last user, and waits for it.
func (m *lagMeter) release() {
	m.mu.Lock()
	m.users--
	stop, over, last := m.stop, m.over, m.users == 0
	m.mu.Unlock()
	if last {
		close(stop)
		<-over
	}
}

func (m *lagMeter) tick(stop, over chan struct{}) {
	defer close(over)
	timer := time.NewTimer(lagTick)
	defer timer.Stop()
	for {
		due := time.Now().Add(lagTick)
		timer.Reset(lagTick)
		select {
		case <-stop:
			return
		case <-timer.C:
			m.note(lateTick{due, time.Now()})
		}
	}
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
