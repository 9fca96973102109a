package app

import (
	"runtime"
	"time"

	"serin/alert"
)

// wireGauges gives telemetry everything that is read at the scrape.
func (d *daemon) wireGauges() {
	d.tel.gauge(d.infoGauges)
	d.tel.gauge(d.lastGauges)
	d.tel.gauge(d.judgeGauges)
	d.tel.gauge(d.deliveryGauges)
	d.tel.gauge(d.storeGauges)
	d.tel.gauge(d.selfGauges)
	d.tel.gauge(d.pathGauges)
	d.tel.gauge(d.budgetGauges)
	d.tel.gauge(d.dayGauges)
}

func (d *daemon) put(g *gaugeLines, v float64, name string, labels ...label) {
	g.add(v, name, d.tel.labels(labels...)...)
}

func (d *daemon) infoGauges(g *gaugeLines) {
	cfg := d.config()
	d.put(g, 1, "serin_build_info", label{"version", Version}, label{"commit", commit()}, label{"go_version", runtime.Version()})
	d.put(g, 1, "serin_instance_info", label{"instance", cfg.Instance.Name}, label{"region", cfg.Instance.Region})
	for _, t := range cfg.Targets {
		d.put(g, 1, "serin_target_info", label{"target", t.Name}, label{"provider", t.Provider}, label{"model", t.Model}, label{"protocol", t.Protocol})
	}
	d.put(g, asNumber(d.reloadOK.Load()), "serin_config_last_reload_successful")
	d.put(g, float64(d.reloadedAt.Load()), "serin_config_last_reload_success_timestamp_seconds")
	d.put(g, float64(d.runner.InFlight()), "serin_probes_in_flight")
}

func (d *daemon) lastGauges(g *gaugeLines) {
	for _, v := range d.last.all() {
		if v.at.IsZero() { // never a success
			continue
		}
		id := canaryLabels(v.target, v.scene, v.size)
		d.put(g, float64(v.at.UnixMilli())/1000, "serin_last_success_timestamp_seconds", id...)
		for m, x := range v.values {
			d.put(g, x, "serin_last_seconds", append(id[:3:3], label{"metric", string(m)})...)
		}
	}
}

// judgeGauges writes bands and alert states, for every canary and kind from the first scrape on.
func (d *daemon) judgeGauges(g *gaugeLines) {
	st := d.engine.Status()
	open := 0
	for _, in := range st.Incidents {
		if in.State == "open" {
			open++
		}
	}
	d.put(g, float64(open), "serin_incidents_open")
	active := 0
	for _, s := range st.Silences {
		if s.State(st.At) == "active" {
			active++
		}
	}
	d.put(g, float64(active), "serin_silences_active")
	d.put(g, float64(len(st.Windows)), "serin_maintenance_active")
	for _, c := range st.Canaries {
		d.canaryGauges(g, c)
	}
}

func (d *daemon) canaryGauges(g *gaugeLines, c alert.CanaryStatus) {
	id := canaryLabels(c.Target, c.Scene, string(c.Size))
	for kind, number := range c.States {
		d.put(g, float64(number), "serin_alert_state", append(id[:3:3], label{"kind", string(kind)})...)
	}
	for metric, b := range c.Bands {
		with := append(id[:3:3], label{"metric", string(metric)})
		d.put(g, float64(b.N), "serin_baseline_samples", with...)
		if b.State != "ready" {
			continue
		}
		d.put(g, b.Mean, "serin_baseline_mean_seconds", with...)
		d.put(g, b.SD, "serin_baseline_stddev_seconds", with...)
		d.put(g, b.Limit, "serin_baseline_limit_seconds", with...)
	}
}

func (d *daemon) deliveryGauges(g *gaugeLines) {
	n, oldest := d.outbox.Pending()
	age := 0.0
	if !oldest.IsZero() {
		age = time.Since(oldest).Seconds()
	}
	d.put(g, float64(n), "serin_outbox_pending")
	d.put(g, age, "serin_outbox_oldest_seconds")
}

func (d *daemon) storeGauges(g *gaugeLines) {
	d.put(g, float64(d.store.Size()), "serin_store_bytes")
	d.put(g, float64(d.store.Errors()), "serin_store_errors_total")
}

func asNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
