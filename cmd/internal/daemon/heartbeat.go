package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"serin/configs"
	"serin/probe"
	"serin/probe/schedule"
	"serin/probe/secret"
)

// Times of the heartbeat.
const (
	pingWithin = 10 * time.Second
	roundSlack = 90 * time.Second // beyond a probe's own time limit: waiting for room, for the engine, for a busy machine
)

// rounds knows whether every run that was due has come to its end.
type rounds struct {
	mu       sync.Mutex
	canaries map[string]*lastRun
	judged   bool // a run ended since the last completed round
}

// lastRun is the newest run of one canary that ended.
type lastRun struct {
	at    time.Time
	due   func(after time.Time) time.Time // next run; zero = never
	grace time.Duration
}

// watch makes runs those that belong to a round; new ones count from now on.
func (r *rounds) watch(runs []configs.Run, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.canaries
	r.canaries = make(map[string]*lastRun, len(runs))
	for _, run := range runs {
		c := &lastRun{at: now, due: run.Due, grace: run.Canary.Target.TotalTimeout + roundSlack}
		if was := old[run.Canary.Key()]; was != nil {
			c.at = was.at
		}
		r.canaries[run.Canary.Key()] = c
	}
}

// ended notes at now that a run of a canary ended that began at a time. Of two that hung the older may come last: it says
// nothing of the newer, unless the clock was set back since.
func (r *rounds) ended(key string, at, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.canaries[key]; c != nil {
		if at.After(c.at) || c.at.After(now) {
			c.at = at
		}
		r.judged = true
	}
}

// complete reports whether something ended since it last said yes, and no run is overdue at now.
func (r *rounds) complete(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.judged {
		return false
	}
	for _, c := range r.canaries {
		if due := c.due(c.at); !due.IsZero() && now.Sub(due) > c.grace {
			return false
		}
	}
	r.judged = false
	return true
}

// heartbeat pings a watcher after each completed round.
type heartbeat struct {
	rounds
	d      *Daemon
	kick   chan struct{}
	pinged time.Time // newest ping asked for; of the engine's goroutine
}

func newHeartbeat(d *Daemon) *heartbeat { return &heartbeat{d: d, kick: make(chan struct{}, 1)} }

// observe takes in a sample that the engine has judged. A run without room has not ended: it is what hangs.
func (h *heartbeat) observe(s *probe.Sample, now time.Time) {
	if s.Trigger != "" && s.Trigger != probe.Schedule {
		return
	}
	if s.Outcome == probe.Skipped && (s.Reason == string(schedule.SkipNoRoom) || s.Reason == string(schedule.SkipOverlap)) {
		return
	}
	h.ended(s.Key(), s.Time, now)
	conf := h.d.config().Heartbeat
	if conf.URL.IsZero() || !h.pinged.IsZero() && now.Sub(h.pinged) < conf.Every && !now.Before(h.pinged) || !h.complete(now) {
		return
	}
	h.pinged = now
	select {
	case h.kick <- struct{}{}:
	default: // the last ping is still under way
	}
}

// run sends pings until ctx ends. One that fails is counted, and logged once until one works again.
func (h *heartbeat) run(ctx context.Context) {
	client := heartbeatClient(h.d.opt.Dial)
	defer client.CloseIdleConnections()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.kick:
		}
		err := ping(ctx, client, h.d.config().Heartbeat.URL)
		if ctx.Err() != nil {
			return
		}
		result := "ok"
		if err != nil {
			result = "error"
		}
		h.d.tel.Count(1, "serin_heartbeats_total", "result", result)
		if err != nil && !failing {
			h.d.log.Warn("heartbeat not taken", "error", h.d.opt.Redact.Text(err.Error()))
		}
		failing = err != nil
	}
}

// heartbeatClient follows no redirect: with it the secret URL would go to another host as Referer.
func heartbeatClient(dial func(context.Context, string, string) (net.Conn, error)) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dial, TLSHandshakeTimeout: pingWithin, ForceAttemptHTTP2: true,
		IdleConnTimeout: 5 * time.Minute, MaxResponseHeaderBytes: 64 << 10}
	return &http.Client{Timeout: pingWithin, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// ping makes one GET. Its error does not hold the URL, which is a secret.
func ping(ctx context.Context, client *http.Client, to secret.Secret) error {
	target, err := to.Reveal()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	req.Header.Set("User-Agent", "serin/"+Version)
	resp, err := client.Do(req)
	if err != nil {
		if bare, ok := errors.AsType[*url.Error](err); ok {
			err = bare.Err
		}
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode/100 == 3 {
		return fmt.Errorf("the watcher answers HTTP %d: redirects are not followed, write the URL that it leads to", resp.StatusCode)
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("the watcher answers HTTP %d", resp.StatusCode)
	}
	return nil
}
