package probe

import (
	"sync"
	"time"
)

// Progress tells how far a probe in flight has come. The zero Progress is ready for one probe; it is safe for concurrent use.
type Progress struct {
	mu    sync.Mutex
	token time.Time
}

// LastToken returns when the latest token came; zero = none has yet.
func (p *Progress) LastToken() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.token
}

// came notes a token; a nil Progress notes nothing.
func (p *Progress) came(at time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = at
}
