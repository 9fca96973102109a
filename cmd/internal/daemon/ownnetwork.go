package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"

	"serin/configs"
	"serin/probe"
)

// Times of the check of the own network.
const (
	reachWithin = 3 * time.Second // one connection to each endpoint
	reachAgain  = 5 * time.Second // a verdict stands for so long
)

// reasonNetwork begins the reason of a sample that the loss of the own network spoiled.
const reasonNetwork = "own network lost"

// ownNetwork tells an endpoint that cannot be reached from a network that reaches nothing. When a probe fails to connect,
// it tries to connect to every endpoint, which costs nothing; when none answers, the trouble is ours: the sample becomes a
// client outcome, which votes for no alert, and people get one message.
type ownNetwork struct {
	log   *slog.Logger
	alert *selfAlert
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex
	asked time.Time
	lost  bool
	since time.Time // when it was found lost
}

func newOwnNetwork(log *slog.Logger, self *selfAlert, dial func(context.Context, string, string) (net.Conn, error)) *ownNetwork {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return &ownNetwork{log: log, alert: self, dial: dial}
}

// judge marks a sample that failed to connect because nothing can be reached, and ends the alert with one that connected.
func (n *ownNetwork) judge(ctx context.Context, t *probe.Target, s *probe.Sample, cfg *configs.Config, now time.Time) {
	_, ok := dialAddress(t)
	switch {
	case !ok || s.Outcome == probe.Skipped || s.Outcome == probe.Client:
		return
	case !unconnected(s.Outcome):
		n.found(s.Time)
		return
	}
	addresses := addressesOf(cfg)
	if len(addresses) < 2 { // one endpoint that is down and a lost network look alike
		return
	}
	if !n.unreachable(ctx, addresses, now) {
		return
	}
	s.Reason = fmt.Sprintf("%s: %s %s", reasonNetwork, s.Outcome, s.Reason)
	s.Outcome = probe.Client
	s.Family, s.Side = s.Outcome.Family(), s.Outcome.Side(s.Reason)
}

// unconnected reports whether a probe ended before it had a connection.
func unconnected(o probe.Outcome) bool {
	return o == probe.DNS || o == probe.Connect || o == probe.TimeoutConnect
}

// found ends the alert: something was reached by a probe sent at a time. One from before the loss proves nothing.
func (n *ownNetwork) found(sent time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost && sent.Before(n.since) {
		return
	}
	if n.lost {
		n.log.Info("own network is back")
	}
	n.lost, n.asked = false, time.Time{}
	n.alert.end("serin reaches its endpoints again; what it saw meanwhile was counted against no endpoint")
}

// unreachable reports whether no address can be reached. Callers that come at once share one answer.
func (n *ownNetwork) unreachable(ctx context.Context, addresses map[string]bool, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.asked.IsZero() && now.Sub(n.asked).Abs() < reachAgain {
		return n.lost
	}
	was := n.lost
	n.lost = !n.reachesAny(ctx, addresses)
	n.asked = time.Now()
	if n.lost && !was {
		n.since = n.asked
		n.log.Error("own network lost: no endpoint can be reached", "endpoints", len(addresses))
		n.alert.begin(fmt.Sprintf("serin has lost its own network: none of its %d endpoints can be reached", len(addresses)),
			"every endpoint stopped at once, so it is this machine or its way out: alerts about single endpoints are held back",
			"look at this machine's link, DNS and firewall")
	}
	return n.lost
}

// reachesAny connects to all addresses at once until one answers. A refusal is an answer: a packet came back.
func (n *ownNetwork) reachesAny(ctx context.Context, addresses map[string]bool) bool {
	ctx, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	answers := make(chan bool, len(addresses))
	for addr := range addresses {
		go func() {
			conn, err := n.dial(ctx, "tcp", addr)
			if err == nil {
				err = conn.Close()
			}
			answers <- err == nil || errors.Is(err, syscall.ECONNREFUSED)
		}()
	}
	any := false
	for range addresses { // each ends with ctx at the latest
		if <-answers {
			any = true
			cancel()
		}
	}
	return any
}

// addressesOf returns what probes connect to, beyond this machine.
func addressesOf(cfg *configs.Config) map[string]bool {
	out := map[string]bool{}
	for _, t := range cfg.Targets {
		if addr, ok := dialAddress(t); ok {
			out[addr] = true
		}
	}
	return out
}

// dialAddress returns host and port that a target's probes connect to, those of its proxy where it has one. It is false on
// this machine, which needs no network.
func dialAddress(t *probe.Target) (string, bool) {
	u, err := url.Parse(t.BaseURL)
	if err != nil {
		return "", false
	}
	var via *url.URL
	switch t.Proxy {
	case "":
		via, err = http.ProxyFromEnvironment(&http.Request{URL: u})
	case "none":
	default:
		via, err = url.Parse(t.Proxy)
	}
	if err != nil {
		return "", false
	}
	if via != nil {
		u = via
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return "", false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), true
}
