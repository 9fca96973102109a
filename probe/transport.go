package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"serin/probe/secret"
)

// Settings of the HTTP client.
const (
	readBuffer     = 32 << 10         // of a connection: the most that one read takes
	writeBuffer    = 16 << 10         // a short request leaves in one write
	maxHeader      = 1 << 20          // bytes of a response's headers
	idleConn       = 30 * time.Second // less than load balancers keep
	pingIdle       = 15 * time.Second // HTTP/2: silence after which a ping is sent
	pingTimeout    = 15 * time.Second
	keepAliveProbe = 15 * time.Second
)

// runKey finds the run in the context that the transport hands to its callbacks.
type runKey struct{}

func runOf(ctx context.Context) (*run, error) {
	if r, ok := ctx.Value(runKey{}).(*run); ok {
		return r, nil
	}
	return nil, errors.New("dialed outside of a probe")
}

// pooled is a transport that probes of one target share, and what it was made from.
type pooled struct {
	made string
	*http.Transport
}

// transport returns what carries a request to t. own says that the caller closes it.
func (p *Prober) transport(t *Target, fresh bool) (tr *http.Transport, own bool, err error) {
	if t.Connection != "reuse" || fresh {
		tr, err = p.newTransport(t)
		return tr, true, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	made := strings.Join([]string{t.BaseURL, t.Proxy, t.CAFile, t.ClientCert, t.ClientKey}, " ")
	have, ok := p.pool[t.Name]
	if ok && have.made == made {
		return have.Transport, false, nil
	}
	if tr, err = p.newTransport(t); err != nil {
		return nil, false, err
	}
	if ok {
		have.CloseIdleConnections()
	}
	p.pool[t.Name] = pooled{made, tr}
	return tr, false, nil
}

// redial makes the next probe of a target connect anew: a connection over which nothing came may be dead without a sign.
// Probes that are still under way on it are left alone.
func (p *Prober) redial(target string, tr *http.Transport) {
	p.mu.Lock()
	if p.pool[target].Transport == tr {
		delete(p.pool, target)
	}
	p.mu.Unlock()
	tr.CloseIdleConnections()
}

func (p *Prober) newTransport(t *Target) (*http.Transport, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		base = &http.Transport{}
	}
	tr := base.Clone()
	proxy, err := proxyOf(t.Proxy)
	if err != nil {
		return nil, err
	}
	config, err := tlsConfig(t)
	if err != nil {
		return nil, err
	}
	tr.Proxy = noteProxy(proxy)
	tr.OnProxyConnectResponse = proxyAnswer
	tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		r, err := runOf(ctx)
		if err != nil {
			return nil, err
		}
		return r.dial(network, addr)
	}
	tr.TLSClientConfig = config
	tr.ForceAttemptHTTP2 = true
	tr.DisableCompression = true
	tr.IdleConnTimeout = idleConn
	tr.TLSHandshakeTimeout, tr.ExpectContinueTimeout = 0, 0 // the probe has deadlines of its own
	tr.MaxResponseHeaderBytes = maxHeader
	tr.ReadBufferSize, tr.WriteBufferSize = readBuffer, writeBuffer
	tr.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingIdle, PingTimeout: pingTimeout}
	return tr, nil
}

// proxyOf returns the proxy function for the config value: "" = the environment, none, or a URL.
func proxyOf(value string) (func(*http.Request) (*url.URL, error), error) {
	switch value {
	case "":
		return http.ProxyFromEnvironment, nil
	case "none":
		return func(*http.Request) (*url.URL, error) { return nil, nil }, nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return nil, errors.New("proxy is not a URL")
	}
	return http.ProxyURL(u), nil
}

// noteProxy remembers which proxy a probe goes through, without its credentials.
func noteProxy(f func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(req *http.Request) (*url.URL, error) {
		u, err := f(req)
		if err != nil || u == nil {
			return u, err
		}
		if r, err := runOf(req.Context()); err == nil {
			r.timeline.locked(func(time.Time) { r.timeline.proxy = u.Scheme + "://" + u.Host })
		}
		return u, nil
	}
}

func proxyAnswer(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyRefused{res.StatusCode, res.Status}
}

// tlsConfig trusts the system's roots and the target's own, and shows the target's certificate where it has one.
func tlsConfig(t *Target) (*tls.Config, error) {
	roots, err := rootsOf(t.CAFile)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	var own tls.Certificate
	if t.ClientCert != "" {
		if own, err = LoadKeyPair(t.ClientCert, t.ClientKey); err != nil {
			return nil, err
		}
	}
	config.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if r, err := runOf(asked.Context()); err == nil {
			r.timeline.locked(func(time.Time) { r.timeline.certAsked = true })
		}
		return &own, nil
	}
	return config, nil
}

// LoadKeyPair reads a client certificate and its key, PEM, from two files that may be one. The error holds nothing of them.
func LoadKeyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := secret.ReadFile(certFile, secret.MaxRoots)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read client_cert_file: %w", err)
	}
	key, err := secret.ReadFile(keyFile, secret.MaxFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read client_key_file: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("client_cert_file and client_key_file: %w", err)
	}
	return pair, nil
}

// rootsOf returns the system's roots with those of file added; nil = the system's.
func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := secret.ReadFile(file, secret.MaxRoots)
	if err != nil {
		return nil, fmt.Errorf("read ca_file: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // no system roots: the file's alone
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file %q holds no PEM certificate", file)
	}
	return roots, nil
}

// dial connects for one run. The transport would let a dial go on after its request is gone; this one ends with the run.
func (r *run) dial(network, addr string) (net.Conn, error) {
	t := &r.timeline
	start := time.Now()
	c, err := r.p.o.Dial(r.ctx, network, addr)
	if err != nil {
		t.locked(func(time.Time) { t.dialErr = err })
		return nil, err
	}
	m := newMeteredConn(c)
	late := false
	t.locked(func(now time.Time) {
		if t.connect.from.IsZero() {
			t.connect.from = start
		}
		if t.connect.to.IsZero() {
			t.connect.to = now
		}
		t.dialed = append(t.dialed, m)
		late = t.hungUp
	})
	if late {
		_ = m.Close() // the run is over: nobody will use it
		return nil, errClosed
	}
	return m, nil
}
