package daemon

import (
	"runtime"
	"time"

	"serin/alert"
	"serin/cmd/internal/telemetry"
)

// gauges are what the daemon writes at a scrape.
type gauges struct{ *Daemon }

// wireGauges gives telemetry everything that is read at the scrape.
func (d gauges) wireGauges() {
	d.tel.Gauge(d.infoGauges)
	d.tel.Gauge(d.last.Gauges)
	d.tel.Gauge(d.judgeGauges)
	d.tel.Gauge(d.deliveryGauges)
	d.tel.Gauge(d.storeGauges)
	d.tel.Gauge(d.selfGauges)
	d.tel.Gauge(func(g *telemetry.Gauges) { d.paths.Gauges(g, d.config().Targets) })
	d.tel.Gauge(d.budgetGauges)
}

func (d gauges) infoGauges(g *telemetry.Gauges) {
	cfg := d.config()
	g.Add(1, "serin_build_info", "version", Version, "commit", Revision(), "go_version", runtime.Version())
	g.Add(1, "serin_instance_info", "instance", cfg.Instance.Name, "region", cfg.Instance.Region)
	for _, t := range cfg.Targets {
		g.Add(1, "serin_target_info", "target", t.Name, "provider", t.Provider, "model", t.Model, "protocol", t.Protocol)
	}
	g.Add(asNumber(d.reloadOK.Load()), "serin_config_last_reload_successful")
	g.Add(float64(d.reloadedAt.Load()), "serin_config_last_reload_success_timestamp_seconds")
	g.Add(float64(d.runner.InFlight()), "serin_probes_in_flight")
}

// judgeGauges writes bands and alert states, for every canary and kind from the first scrape on.
func (d gauges) judgeGauges(g *telemetry.Gauges) {
	_, canaries, firing := d.engine.Status()
	st := d.incidents.Status()
	open := 0
	for _, in := range st.Incidents {
		if in.State == alert.IncidentOpen {
			open++
		}
	}
	g.Add(float64(open), "serin_incidents_open")
	active := 0
	for _, s := range st.Silences {
		if s.State(st.At) == "active" {
			active++
		}
	}
	g.Add(float64(active), "serin_silences_active")
	g.Add(float64(len(st.Windows)), "serin_maintenance_active")
	held := map[string]bool{} // series and kinds that fire and are muted or inhibited
	for _, a := range firing {
		held[a.Series+" "+string(a.Kind)] = st.Mutes[a.ID].IsFull() || st.Inhibited[a.ID] != ""
	}
	for _, c := range canaries {
		d.canaryGauges(g, c, held)
	}
}

// The numbers of serin_alert_state.
const (
	stateOK       = 0
	statePending  = 1
	stateFiring   = 2 // or recovering
	stateLearning = 3
	stateNoData   = 4 // the canary has no data: what its other kinds say is old
	stateMuted    = 5 // it fires, and nothing is sent
)

// stateNumber is the state of one kind of a canary as a number.
func stateNumber(c alert.CanaryStatus, k alert.Kind, muted bool) float64 {
	switch s := c.States[k]; {
	case s.IsFiring() && muted:
		return stateMuted
	case s.IsFiring():
		return stateFiring
	case k != alert.KindNoData && c.States[alert.KindNoData].IsFiring():
		return stateNoData
	case s == alert.StatePending:
		return statePending
	case s == alert.StateLearning:
		return stateLearning
	}
	return stateOK
}

func (d gauges) canaryGauges(g *telemetry.Gauges, c alert.CanaryStatus, held map[string]bool) {
	id := telemetry.CanaryLabels(c.Target.Name, c.Scene.Name, string(c.Size))
	for kind := range c.States {
		g.Add(stateNumber(c, kind, held[c.Key()+" "+string(kind)]), "serin_alert_state", append(id[:6:6], "kind", string(kind))...)
	}
	for metric, b := range c.Bands {
		with := append(id[:6:6], "metric", string(metric))
		g.Add(float64(b.N), "serin_baseline_samples", with...)
		if b.State != "ready" {
			continue
		}
		g.Add(b.Mean, "serin_baseline_mean_seconds", with...)
		g.Add(b.SD, "serin_baseline_stddev_seconds", with...)
		g.Add(b.Limit, "serin_baseline_limit_seconds", with...)
	}
}

func (d gauges) deliveryGauges(g *telemetry.Gauges) {
	n, oldest := d.outbox.Pending()
	age := 0.0
	if !oldest.IsZero() {
		age = time.Since(oldest).Seconds()
	}
	g.Add(float64(n), "serin_outbox_pending")
	g.Add(age, "serin_outbox_oldest_seconds")
}

func (d gauges) storeGauges(g *telemetry.Gauges) {
	g.Add(float64(d.store.Size()), "serin_store_bytes")
	g.Add(float64(d.store.Errors()), "serin_store_errors_total")
}

func asNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
