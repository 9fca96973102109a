package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"serin/alert"
	"serin/alert/alertmanager"
	"serin/alert/pagerduty"
	"serin/alert/slack"
	"serin/alert/webhook"
	"serin/configs"
)

// Channels makes the channels that cfg names, in its order.
func Channels(cfg *configs.Config) ([]alert.Channel, error) {
	var list []alert.Channel
	for _, c := range cfg.Channels {
		ch, err := channelOf(c)
		if err != nil {
			return nil, fmt.Errorf("channel %s: %w", c.Name, err)
		}
		list = append(list, ch)
	}
	return list, nil
}

// channelOf makes one channel.
func channelOf(c configs.Channel) (alert.Channel, error) {
	switch {
	case c.Slack != nil:
		return slack.New(*c.Slack)
	case c.Webhook != nil:
		return webhook.New(*c.Webhook)
	case c.Alertmanager != nil:
		return alertmanager.New(*c.Alertmanager)
	case c.PagerDuty != nil:
		return pagerduty.New(*c.PagerDuty)
	}
	return nil, fmt.Errorf("type %q has no options", c.Type)
}

// channelSet is what is in force: the channels and the routes to them. It is replaced whole.
type channelSet struct {
	list   []alert.Channel
	names  []string
	routes alert.Routes
}

func newChannelSet(cfg *configs.Config, list []alert.Channel) *channelSet {
	names := channelNames(list)
	return &channelSet{list: list, names: names, routes: alert.NewRoutes(cfg.Routes, names)}
}

// channelsFor returns the channels of an incident by the routes in force.
func (d *Daemon) channelsFor(f alert.Facts) []string { return d.channels.Load().routes.Channels(f) }

// Times of the channels that are told what fires.
const (
	refreshEvery = time.Minute
	refreshLimit = 20 * time.Second // of one round
)

// refreshStates tells the channels that forget, every minute and at the start, what fires. One goroutine a channel and
// round: one that hangs holds up no other.
func (d *Daemon) refreshStates(ctx context.Context) {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		d.refreshOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (d *Daemon) refreshOnce(ctx context.Context) {
	sinks := d.channels.Load().states()
	if len(sinks) == 0 {
		return
	}
	var firing []alert.Notice
	if !d.onEngine(ctx, func(context.Context) { firing = d.incidents.Firing(time.Now()) }) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	done := make(chan struct{})
	for _, sink := range sinks {
		go func() {
			defer func() { done <- struct{}{} }()
			d.refresh(ctx, sink, firing)
		}()
	}
	for range sinks {
		<-done
	}
}

func (d *Daemon) refresh(ctx context.Context, sink alert.StateChannel, firing []alert.Notice) {
	own := slices.DeleteFunc(slices.Clone(firing), func(n alert.Notice) bool { return n.Channel != sink.Name() })
	if err := sink.Refresh(ctx, own); err != nil && ctx.Err() == nil {
		d.log.Warn("channel not told what fires, trying again in a minute", "channel", sink.Name(), "firing", len(own), "error", d.opt.Redact.Text(err.Error()))
	}
}

// states returns the channels that want to hear regularly of all that fires.
func (s *channelSet) states() []alert.StateChannel {
	var list []alert.StateChannel
	for _, c := range s.list {
		if sink, ok := c.(alert.StateChannel); ok {
			list = append(list, sink)
		}
	}
	return list
}
