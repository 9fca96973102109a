package probe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"time"

	"serin/probe/secret"
	"serin/probe/wire"
)

// Options wire a Prober. The zero value works.
type Options struct {
	Version  string // for the User-Agent; "" = dev
	Instance string // written on each sample
	Region   string
	Redactor *secret.Redactor // nil = only the target's own secrets are known
	Log      *slog.Logger
	// Dial opens connections; nil = the network. Tests put in-memory connections here.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Prober sends probes. It is safe for concurrent use; probes do not wait for each other.
type Prober struct {
	o       Options
	meter   lagMeter
	buffers sync.Pool
	rest    func() // ends what keeps the kernel stamping

	mu       sync.Mutex
	closed   bool
	inFlight sync.WaitGroup
	pool     map[string]pooled  // shared transports by target name
	lessons  map[string]*lesson // by target name
	memories map[string]*memory // by canary key
}

// Shot is one probe to send.
type Shot struct {
	Canary    *Canary
	Spec      string    // of the canary; written on the sample
	Sched     time.Time // when it was meant to be sent; zero = now. Keep its monotonic reading
	Trigger   Trigger
	Attempt   int       // 0 and 1 = the first
	FreshConn bool      // dial, whatever the target's connection says
	Diary     *Diary    // nil = none is kept
	Progress  *Progress // nil = nobody asks
}

// New returns a Prober; Close ends it.
func New(o Options) *Prober {
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Redactor == nil {
		o.Redactor = &secret.Redactor{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{KeepAlive: keepAliveProbe}).DialContext
	}
	p := &Prober{o: o, pool: map[string]pooled{}, lessons: map[string]*lesson{}, memories: map[string]*memory{}}
	p.rest = keepStamping()
	p.buffers.New = func() any { return new([readBuffer]byte) }
	return p
}

// Do sends one probe and reads the whole answer; it returns when the stream ended, a deadline passed, or ctx was
// cancelled (outcome client, reason shutdown). What the endpoint or the network does wrong is in the sample, and so is
// a key or a CA file that cannot be read (outcome client). The error says that the shot itself makes no sense, or that
// the prober is closed; there is no sample then.
func (p *Prober) Do(ctx context.Context, shot Shot) (Sample, error) {
	c := shot.Canary
	switch {
	case c == nil || c.Target == nil || c.Scene == nil:
		return Sample{}, errors.New("probe: no canary")
	case len(c.Prompts) == 0:
		return Sample{}, fmt.Errorf("probe %s: no prompt", c.Key())
	}
	proto, err := wire.Find(c.Target.Protocol)
	if err != nil {
		return Sample{}, fmt.Errorf("probe %s: %w", c.Key(), err)
	}
	if !p.enter() {
		return Sample{}, errors.New("probe: the prober is closed")
	}
	defer p.inFlight.Done()
	r := &run{p: p, parent: ctx, shot: shot, c: c, proto: proto}
	return r.do(), nil
}

func (p *Prober) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.inFlight.Add(1)
	return true
}

// Close waits for the probes in flight and closes the idle connections. Cancel their contexts first.
func (p *Prober) Close() {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if closed {
		return
	}
	p.inFlight.Wait()
	p.meter.wait()
	p.rest()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, tr := range p.pool {
		tr.CloseIdleConnections()
	}
}

// redact takes out every secret of the config.
func (p *Prober) redact(text string) string { return p.o.Redactor.Redact(text) }

// Spec returns the hash of what makes samples of c comparable: protocol, host, model, prompts, size, output cap, cache
// mode, extra body, reasoning effort and region; 16 hex digits. Samples of different specs never share a band.
func Spec(c *Canary) string {
	t := c.Target
	host := t.BaseURL
	if u, err := url.Parse(t.BaseURL); err == nil {
		host = u.Host
	}
	h := sha256.New()
	enc := json.NewEncoder(h) // sorts the keys of maps; what it cannot write is left out on both sides
	_ = enc.Encode([]any{t.Protocol, host, t.Model, c.Size, c.outputCap(), t.Cache == "keep", c.Region})
	_ = enc.Encode(t.ExtraBody)
	if t.ReasoningEffort != "" {
		_ = enc.Encode(t.ReasoningEffort)
	}
	for _, p := range c.Prompts {
		_ = enc.Encode([]string{p.ID, p.System, p.User})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// memory is what a canary's earlier probes leave for the next.
type memory struct {
	turns   int  // prompts taken
	warmed  bool // a probe was sent since start
	print   Fingerprint
	answers map[string]lastText // by prompt
}

// remember calls f with c's memory, under the lock.
func (p *Prober) remember(c *Canary, f func(*memory)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.memories[c.Key()]
	if m == nil {
		m = &memory{}
		p.memories[c.Key()] = m
	}
	f(m)
}

// Forget drops what is remembered of canaries and targets that keep no longer wants: call it after a reload.
func (p *Prober) Forget(keep func(c string) bool, target func(name string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.memories {
		if !keep(key) {
			delete(p.memories, key)
		}
	}
	for name, tr := range p.pool {
		if !target(name) {
			tr.CloseIdleConnections()
			delete(p.pool, name)
		}
	}
	for name := range p.lessons {
		if !target(name) {
			delete(p.lessons, name)
		}
	}
}
