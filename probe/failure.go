package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// Cause is why a connection or a request failed, in words that a program can decide by.
type Cause struct {
	Phase  string // dns, proxy, connect, tls, request, response, stream, client
	Kind   string // refused, unreachable, no_such_host, dns_server, unknown_authority, expired, name_mismatch, bad_certificate, plain_http, alert, client_certificate, own_resources, closed, reset, goaway, timeout, proxy_status, malformed, other
	Detail string // for people; redacted
}

// proxyRefused is what a proxy answered to CONNECT.
type proxyRefused struct {
	status int
	text   string
}

func (e *proxyRefused) Error() string { return "the proxy answered " + e.text + " to CONNECT" }

// failed judges a request that brought no response. The context's cause goes first: a timer of ours must not be taken for
// an error of the network.
func (r *run) failed(err error) (verdict, Cause) {
	if p, ok := errors.AsType[phase](context.Cause(r.ctx)); ok {
		return r.fold.expired(p), Cause{Phase: r.stage(), Kind: "timeout", Detail: p.Error()}
	}
	if r.parent.Err() != nil {
		return verdict{Client, "shutdown"}, Cause{Phase: "request", Kind: "other", Detail: "the probe was cancelled"}
	}
	c := r.causeOf(err)
	return verdict{r.outcomeOf(c, err), c.Detail}, c
}

// stage returns the phase that the request was in.
func (r *run) stage() string {
	t := &r.timeline
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.firstByte.IsZero():
		return "response"
	case !t.gotConn.IsZero():
		return "request"
	case !t.tls.from.IsZero():
		return "tls"
	case !t.dns.from.IsZero() && t.dns.to.IsZero():
		return "dns"
	}
	return "connect"
}

func (r *run) outcomeOf(c Cause, err error) Outcome {
	timeout := c.Kind == "timeout"
	switch c.Phase {
	case "dns":
		if timeout {
			return TimeoutConnect
		}
		return DNS
	case "proxy", "connect":
		if timeout {
			return TimeoutConnect
		}
		return Connect
	case "tls":
		return TLS
	case "client":
		return Client
	}
	if c.Kind == "malformed" {
		return Protocol
	}
	return Reset
}

// causeOf types err by what it wraps and by the phase it happened in.
func (r *run) causeOf(err error) Cause {
	stage := r.stage()
	if own, ok := ownFault(err); ok && stage != "response" {
		return Cause{"client", "own_resources", ReasonOwnResources + ": " + own + ": " + plain(err)}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dnsCause(dns)
	}
	if c, ok := tlsCause(err); ok {
		r.learnCertificate(err)
		if c.Kind == "alert" && r.timeline.asksCertificate() {
			c.Kind = "client_certificate"
			c.Detail += "; it asks for a client certificate that it trusts: name its files in client_cert_file and client_key_file"
		}
		return c
	}
	if e, ok := errors.AsType[*proxyRefused](err); ok {
		return Cause{"proxy", "proxy_status", e.Error()}
	}
	c := Cause{Phase: stage, Kind: socketKind(err), Detail: plain(err)}
	switch op, ok := errors.AsType[*net.OpError](err); {
	case ok && op.Op == "proxyconnect":
		c.Phase, c.Detail = "proxy", "proxy: "+plain(op.Err)
	case stage == "tls":
		c.Detail = "the TLS handshake broke off: " + c.Detail
	case stage == "connect" && !r.timeline.tried():
		c.Phase = "client" // refused before a connection was tried: a header or a URL that cannot be sent
	case c.Kind == "other" && stage == "response":
		c.Kind = "malformed"
	case stage == "request" && (c.Kind == "closed" || c.Kind == "reset"):
		c.Detail = "connection closed before the response: " + c.Detail
	}
	return c
}

// tried reports whether a connection was looked for.
func (t *timeline) tried() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dialErr != nil || len(t.dialed) > 0 || !t.gotConn.IsZero()
}

// ownFault says what this machine lacks, where err says that it lacks something: none of it is the endpoint's fault. Whether
// a permission is missing is asked only before a connection stands: it is this machine's firewall then.
func ownFault(err error) (string, bool) {
	for _, x := range []struct {
		errno syscall.Errno
		text  string
	}{
		{syscall.EMFILE, "serin is out of file descriptors (raise LimitNOFILE= or ulimit -n)"},
		{syscall.ENFILE, "this machine is out of file descriptors"},
		{syscall.EADDRNOTAVAIL, "this machine is out of local ports, or has no address of that kind"},
		{syscall.ENOBUFS, "this machine is out of network buffers"},
		{syscall.ENOMEM, "this machine is out of memory"},
		{syscall.EACCES, "this machine's own firewall or policy forbids the connection"},
		{syscall.EPERM, "this machine's own firewall or policy forbids the connection"},
	} {
		if errors.Is(err, x.errno) {
			return x.text, true
		}
	}
	return "", false
}

func dnsCause(e *net.DNSError) Cause {
	c := Cause{Phase: "dns", Kind: "dns_server", Detail: fmt.Sprintf("lookup %s: %s", e.Name, e.Err)}
	switch {
	case e.IsNotFound:
		c.Kind = "no_such_host"
	case e.IsTimeout:
		c.Kind = "timeout"
	}
	return c
}

// tlsCause types the errors of crypto/tls and crypto/x509.
func tlsCause(err error) (Cause, bool) {
	c := Cause{Phase: "tls"}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		c.Kind, c.Detail = "unknown_authority", "the certificate is signed by an unknown authority; if it is your own, name its PEM file in ca_file"
		return c, true
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		c.Kind, c.Detail = "name_mismatch", fmt.Sprintf("the certificate is not for %s but for %s", e.Host, certNames(e.Certificate))
		return c, true
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		c.Kind, c.Detail = "bad_certificate", e.Error()
		if e.Reason == x509.Expired {
			c.Kind = "expired"
			c.Detail = fmt.Sprintf("the certificate is valid from %s to %s only", e.Cert.NotBefore.Format("2006-01-02"), e.Cert.NotAfter.Format("2006-01-02"))
		}
		return c, true
	}
	if e, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		c.Kind, c.Detail = "plain_http", "the server does not speak TLS on this port"
		if string(e.RecordHeader[:]) == "HTTP/" {
			c.Detail = "the server speaks plain HTTP on this port; use http:// or the TLS port"
		}
		return c, true
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "remote error" { // under TLS 1.3 it comes with the first read
		c.Kind, c.Detail = "alert", "the server refused the handshake: "+e.Err.Error()
		return c, true
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		c.Kind, c.Detail = "bad_certificate", e.Err.Error()
		return c, true
	}
	return c, false
}

func certNames(c *x509.Certificate) string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no name"
	}
	if len(names) > 5 {
		names = append(names[:5], "…")
	}
	return strings.Join(names, ", ")
}

// socketKind types the errors of sockets.
func socketKind(err error) string {
	switch {
	case goneAway(err):
		return "goaway"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "unreachable"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		return "reset"
	case os.IsTimeout(err), errors.Is(err, syscall.ETIMEDOUT):
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, net.ErrClosed):
		return "closed"
	}
	return "other"
}

// goneAway reports whether err says that an HTTP/2 server ended the connection by GOAWAY. net/http has no type for it that
// can be named, and wraps one of its two errors as text: the word is all there is.
func goneAway(err error) bool { return strings.Contains(err.Error(), "GOAWAY") }

// plain returns err's text without what net/http puts in front.
func plain(err error) string {
	text := err.Error()
	if goneAway(err) {
		_, text, _ = strings.Cut(text, "GOAWAY")
		return "goaway: the server ended the HTTP/2 connection" + strings.TrimSuffix(text, "] after Request.Body was written; define Request.GetBody to avoid this error")
	}
	for _, front := range []string{"net/http: ", "http: ", "HTTP/1.x transport connection broken: ", "net/http: "} {
		text = strings.TrimPrefix(text, front)
	}
	return text
}

// learnCertificate notes the expiry of a certificate that was refused.
func (r *run) learnCertificate(err error) {
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		r.timeline.locked(r.noteCertificate(e.UnverifiedCertificates))
	}
}
