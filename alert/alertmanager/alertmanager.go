// Package alertmanager is the channel to Prometheus' Alertmanager (API v2), a sink of state: every peer wants each minute
// what fires, or it resolves the alert by itself.
package alertmanager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"serin/alert"
	"serin/alert/post"
	"serin/probe/secret"
)

// Lasts is how long Alertmanager keeps an alert firing that is not sent again: four rounds of Refresh.
const Lasts = 4 * time.Minute

// endedFor is how long the end of an alert is sent again, for a peer that was away.
const endedFor = 15 * time.Minute

// Options are the keys of a [[channel]] of type alertmanager.
type Options struct {
	Name   string            `koanf:"-"`
	URLs   []string          `koanf:"urls"`   // every peer: https://host:9093, with a path prefix where there is one
	Labels map[string]string `koanf:"labels"` // added to every alert
	Token  secret.Secret     `koanf:"-"`      // token_env, _file, _credential: sent as Bearer; may be zero
}

// Channel posts alerts to Alertmanager. It is safe for concurrent use.
type Channel struct {
	opt  Options
	post *post.Client
	now  func() time.Time

	mu    sync.Mutex
	known map[string]entry // by alert: what was sent last
}

// entry is one alert as it was sent.
type entry struct {
	incident string
	body     payload
	ended    time.Time // zero = firing
	alone    bool      // no incident of the engine stands behind it: only its notices say when it ends
}

var (
	_ alert.StateChannel = (*Channel)(nil)
	_ alert.Tester       = (*Channel)(nil)
)

// New returns a channel. It makes no call. Settings change how it connects.
func New(o Options, settings ...func(*http.Transport)) (*Channel, error) {
	if o.Name == "" || len(o.URLs) == 0 {
		return nil, errors.New("an alertmanager channel needs a name and urls, one for each peer")
	}
	for _, raw := range o.URLs {
		if u, err := url.Parse(raw); err != nil || u.Host == "" {
			return nil, fmt.Errorf("%q is not the URL of an Alertmanager", raw)
		}
	}
	return &Channel{opt: o, post: post.New(settings...), now: time.Now, known: map[string]entry{}}, nil
}

// Name returns the channel's name.
func (c *Channel) Name() string { return c.opt.Name }

// Skips reports what is not state: thread lines and notes.
func (c *Channel) Skips(n alert.Notice) bool {
	return n.Act == alert.ActThread || n.Act == alert.ActNote
}

// Send posts to every peer at once what a notice changes; Refresh goes on from there. One peer that accepts it is enough: the
// others get it by Refresh. There is no receipt.
func (c *Channel) Send(ctx context.Context, n alert.Notice, _ alert.Receipt) (alert.Receipt, error) {
	now := c.now()
	if n.Act == alert.ActTest {
		accepted, err := c.send(ctx, []payload{testAlert(n, c.opt, now)})
		return alert.Receipt{}, unlessAccepted(accepted, err)
	}
	c.mu.Lock()
	list := c.record([]alert.Notice{n}, now)
	c.mu.Unlock()
	accepted, err := c.send(ctx, list)
	return alert.Receipt{}, unlessAccepted(accepted, err)
}

// Refresh posts to every peer all that fires, and what ended lately. The error names each peer that refused it.
func (c *Channel) Refresh(ctx context.Context, firing []alert.Notice) error {
	now := c.now()
	c.mu.Lock()
	list := c.round(firing, now)
	c.mu.Unlock()
	_, err := c.send(ctx, list)
	return err
}

// round makes what fires the state and returns all that the peers must get; the caller holds mu.
func (c *Channel) round(firing []alert.Notice, now time.Time) []payload {
	open := map[string]bool{}
	fresh := firing[:0:0]
	for _, n := range firing {
		open[n.Incident] = true
		if !c.over(n.Incident) { // an end that Send posted meanwhile is newer than this list
			fresh = append(fresh, n)
		}
	}
	c.record(fresh, now)
	var list []payload
	for key, e := range c.known {
		switch {
		case e.ended.IsZero() && !e.alone && !open[e.incident]:
			e.ended = now
		case !e.ended.IsZero() && now.Sub(e.ended) > endedFor:
			delete(c.known, key)
			continue
		}
		c.known[key] = e
		list = append(list, e.at(now))
	}
	return list
}

// over reports whether the end of an incident was sent; the caller holds mu.
func (c *Channel) over(incident string) bool {
	ended := false
	for _, e := range c.known {
		if e.incident != incident {
			continue
		}
		if e.ended.IsZero() {
			return false
		}
		ended = true
	}
	return ended
}

// record makes notices the state, and returns the alerts that they are about, ended ones too; the caller holds mu.
func (c *Channel) record(notices []alert.Notice, now time.Time) []payload {
	var list []payload
	for _, n := range notices {
		next := alertsOf(n, c.opt)
		for key, e := range c.known {
			_, stays := next[key]
			if e.incident != n.Incident || n.Act != alert.ActResolve && (stays || n.Facts.More > 0) { // what was left out fires as far as we know
				continue
			}
			if e.ended.IsZero() {
				e.ended = now
				c.known[key] = e
			}
			list = append(list, e.at(now))
		}
		for key, p := range next {
			e := entry{incident: n.Incident, body: p, alone: n.Facts.Incident.ID == ""}
			if n.Act == alert.ActResolve {
				if _, known := c.known[key]; known {
					continue // listed above as ended
				}
				e.ended = now
			}
			c.known[key] = e
			list = append(list, e.at(now))
		}
	}
	return list
}

// at returns the alert as it is sent at a time.
func (e entry) at(now time.Time) payload {
	p := e.body
	p.EndsAt = now.Add(Lasts)
	if !e.ended.IsZero() {
		p.EndsAt = e.ended
	}
	if p.StartsAt.IsZero() || p.StartsAt.After(p.EndsAt) {
		p.StartsAt = p.EndsAt
		if e.ended.IsZero() {
			p.StartsAt = now
		}
	}
	return p
}

// send posts to all peers at once and returns how many accepted it, and an error that names each that did not.
func (c *Channel) send(ctx context.Context, list []payload) (accepted int, err error) {
	if len(list) == 0 {
		return len(c.opt.URLs), nil
	}
	body, err := json.Marshal(list)
	if err != nil {
		return 0, fmt.Errorf("encode alerts: %w", err)
	}
	token, err := c.opt.Token.Reveal()
	if err != nil {
		return 0, &alert.SendError{Code: "no token", Fix: "check " + c.opt.Token.Label(), Err: err}
	}
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	errs := make([]error, len(c.opt.URLs))
	var calls sync.WaitGroup
	for i, peer := range c.opt.URLs {
		calls.Go(func() {
			_, e := c.post.Do(ctx, post.Request{URL: endpoint(peer), Header: header, Body: body, Hide: []string{token}})
			errs[i] = at(peer, e)
		})
	}
	calls.Wait()
	for _, e := range errs {
		if e == nil {
			accepted++
		}
	}
	return accepted, errors.Join(errs...)
}

// endpoint is where a peer takes alerts.
func endpoint(peer string) string {
	peer = strings.TrimRight(peer, "/")
	if strings.HasSuffix(peer, "/api/v2/alerts") {
		return peer
	}
	return strings.TrimSuffix(peer, "/api/v2") + "/api/v2/alerts"
}

// at names the peer in an error, without user and password.
func at(peer string, err error) error {
	e, ok := errors.AsType[*alert.SendError](err)
	if !ok {
		return err
	}
	host := "peer"
	if u, err := url.Parse(peer); err == nil {
		host = u.Host
	}
	named := *e
	named.Code = host + " " + e.Code
	return &named
}

// unlessAccepted is the first peer's error where none accepted it: retryable as soon as one of them may recover.
func unlessAccepted(accepted int, err error) error {
	if accepted > 0 || err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var first error
	for _, e := range joined.Unwrap() {
		s, ok := errors.AsType[*alert.SendError](e)
		if first == nil || ok && s.Retryable {
			first = e
		}
		if ok && s.Retryable {
			break
		}
	}
	return first
}

// Test sends an alert named SerinTest that ends by itself after a minute, to each peer.
func (c *Channel) Test(ctx context.Context, m alert.Message) ([]alert.Finding, error) {
	if _, err := c.opt.Token.Reveal(); err != nil {
		return nil, fmt.Errorf("read %s: %w", c.opt.Token.Label(), err)
	}
	now := c.now()
	n := alert.TestNotice(c.opt.Name, m, now)
	var found []alert.Finding
	for _, peer := range c.opt.URLs {
		one := &Channel{opt: c.opt, post: c.post}
		one.opt.URLs = []string{peer}
		_, err := one.send(ctx, []payload{testAlert(n, c.opt, now)})
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			err = joined.Unwrap()[0]
		}
		host := peer
		if u, e := url.Parse(peer); e == nil {
			host = u.Host
		}
		found = append(found, post.Findings("alertmanager at "+host, err)...)
	}
	return found, nil
}
