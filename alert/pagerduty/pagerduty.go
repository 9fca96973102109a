// Package pagerduty is the channel to PagerDuty's Events API v2: an incident triggers, is acknowledged and resolves under
// its id as dedup_key.
package pagerduty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/post"
	"serin/probe/secret"
)

// DefaultURL is where PagerDuty takes events; accounts in Europe have https://events.eu.pagerduty.com/v2/enqueue.
const DefaultURL = "https://events.pagerduty.com/v2/enqueue"

const maxSummary = 1024 // characters that PagerDuty takes

// Options are the keys of a [[channel]] of type pagerduty.
type Options struct {
	Name       string        `koanf:"-"`
	RoutingKey secret.Secret `koanf:"-"`       // routing_key_env, _file, _credential: the integration key of a service
	APIURL     string        `koanf:"api_url"` // default DefaultURL
}

// Channel sends events. It is safe for concurrent use.
type Channel struct {
	opt  Options
	post *post.Client
	now  func() time.Time
}

var (
	_ alert.Channel = (*Channel)(nil)
	_ alert.Tester  = (*Channel)(nil)
)

// New returns a channel. It makes no call. Settings change how it connects.
func New(o Options, settings ...func(*http.Transport)) (*Channel, error) {
	if o.Name == "" || o.RoutingKey.IsZero() {
		return nil, errors.New("a pagerduty channel needs a name and routing_key_env")
	}
	if o.APIURL == "" {
		o.APIURL = DefaultURL
	}
	if u, err := url.Parse(o.APIURL); err != nil || u.Host == "" {
		return nil, errors.New("pagerduty api_url is not a URL; the default is " + DefaultURL)
	}
	return &Channel{opt: o, post: post.New(settings...), now: time.Now}, nil
}

// Name returns the channel's name.
func (c *Channel) Name() string { return c.opt.Name }

// Skips reports what is no event: notes, and thread lines, but for that which says that somebody has taken the incident.
func (c *Channel) Skips(n alert.Notice) bool {
	return n.Act == alert.ActNote || n.Act == alert.ActThread && n.Facts.Incident.Acked == ""
}

// event is one request of the Events API v2.
type event struct {
	RoutingKey string   `json:"routing_key"`
	Action     string   `json:"event_action"` // trigger, acknowledge, resolve
	DedupKey   string   `json:"dedup_key"`
	Client     string   `json:"client,omitempty"`
	ClientURL  string   `json:"client_url,omitempty"`
	Payload    *payload `json:"payload,omitempty"`
	Links      []link   `json:"links,omitempty"`
}

type payload struct {
	Summary   string         `json:"summary"`
	Source    string         `json:"source"`
	Severity  string         `json:"severity"` // critical, error, warning, info
	Timestamp time.Time      `json:"timestamp,omitzero"`
	Component string         `json:"component,omitempty"` // the scene
	Group     string         `json:"group,omitempty"`     // the target
	Class     string         `json:"class,omitempty"`     // the kind
	Details   map[string]any `json:"custom_details,omitempty"`
}

type link struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

// Send sends one event. A test triggers with severity info and resolves at once. There is no receipt. Errors are
// *alert.SendError and hold no routing key.
func (c *Channel) Send(ctx context.Context, n alert.Notice, _ alert.Receipt) (alert.Receipt, error) {
	if err := c.send(ctx, eventOf(n, action(n))); err != nil {
		return alert.Receipt{}, err
	}
	if n.Act == alert.ActTest {
		return alert.Receipt{}, c.send(ctx, eventOf(n, "resolve"))
	}
	return alert.Receipt{}, nil
}

// action is what a notice asks of PagerDuty. An edit of what somebody has taken stays acknowledged; what fires again calls
// again.
func action(n alert.Notice) string {
	switch {
	case n.Act == alert.ActResolve:
		return "resolve"
	case n.Facts.Incident.Acked != "" && n.Act != alert.ActOpen && n.Act != alert.ActReopen:
		return "acknowledge"
	}
	return "trigger"
}

func (c *Channel) send(ctx context.Context, e event) error {
	key, err := c.opt.RoutingKey.Reveal()
	if err != nil {
		return &alert.SendError{Code: "no routing key", Fix: "check " + c.opt.RoutingKey.Label(), Err: err}
	}
	e.RoutingKey = key
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	_, err = c.post.Do(ctx, post.Request{URL: c.opt.APIURL, Body: body, Hide: []string{key}})
	if s, ok := errors.AsType[*alert.SendError](err); ok && s.Code == "http 400" {
		s.Fix = "check the routing key: 32 characters, of an Events API v2 integration of the service"
	}
	return err
}

// dedupKey is the incident's id; a test has one of its own.
func dedupKey(n alert.Notice) string {
	if n.Incident == "" {
		return fmt.Sprintf("serin-test-%d", n.Created.Unix())
	}
	return "serin-" + n.Incident
}

// eventOf returns the event of a notice. Only a trigger needs a payload.
func eventOf(n alert.Notice, action string) event {
	n.Message = n.Alone()
	m := n.Message
	e := event{Action: action, DedupKey: dedupKey(n)}
	if action != "trigger" {
		return e
	}
	e.Client = "serin"
	e.Payload = &payload{Summary: cut(alert.Clean(m.Headline), maxSummary), Source: "serin", Severity: string(m.Severity), Timestamp: n.Created,
		Group: cut(alert.Clean(n.Facts.Incident.Scope), 200), Details: details(n)}
	if e.Payload.Group != "" {
		e.Payload.Source = e.Payload.Group
	}
	if len(n.Facts.Alerts) > 0 {
		lead := n.Facts.Alerts[0]
		e.Payload.Component, e.Payload.Class = lead.Scene, string(lead.Alert.Kind)
	}
	if m.Link != "" {
		e.ClientURL = m.Link
		e.Links = append(e.Links, link{m.Link, "Incident"})
	}
	if m.Runbook != "" {
		e.Links = append(e.Links, link{m.Runbook, "Runbook"})
	}
	return e
}

// details are the lines of the message, in their order.
func details(n alert.Notice) map[string]any {
	d := map[string]any{"incident": n.Incident}
	var lines []string
	for _, l := range n.Message.Lines {
		lines = append(lines, cut(alert.Clean(l.Text), 1000))
	}
	if len(lines) > 0 {
		d["lines"] = lines[:min(len(lines), 60)]
	}
	if len(n.Message.Footer) > 0 {
		d["footer"] = alert.Clean(strings.Join(n.Message.Footer, " · "))
	}
	return d
}

// cut shortens text to limit characters.
func cut(text string, limit int) string {
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}

// Test triggers an incident of severity info and resolves it at once.
func (c *Channel) Test(ctx context.Context, m alert.Message) ([]alert.Finding, error) {
	if _, err := c.opt.RoutingKey.Reveal(); err != nil {
		return nil, fmt.Errorf("read %s: %w", c.opt.RoutingKey.Label(), err)
	}
	now := c.now()
	n := alert.TestNotice(c.opt.Name, m, now)
	_, err := c.Send(ctx, n, alert.Receipt{})
	return post.Findings("pagerduty", err), nil
}
