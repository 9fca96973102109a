package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"serin/alert"
	"serin/alert/message"
	"serin/baseline/store"
	"serin/configs"
)

const (
	digestKey  = "digest/until"     // where the store keeps up to when the last digest told
	digestPoll = time.Minute        // how soon after its time a digest is made
	digestMost = 7 * 24 * time.Hour // that one digest looks back, after a long rest
)

// digest tells once a day non-paging findings.
type digest struct {
	d     *Daemon
	until time.Time // up to when the last one told
}

// restoreDigest finds up to when the last digest told; the first begins with the daemon.
func restoreDigest(d *Daemon, blobs []alert.Blob) (*digest, error) {
	g := &digest{d: d, until: d.started}
	for _, b := range blobs {
		if b.Key != digestKey {
			continue
		}
		if err := json.Unmarshal(b.Body, &g.until); err != nil {
			return nil, fmt.Errorf("read when the last digest was: %w", err)
		}
		return g, nil
	}
	g.keep(alert.Change{})
	return g, nil
}

// run makes each digest when its time has come.
func (g *digest) run(ctx context.Context) {
	tick := time.NewTicker(digestPoll)
	defer tick.Stop()
	for {
		if err := g.turn(ctx, time.Now()); err != nil && ctx.Err() == nil {
			g.d.log.Error("make the digest, trying again in a minute", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// turn tells what happened up to the newest time of a digest, where that was not told yet.
func (g *digest) turn(ctx context.Context, now time.Time) error {
	cfg := g.d.config().Digest
	to := digestTime(cfg, now)
	if !to.After(g.until) {
		if g.until.After(now) { // the clock was set back
			g.until = now
		}
		return nil
	}
	c := alert.Change{}
	if len(cfg.Channels) > 0 {
		notices, err := g.notices(ctx, cfg, to)
		if err != nil {
			return err
		}
		c.Notices = notices
	}
	g.until = to
	g.keep(c)
	return nil
}

// digestTime returns the newest time of a digest that is not after now.
func digestTime(cfg configs.Digest, now time.Time) time.Time {
	at := func(days int) time.Time {
		y, m, d := now.In(cfg.Zone).AddDate(0, 0, days).Date()
		return time.Date(y, m, d, int(cfg.At/time.Hour), int(cfg.At%time.Hour/time.Minute), 0, 0, cfg.Zone)
	}
	if today := at(0); !today.After(now) {
		return today
	}
	return at(-1)
}

// notices makes the messages of one digest, none where nothing happened.
func (g *digest) notices(ctx context.Context, cfg configs.Digest, to time.Time) ([]alert.Notice, error) {
	from := latest(g.until, to.Add(-digestMost))
	rows, err := g.d.store.Transitions(ctx, store.TransitionQuery{Since: from, Until: to})
	if err != nil {
		return nil, err
	}
	alerts, err := g.d.store.Alerts(ctx, store.AlertQuery{Since: from})
	if err != nil {
		return nil, err
	}
	alerts = slices.DeleteFunc(alerts, func(a alert.Alert) bool { return a.Fired.Before(from) || !a.Fired.Before(to) })
	conf := g.d.config()
	m, ok := message.ComposeDigest(message.DigestStory{From: from, To: to, Zone: cfg.Zone, Transitions: rows, Alerts: alerts, Instance: conf.Instance.Name, Region: conf.Instance.Region})
	if !ok {
		return nil, nil
	}
	m.Incident = "digest-" + to.In(cfg.Zone).Format("2006-01-02-1504")
	var list []alert.Notice
	for _, ch := range cfg.Channels {
		list = append(list, alert.Notice{Incident: m.Incident, Channel: ch, Revision: 1, Act: alert.ActNote, Message: m, State: alert.NoticePending, Created: time.Now()})
	}
	return list, nil
}

// keep stores how far was told together with what is owed for it.
func (g *digest) keep(c alert.Change) {
	body, err := json.Marshal(g.until)
	if err != nil {
		g.d.log.Error("write when the last digest was", "error", err)
		return
	}
	c.Blobs = append(c.Blobs, alert.Blob{Key: digestKey, Body: body})
	g.d.owe(c)
}
