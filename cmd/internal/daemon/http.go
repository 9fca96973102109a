package daemon

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/incident"
	"serin/alert/message"
	"serin/cmd/internal/telemetry"
	"serin/cmd/internal/web"
	"serin/probe"
)

// httpSide is the daemon's HTTP servers, if it has any.
type httpSide struct {
	server *web.Server
	stopIt context.CancelFunc
	ended  chan error
}

// startHTTP opens the listeners and serves on them.
func (d *Daemon) startHTTP(ctx context.Context) (*httpSide, error) {
	if !d.opt.HTTP {
		return &httpSide{}, nil
	}
	conf := d.config().HTTP
	s := web.New(web.Options{Listen: conf.Listen, MetricsListen: conf.MetricsListen, Socket: d.opt.Socket, Token: conf.Token, Tokens: api{d}.tokens(),
		AllowPublic: conf.AllowPublic, ExternalURL: conf.ExternalURL, Metrics: api{d}.writeMetrics, Alive: api{d}.alive, Ready: api{d}.isReady,
		Reload: reloader{d}.reload, Status: api{d}.status, Order: admin{d}.adminCommand, Measurements: webStore{d}, Alerts: webStore{d}, Timeline: webStore{d}, Writer: markWriter{d}, Redact: d.opt.Redact.Text, Log: d.log})
	if err := s.Listen(ctx); err != nil {
		return nil, &StartError{err}
	}
	d.log.Info("listening", "address", addrText(s.Addr()), "socket", d.opt.Socket)
	serving, stop := context.WithCancel(ctx)
	h := &httpSide{server: s, stopIt: stop, ended: make(chan error, 1)}
	go func() { h.ended <- s.Run(serving) }()
	return h, nil
}

func addrText(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}

// addr returns where the API listens; nil without HTTP.
func (h *httpSide) addr() net.Addr {
	if h.server == nil {
		return nil
	}
	return h.server.Addr()
}

// wait returns when ctx ends (nil) or the servers do.
func (h *httpSide) wait(ctx context.Context) error {
	if h.server == nil {
		<-ctx.Done()
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-h.ended:
		h.ended <- nil
		return fmt.Errorf("serve HTTP: %w", err)
	}
}

// stop ends the servers in order.
func (h *httpSide) stop() error {
	if h.server == nil {
		return nil
	}
	h.stopIt()
	return <-h.ended
}

// api is what the HTTP side asks of the daemon.
type api struct{ *Daemon }

func (d api) writeMetrics(w io.Writer) {
	if err := d.tel.Write(w); err != nil {
		d.log.Error("write metrics", "error", err)
	}
}

// alive says whether the scheduler turns.
func (d api) alive() error {
	turned := d.runner.Turned()
	if turned.IsZero() {
		turned = d.started
	}
	if time.Since(turned) > aliveWithin {
		return fmt.Errorf("the scheduler has not turned since %s", turned.UTC().Format(time.RFC3339))
	}
	return nil
}

func (d api) isReady() error {
	if !d.ready.Load() {
		return fmt.Errorf("starting or stopping")
	}
	if ok, err := d.store.Healthy(); !ok {
		return fmt.Errorf("the store cannot be written: %w", err)
	}
	return nil
}

// status is what /api/v1/status shows.
func (d api) status(context.Context) (web.Status, error) {
	cfg := d.config()
	st := web.Status{Version: Version, Commit: Revision(), Instance: cfg.Instance.Name, Region: cfg.Instance.Region, Started: d.started,
		Config: web.ConfigStatus{Revision: cfg.Revision, Loaded: time.Unix(d.reloadedAt.Load(), 0).UTC(), ReloadOK: d.reloadOK.Load()},
		Store:  web.StoreStatus{Bytes: d.store.Size()}}
	for _, w := range cfg.Warnings {
		st.Config.Warnings = append(st.Config.Warnings, w.String())
	}
	if err := d.isReady(); err != nil {
		st.Why = err.Error()
	}
	st.Ready = st.Why == ""
	ok, err := d.store.Healthy()
	st.Store.OK = ok
	if err != nil {
		st.Store.Error = err.Error()
	}
	n, oldest := d.outbox.Pending()
	st.Outbox.Pending = n
	if !oldest.IsZero() {
		st.Outbox.OldestSeconds = time.Since(oldest).Seconds()
	}
	now, seen := time.Now(), d.incidents.Status()
	for _, s := range seen.Silences {
		st.Silences = append(st.Silences, web.Silenced{Silence: s, State: s.State(now)})
	}
	for _, w := range seen.Windows {
		st.Windows = append(st.Windows, web.Window{Name: w.Maintenance, Until: w.Until, Cap: w.Cap})
	}
	st.Canaries = d.canaryStatus(seen)
	return st, nil
}

// mutes says by what the firing alerts of each series are muted.
func (d api) mutes(seen incident.Status, firing []alert.Alert) map[string]map[alert.Kind]string {
	list := map[string]map[alert.Kind]string{}
	for _, a := range firing {
		m, muted := seen.Mutes[a.ID]
		if !muted {
			continue
		}
		if list[a.Series] == nil {
			list[a.Series] = map[alert.Kind]string{}
		}
		_, scene, _ := strings.Cut(a.Series, "/")
		scene, _, _ = strings.Cut(scene, "/")
		list[a.Series][a.Kind] = message.MuteText(m, seen.At, d.config().SceneZone(scene))
	}
	return list
}

func (d api) canaryStatus(seen incident.Status) []web.CanaryStatus {
	last := map[string]telemetry.Values{}
	for _, v := range d.last.All() {
		last[v.Key()] = v
	}
	_, canaries, firing := d.engine.Status()
	muted := d.mutes(seen, firing)
	states := map[string]map[alert.Kind]alert.State{}
	for _, c := range canaries {
		states[c.Key()] = c.States
	}
	out := make([]web.CanaryStatus, 0, len(d.config().Runs))
	for _, r := range d.config().Runs {
		key := r.Canary.Key()
		c := web.CanaryStatus{Canary: key, Schedule: r.Cron, Next: d.runner.Next(key), Alerts: states[key], Muted: muted[key]}
		if v, ok := last[key]; ok {
			c.Last, c.LastOutcome, c.LastMS = v.At, v.Outcome, map[probe.Metric]float64{}
			for m, x := range v.Values {
				c.LastMS[m] = x * 1000
			}
		}
		out = append(out, c)
	}
	return out
}
