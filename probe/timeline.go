package probe

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"time"
)

// timeline holds the instants of one request up to its first byte. The hooks run on other goroutines.
type timeline struct {
	watch *watch
	meter *lagMeter

	mu        sync.Mutex
	dns       span
	connect   span
	attempt   map[string]time.Time // when connecting to each address began
	handshook Span                 // how long the attempt took that came through
	tls       span
	gotConn   time.Time
	wrote     bool
	sent      time.Time // start of the write(2) that carried the last byte
	sending   Span      // how long that write took
	firstByte time.Time
	reused    bool
	h2        bool
	conns     int // GotConn calls: more than one is a hidden retry
	conn      *meteredConn
	dialed    []*meteredConn
	hungUp    bool // a connection that comes now is too late
	metered   bool // holds the lag meter
	dialErr   error
	tlsErr    error
	certAsked bool // the server asked for a client certificate
	remote    string
	proxy     string
	days      Maybe[float64]
}

// span is a phase with its two ends.
type span struct{ from, to time.Time }

// length returns the phase's length, unknown unless it has both ends.
func (s span) length() Span {
	if s.from.IsZero() || s.to.IsZero() {
		return Span{}
	}
	return Known(s.to.Sub(s.from))
}

func (t *timeline) locked(f func(now time.Time)) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	f(now)
}

// trace returns the hooks that fill t.
func (t *timeline) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { t.locked(func(now time.Time) { t.dns.from = now }) },
		DNSDone:              func(httptrace.DNSDoneInfo) { t.locked(func(now time.Time) { t.dns.to = now }) },
		ConnectStart:         func(_, addr string) { t.locked(func(now time.Time) { t.connecting(addr, now) }) },
		ConnectDone:          t.connected,
		TLSHandshakeStart:    func() { t.locked(func(now time.Time) { t.tls.from = now }) },
		TLSHandshakeDone:     t.handshake,
		GotConn:              t.got,
		WroteRequest:         t.written,
		GotFirstResponseByte: func() { t.locked(t.first) },
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			t.locked(func(time.Time) { t.firstByte = time.Time{} })
			return nil
		},
	}
}

// connecting keeps the first start: addresses are tried side by side.
func (t *timeline) connecting(addr string, now time.Time) {
	if t.connect.from.IsZero() {
		t.connect.from = now
	}
	if t.attempt == nil {
		t.attempt = map[string]time.Time{}
	}
	t.attempt[addr] = now
}

func (t *timeline) connected(_, addr string, err error) {
	if err != nil {
		return
	}
	t.locked(func(now time.Time) {
		t.connect.to = now
		if !t.handshook.Known {
			t.handshook = since(t.attempt[addr], now)
		}
	})
}

// roundTrip returns how long a round trip to the server took when the connection was made: as the kernel measured it,
// else as long as the handshake took. Over a proxy it would be the one to the proxy, and a kept connection has none.
func (t *timeline) roundTrip() Span {
	switch {
	case t.conn == nil || t.reused || t.proxy != "":
		return Span{}
	case t.conn.sock != nil:
		return t.conn.sock.rtt
	case t.handshook.Known:
		return t.handshook
	}
	return t.connect.length()
}

func (t *timeline) handshake(state tls.ConnectionState, err error) {
	t.locked(func(now time.Time) {
		if t.tlsErr = err; err == nil {
			t.tls.to = now
			t.certificate(state.PeerCertificates, now)
		}
	})
}

func (t *timeline) asksCertificate() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.certAsked
}

// certificate notes how many days the server's certificate has left; negative = expired.
func (t *timeline) certificate(chain []*x509.Certificate, now time.Time) {
	if len(chain) > 0 {
		t.days = Some(chain[0].NotAfter.Sub(now).Hours() / 24)
	}
}

func (t *timeline) got(info httptrace.GotConnInfo) {
	t.watch.clear(phaseConnect)
	t.locked(func(now time.Time) {
		t.gotConn, t.reused = now, info.Reused
		t.conns++
		t.remote = info.Conn.RemoteAddr().String()
		if c, ok := info.Conn.(*tls.Conn); ok {
			state := c.ConnectionState()
			t.h2 = state.NegotiatedProtocol == "h2"
			t.certificate(state.PeerCertificates, now)
		}
		t.conn = metered(info.Conn)
		if t.conn != nil && !t.metered {
			t.metered = true
			t.meter.acquire()
		}
	})
}

// metered finds our connection below any number of TLS layers.
func metered(c net.Conn) *meteredConn {
	for {
		switch v := c.(type) {
		case *meteredConn:
			return v
		case *tls.Conn:
			c = v.NetConn()
		default:
			return nil
		}
	}
}

// written notes the end of the request. With HTTP/1 the hook runs before the flush, so the write is looked up later.
func (t *timeline) written(info httptrace.WroteRequestInfo) {
	t.locked(func(now time.Time) {
		t.wrote = info.Err == nil
		if t.h2 && t.wrote && t.conn != nil {
			w := t.conn.request(t.h2)
			t.sent, t.sending = w.from, w.took(now)
		}
	})
}

// first notes the first byte, at the instant of its read.
func (t *timeline) first(now time.Time) {
	t.firstByte = now
	if t.conn == nil {
		return
	}
	if last := t.conn.read(); last.seq > 0 {
		t.firstByte = last.at
	}
	if t.sent.IsZero() {
		w := t.conn.request(t.h2)
		t.sent, t.sending = w.from, w.took(now)
	}
}

// answered notes that the head of the final response is there: the hook of the first byte ran for a 1xx, if one came before.
func (t *timeline) answered() {
	t.locked(func(now time.Time) {
		if t.firstByte.IsZero() {
			t.first(now)
		}
	})
}

// reading returns the stamp of the bytes that a body's Read returned at now.
func (t *timeline) reading(now time.Time) reading {
	t.mu.Lock()
	conn := t.conn
	t.mu.Unlock()
	if conn == nil {
		return reading{at: now, back: now}
	}
	return conn.read()
}

// settle ends the timeline: what is still open is looked up, and the lag meter is given back.
func (t *timeline) settle() {
	t.mu.Lock()
	if t.sent.IsZero() && t.wrote && t.conn != nil {
		if w := t.conn.request(t.h2); w.from.After(t.gotConn) {
			t.sent = w.from
		}
	}
	t.mu.Unlock()
	t.unmeter()
}

// unmeter gives the lag meter back, where it is held.
func (t *timeline) unmeter() {
	t.mu.Lock()
	held := t.metered
	t.metered = false
	t.mu.Unlock()
	if held {
		t.meter.release()
	}
}

// hangUp closes what was dialed for this request.
func (t *timeline) hangUp() {
	t.mu.Lock()
	list := t.dialed
	t.hungUp = true
	t.mu.Unlock()
	for _, c := range list {
		_ = c.Close() // an error says that it is closed already
	}
}
