package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOwnResources: what this machine lacks is no endpoint's fault, wherever it shows.
func TestOwnResources(t *testing.T) {
	f := func(err error, want Outcome, side Side) {
		t.Helper()
		p := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, err }})
		defer p.Close()
		s, _ := p.Do(t.Context(), Shot{Canary: testCanary()})
		wantOutcome(t, s, want, "")
		if s.Side != side || (want == Client) != strings.HasPrefix(s.Reason, ReasonOwnResources) {
			t.Errorf("%v: side %s, reason %q", err, s.Side, s.Reason)
		}
	}
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM, syscall.EACCES, syscall.EPERM} {
		f(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}, Client, SideClient)
	}
	lookup := &net.DNSError{Err: "dial udp: socket: too many open files", Name: "gw.test", UnwrapErr: os.NewSyscallError("socket", syscall.EMFILE)}
	f(&net.OpError{Op: "dial", Net: "tcp", Err: lookup}, Client, SideClient)
	f(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}, Connect, SideNetwork)
	f(fmt.Errorf("lookup: %w", &net.DNSError{Err: "server misbehaving", Name: "gw.test"}), DNS, SideNetwork)
}

// TestClientCertificates: under TLS 1.3 the refusal comes with the first read, and it is one of TLS all the same.
func TestClientCertificates(t *testing.T) {
	cert, ca := certificate(t, "127.0.0.1", time.Now().Add(30*24*time.Hour))
	own, ownFile := certificate(t, "serin", time.Now().Add(30*24*time.Hour))
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600); err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(own.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	trusted.AddCert(leaf)
	start := func(most uint16) *httptest.Server {
		return serveTLS(t, &tls.Config{
			Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted, MaxVersion: most,
		}, false)
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		c := testCanary()
		c.Target.BaseURL, c.Target.CAFile = start(version).URL+"/v1", ca
		s, d := probeLoopback(t, c)
		wantOutcome(t, s, TLS, "client_cert_file")
		if d.Cause.Kind != "client_certificate" || d.Cause.Phase != "tls" || s.Side != SideNetwork {
			t.Errorf("%s: cause %+v, side %s", tls.VersionName(version), d.Cause, s.Side)
		}
		c.Target.ClientCert, c.Target.ClientKey = ownFile, keyFile
		s, _ = probeLoopback(t, c)
		wantOutcome(t, s, OK, "")
	}
	c := testCanary()
	c.Target.ClientCert, c.Target.ClientKey = ownFile, ca
	s, _ := probeLoopback(t, c)
	wantOutcome(t, s, Client, "client_cert_file")
}
