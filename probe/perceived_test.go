package probe

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// TestNoRoundTripCountsTwice builds the client's figures from a server's by hand and gets the published sums back.
func TestNoRoundTripCountsTwice(t *testing.T) {
	const rtt, dns, tls, serverTTFT, tpot, n = 30 * ms, 12 * ms, 61 * ms, 400 * ms, 20 * ms, 11
	sent := dns + rtt + tls
	ttft := sent + rtt + serverTTFT
	s := Sample{Outcome: OK, RTT: Known(rtt), Sent: Known(sent), TTFT: Known(ttft), TPOT: Known(tpot), E2E: Known(ttft + (n-1)*tpot)}
	wantSpan(t, "server ttft", s.ServerTTFT(), serverTTFT)
	wantSpan(t, "first screen", s.FirstScreen(), serverTTFT+rtt)
	wantSpan(t, "perceived", s.Perceived(), serverTTFT+(n-1)*tpot+2*rtt)
	s.RTT = Span{} // a kept connection, or a proxy
	wantSpan(t, "server ttft", s.ServerTTFT(), -1)
	wantSpan(t, "first screen", s.FirstScreen(), serverTTFT+rtt)
	wantSpan(t, "perceived", s.Perceived(), -1)
	s.RTT, s.TPOT = Known(rtt), Span{}
	wantSpan(t, "perceived", s.Perceived(), -1)
}

func TestRTTIsOfANewConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := scripted(okScript())
		srv.delay = 40 * ms
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		c := testCanary()
		c.Target.Connection = "reuse"
		for _, want := range []time.Duration{40 * ms, -1} {
			s, err := p.Do(t.Context(), Shot{Canary: c})
			if err != nil {
				t.Fatal(err)
			}
			wantSpan(t, "rtt of a "+s.Conn+" connection", s.RTT, want)
		}
	})
}

// TestRTTIsTheKernels: what the client was kept busy with while it dialed is not in it.
func TestRTTIsTheKernels(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(stream))
	t.Cleanup(srv.Close)
	const busy = 80 * ms
	p := New(Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		for start := time.Now(); time.Since(start) < busy; {
		}
		return c, err
	}})
	defer p.Close()
	c := testCanary()
	c.Target.BaseURL = srv.URL
	s, err := p.Do(t.Context(), Shot{Canary: c})
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, s, OK, "")
	if !s.RTT.Known || s.RTT.D <= 0 || s.RTT.D > busy/2 {
		t.Errorf("rtt %v", s.RTT)
	}
	if s.CertDays.Known {
		t.Errorf("a certificate without TLS: %v", s.CertDays)
	}
	c.Target.Proxy = srv.URL
	if s, err = p.Do(t.Context(), Shot{Canary: c}); err != nil || s.ProxyUsed == "" || s.RTT.Known {
		t.Errorf("through proxy %q: rtt %v, %v", s.ProxyUsed, s.RTT, err)
	}
}
