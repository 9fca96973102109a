package probe

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		playRole(role)
		return
	}
	goleak.VerifyTestMain(m)
}

// stream writes the chat stream of the tests over a real server.
func stream(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, ev := range strings.SplitAfter(chat("\n"), "\n\n") {
		_, _ = io.WriteString(w, ev)
		_ = http.NewResponseController(w).Flush()
	}
}

// certificate makes a self-signed one and its PEM file.
func certificate(t *testing.T, name string, until time.Time) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: until.Add(-100 * 24 * time.Hour),
		NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func tlsServer(t *testing.T, cert tls.Certificate, h2 bool) *httptest.Server {
	t.Helper()
	return serveTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, h2)
}

// serveTLS takes the whole of conf before it starts: the running server reads it at every handshake.
func serveTLS(t *testing.T, conf *tls.Config, h2 bool) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(stream))
	srv.TLS = conf
	srv.EnableHTTP2 = h2
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

func probeLoopback(t *testing.T, c *Canary) (Sample, *Diary) {
	t.Helper()
	p := New(Options{})
	defer p.Close()
	d := &Diary{WantText: true}
	s, err := p.Do(t.Context(), Shot{Canary: c, Diary: d})
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

func TestHTTPVersionsOverTLS(t *testing.T) {
	cert, ca := certificate(t, "127.0.0.1", time.Now().Add(30*24*time.Hour))
	for _, h2 := range []bool{false, true} {
		c := testCanary()
		c.Target.BaseURL, c.Target.CAFile = tlsServer(t, cert, h2).URL+"/v1", ca
		s, d := probeLoopback(t, c)
		wantOutcome(t, s, OK, "")
		proto := "HTTP/1.1"
		if h2 {
			proto = "HTTP/2.0"
		}
		if s.Proto != proto || d.Text != answerText || !s.TLS.Known || !s.Sent.Known || s.Conn != "new" {
			t.Errorf("proto %s, text %q, tls %v, sent %v, conn %s", s.Proto, d.Text, s.TLS, s.Sent, s.Conn)
		}
		if days := d.TLSDaysLeft; !days.Known || days.V < 29 || days.V > 31 {
			t.Errorf("days left %v", days)
		}
		if s.Sent.D > s.TTFB.D || s.TTFB.D > s.TTFT.D || s.TTFT.D > s.E2E.D {
			t.Errorf("out of order: sent %v, ttfb %v, ttft %v, e2e %v", s.Sent, s.TTFB, s.TTFT, s.E2E)
		}
	}
}

func TestB105TLSFailures(t *testing.T) {
	good, ca := certificate(t, "127.0.0.1", time.Now().Add(30*24*time.Hour))
	old, oldCA := certificate(t, "127.0.0.1", time.Now().Add(-24*time.Hour))
	other, otherCA := certificate(t, "other.test", time.Now().Add(30*24*time.Hour))
	plainSrv := httptest.NewServer(http.HandlerFunc(stream))
	t.Cleanup(plainSrv.Close)
	for _, c := range []struct {
		name, url, ca, kind, reason string
		days                        float64
	}{
		{"unknown authority", tlsServer(t, good, false).URL, "", "unknown_authority", "unknown authority", 29},
		{"expired", tlsServer(t, old, false).URL, oldCA, "expired", "valid from", -2},
		{"name mismatch", tlsServer(t, other, false).URL, otherCA, "name_mismatch", "not for 127.0.0.1 but for other.test", 29},
		{"plain HTTP", strings.Replace(plainSrv.URL, "http:", "https:", 1), ca, "plain_http", "plain HTTP", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			canary := testCanary()
			canary.Target.BaseURL, canary.Target.CAFile = c.url, c.ca
			s, d := probeLoopback(t, canary)
			wantOutcome(t, s, TLS, c.reason)
			if d.Cause.Kind != c.kind || d.Cause.Phase != "tls" || s.Side != SideNetwork {
				t.Errorf("cause %+v, side %s", d.Cause, s.Side)
			}
			if c.days != 0 && (!d.TLSDaysLeft.Known || d.TLSDaysLeft.V < c.days || d.TLSDaysLeft.V > c.days+2) {
				t.Errorf("days left %v, want about %v", d.TLSDaysLeft, c.days)
			}
		})
	}
}

func TestHandshakeCutIsTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	c := testCanary()
	c.Target.BaseURL = "https://" + l.Addr().String()
	s, _ := probeLoopback(t, c)
	wantOutcome(t, s, TLS, "handshake")
}

func TestConnectRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	c := testCanary()
	c.Target.BaseURL = "http://" + addr
	s, d := probeLoopback(t, c)
	wantOutcome(t, s, Connect, "refused")
	if d.Cause.Kind != "refused" || d.Cause.Phase != "connect" {
		t.Errorf("cause %+v", d.Cause)
	}
	c.Target.BaseURL, c.Target.Proxy = "http://gw.test", "http://user:pw@"+addr
	s, d = probeLoopback(t, c)
	wantOutcome(t, s, Connect, "proxy")
	if d.Cause.Phase != "proxy" || d.Proxy != "http://"+addr || strings.Contains(fmt.Sprintf("%+v %+v", s, d), "pw") {
		t.Errorf("cause %+v, proxy %q", d.Cause, d.Proxy)
	}
}

func TestB104Proxy(t *testing.T) {
	var seen atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		if r.Method == http.MethodConnect {
			http.Error(w, "no", http.StatusProxyAuthRequired)
			return
		}
		stream(w, r)
	}))
	t.Cleanup(proxy.Close)
	c := testCanary()
	c.Target.Proxy = proxy.URL
	s, d := probeLoopback(t, c)
	wantOutcome(t, s, OK, "")
	if seen.Load() != 1 || s.ProxyUsed != proxy.URL || d.Proxy != proxy.URL {
		t.Errorf("%d requests, proxy %q", seen.Load(), s.ProxyUsed)
	}
	c.Target.BaseURL = "https://gw.test/v1"
	s, d = probeLoopback(t, c)
	wantOutcome(t, s, Connect, "407")
	if d.Cause.Kind != "proxy_status" {
		t.Errorf("cause %+v", d.Cause)
	}
}
