package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/chart"
	"serin/baseline/store"
	"serin/probe"
)

// Bounds of charts: a picture is worth little next to its message.
const (
	chartQueue  = 16               // more that wait are dropped
	chartWithin = 30 * time.Second // for one, drawing and sending
	chartBefore = 3 * time.Hour    // shown before trouble began
	chartLeast  = 20 * time.Minute // shown in all
	chartMost   = 3 * 24 * time.Hour
)

// charts adds a picture to the thread of each opening and end, after the text and never in its way.
type charts struct {
	d     *Daemon
	queue chan alert.Notice
	said  string // the refusal that the log has already
}

func newCharts(d *Daemon) *charts { return &charts{d: d, queue: make(chan alert.Notice, chartQueue)} }

// sent takes note of a message that a channel took.
func (c *charts) sent(n alert.Notice) {
	if n.Act != alert.ActOpen && n.Act != alert.ActResolve || n.Receipt.TS == "" || len(n.Facts.Alerts) == 0 {
		return
	}
	select {
	case c.queue <- n:
	default: // far behind: the text is there
	}
}

// run draws and sends one after the other.
func (c *charts) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-c.queue:
			c.add(ctx, n)
		}
	}
}

// add draws one picture and hands it to the channel, where that wants any.
func (c *charts) add(ctx context.Context, n alert.Notice) {
	to := c.d.channels.Load().illustrator(n.Channel)
	if to == nil {
		return
	}
	_, dark := to.Pictures()
	ctx, cancel := context.WithTimeout(ctx, chartWithin)
	defer cancel()
	p, ok, err := c.plot(ctx, n)
	if err == nil && !ok {
		return
	}
	p.Dark = dark
	var png bytes.Buffer
	if err == nil {
		err = chart.PNG(&png, p)
	}
	if err == nil {
		err = to.Illustrate(ctx, n.Receipt, "serin-"+n.Incident+".png", p.Title, png.Bytes())
	}
	c.tell(ctx, n, err)
}

// tell writes a failure into the log, the same refusal once.
func (c *charts) tell(ctx context.Context, n alert.Notice, err error) {
	if err == nil {
		c.said = ""
		c.d.log.Debug("chart added", "incident", n.Incident, "channel", n.Channel)
		return
	}
	text := c.d.opt.Redact.Text(err.Error())
	e, refused := errors.AsType[*alert.SendError](err)
	if ctx.Err() == nil && refused && !e.Retryable && c.said == e.Code {
		return
	}
	if refused {
		c.said = e.Code
	}
	c.d.log.Warn("chart not added; the message is not touched by it", "incident", n.Incident, "channel", n.Channel, "error", text)
}

// illustrator returns the channel of a name where it is to show pictures, nil else.
func (s *channelSet) illustrator(name string) alert.Illustrator {
	for _, ch := range s.list {
		if i, ok := ch.(alert.Illustrator); ok && ch.Name() == name {
			if wanted, _ := i.Pictures(); wanted {
				return i
			}
		}
	}
	return nil
}

// plot gathers what the picture of a notice's leading alert shows; ok is false where nothing was measured.
func (c *charts) plot(ctx context.Context, n alert.Notice) (p chart.Plot, ok bool, err error) {
	lead := n.Facts.Alerts[0].Alert
	canary, metric := c.series(lead)
	if canary == "" {
		return p, false, nil
	}
	began, end := began(n), n.Created
	p = chart.Plot{Title: strings.ReplaceAll(canary, "/", " / ") + ": " + strings.ToUpper(string(metric)), Zone: c.zone(canary), Began: began,
		From: latest(began.Add(-chartBefore), end.Add(-chartMost)), To: end}
	if n.Act == alert.ActResolve {
		p.Ended = cmp.Or(n.Facts.Incident.Closed, end)
	}
	if p.Samples, err = c.samples(ctx, canary, metric, p.From, end); err != nil || len(p.Samples) == 0 {
		return p, false, err
	}
	if first := p.Samples[0].At.Add(-time.Minute); first.After(p.From) { // no hours in which nothing was measured
		p.From = first
		if short := end.Add(-chartLeast); short.Before(p.From) {
			p.From = short
		}
	}
	p.Bands, err = c.bands(ctx, canary, metric, p)
	return p, true, err
}

// began is when the trouble of a notice began.
func began(n alert.Notice) time.Time {
	first := n.Facts.Incident.Opened
	for _, f := range n.Facts.Alerts {
		if b := f.Alert.FirstBreach; !b.IsZero() && b.Before(first) {
			first = b
		}
	}
	return first
}

// series returns the canary and metric that stand for an alert: its own, or of a whole target its first canary; failures
// show the first metric that is judged.
func (c *charts) series(a alert.Alert) (canary string, m probe.Metric) {
	canary = a.Series
	run, there := c.d.run(canary)
	if !there {
		for _, r := range c.d.config().Runs {
			if r.Canary.Target.Name == a.Series {
				run, canary, there = r, r.Canary.Key(), true
				break
			}
		}
	}
	if !there {
		return "", ""
	}
	if m = a.Kind.Metric(); m != "" {
		return canary, m
	}
	if list := run.Canary.Scene.Metrics; len(list) > 0 {
		return canary, list[0]
	}
	return canary, probe.TTFT
}

func (c *charts) zone(canary string) *time.Location {
	if run, ok := c.d.run(canary); ok && run.Canary.Scene.Zone != nil {
		return run.Canary.Scene.Zone
	}
	return time.UTC
}

func (c *charts) samples(ctx context.Context, canary string, m probe.Metric, from, to time.Time) (list []chart.Sample, err error) {
	for s, err := range c.d.store.Samples(ctx, store.Query{Since: from, Until: to.Add(time.Second), Pattern: canary}) {
		if err != nil {
			return nil, err
		}
		v := s.Measure(m)
		switch f := s.Outcome.Family(); {
		case v.Known && s.Outcome.Success():
			list = append(list, chart.Sample{At: s.Time, Value: v.D.Seconds()})
		case f == probe.FamilyTimeout || f == probe.FamilyError || f == probe.FamilyLimit:
			list = append(list, chart.Sample{At: s.Time})
		}
	}
	slices.SortFunc(list, func(a, b chart.Sample) int { return a.At.Compare(b.At) })
	return list, nil
}

// bands returns what was normal in the plot's time. A slot lasts until the next one that is stored, at most a slot's length.
func (c *charts) bands(ctx context.Context, canary string, m probe.Metric, p chart.Plot) ([]chart.Band, error) {
	slot := c.d.config().Baseline.Slot
	all, err := c.d.store.Bands(ctx, store.BandQuery{Canary: canary, Metric: m, Since: p.From.Add(-slot), Until: p.To})
	if err != nil {
		return nil, err
	}
	var list []chart.Band
	for _, b := range all {
		if b.State != "ready" {
			continue
		}
		for n := len(list); n > 0 && !list[n-1].From.Before(latest(b.Slot, p.From)); n-- { // its threshold changed within the slot
			list = list[:n-1]
		}
		if from, to := latest(b.Slot, p.From), earliest(b.Slot.Add(slot), p.To); from.Before(to) {
			list = append(list, chart.Band{From: from, To: to, Low: b.Low, High: b.Limit, Mean: b.Mean})
		}
	}
	return list, nil
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
