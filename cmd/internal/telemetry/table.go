package telemetry

// metric is one metric family of /metrics.
type metric struct {
	Name   string
	Type   string // counter, gauge, histogram
	Labels string // names, separated by spaces; the config's constant labels come on top
	Help   string
}

// metricTable lists every metric of serin in the order of /metrics. HELP and TYPE come from here and nowhere else; a
// series whose family is missing here is a defect that a test finds.
func metricTable() []metric {
	return []metric{
		{"serin_build_info", "gauge", "version commit go_version", "Version, commit and Go version of this serin; always 1."},
		{"serin_instance_info", "gauge", "instance region", "Name and region of this serin; always 1."},
		{"serin_target_info", "gauge", "target provider model protocol", "Provider, model and protocol of each target; always 1."},
		{"serin_probes_total", "counter", "target scene size outcome side", "Probes by outcome and side, re-probes included."},
		{"serin_probe_timeouts_total", "counter", "target scene size phase", "Probes that ended in a timeout, by phase; never counted as errors."},
		{"serin_probe_errors_total", "counter", "target scene size outcome", "Probes of the error family by outcome; timeouts are never in here."},
		{"serin_probes_skipped_total", "counter", "target scene size reason", "Runs that were due and not sent, by reason."},
		{"serin_probes_in_flight", "gauge", "", "Probes under way now."},
		{"serin_schedule_lag_seconds", "histogram", "", "How much later than its scheduled instant a probe was sent."},
		{"serin_ttft_seconds", "histogram", "target input_bucket", "Time to first token of successful regular probes."},
		{"serin_ttfa_seconds", "histogram", "target input_bucket", "Time to first visible answer token of successful regular probes."},
		{"serin_tpot_seconds", "histogram", "target input_bucket", "Time per output token after the first, of successful regular probes."},
		{"serin_e2e_seconds", "histogram", "target input_bucket", "Time to last token of successful regular probes."},
		{"serin_last_seconds", "gauge", "target scene size metric", "Newest measured value by metric, of successful regular probes."},
		{"serin_last_success_timestamp_seconds", "gauge", "target scene size", "When the newest successful regular probe was sent, Unix time."},
		{"serin_input_tokens_total", "counter", "target scene size", "Input tokens that endpoints reported, cached ones included."},
		{"serin_output_tokens_total", "counter", "target scene size", "Output tokens that endpoints reported, reasoning included."},
		{"serin_cost_usd_total", "counter", "target scene size", "Cost of probes whose price and usage are known, US dollars."},
		{"serin_budget_used_ratio", "gauge", "target unit", "Share of the day's budget that a target has used, probes under way at their output cap."},
		{"serin_changes_total", "counter", "target scene size what", "Changes seen in an endpoint's answers, by what changed; each at most once an hour and canary."},
		{"serin_checks_total", "counter", "target scene size result", "Answer checks by result (pass, fail)."},
		{"serin_baseline_mean_seconds", "gauge", "target scene size metric", "Usual value of this slot, today's offset included."},
		{"serin_baseline_stddev_seconds", "gauge", "target scene size metric", "Half the distance from the usual value to the limit."},
		{"serin_baseline_limit_seconds", "gauge", "target scene size metric", "Value above which a check counts as slow."},
		{"serin_baseline_samples", "gauge", "target scene size metric", "Samples in the band of this slot."},
		{"serin_alert_state", "gauge", "target scene size kind", "0 ok, 1 pending, 2 firing or recovering, 3 learning, 4 no data, 5 muted."},
		{"serin_incidents_open", "gauge", "", "Incidents that are open now."},
		{"serin_silences_active", "gauge", "", "Silences that are in force now."},
		{"serin_maintenance_active", "gauge", "", "Maintenance windows that run now."},
		{"serin_notices_total", "counter", "channel result", "Messages to channels by result."},
		{"serin_outbox_pending", "gauge", "", "Messages decided and not yet taken by their channel."},
		{"serin_outbox_oldest_seconds", "gauge", "", "Age of the oldest message that waits; 0 when none does."},
		{"serin_store_bytes", "gauge", "", "Size of the store on disk, write-ahead log included."},
		{"serin_store_errors_total", "counter", "", "Failed writes to the store; what they held is kept and written later."},
		{"serin_config_last_reload_successful", "gauge", "", "1 when the newest reload, or the start, took the config."},
		{"serin_config_last_reload_success_timestamp_seconds", "gauge", "", "When a config was last taken, Unix time."},
		{"serin_rtt_seconds", "gauge", "target", "Round trip of the newest TCP handshake with the endpoint; none over a proxy."},
		{"serin_certificate_expiry_timestamp_seconds", "gauge", "target", "When the endpoint's certificate ends, Unix time, to the day."},
		{"serin_self_delay_seconds", "histogram", "stamp", "The longest own delay in each stream; with kernel stamps it is in no figure."},
		{"serin_self_suspect_samples_total", "counter", "", "Samples that serin's own delay may have spoiled (client_suspect)."},
		{"serin_self_suspect_ratio", "gauge", "", "Their share of the last hour's samples."},
		{"serin_heartbeats_total", "counter", "result", "Pings to [heartbeat] after completed rounds of probes, by result."},
		{"serin_metrics_pushes_total", "counter", "result", "Pushes to push_url by result."},
	}
}

// latencyBuckets are the le bounds of ttft, ttfa and e2e: from a local server's 5 ms to a reasoning model's minutes.
func latencyBuckets() []float64 {
	return []float64{.005, .01, .025, .05, .1, .2, .35, .5, .75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300}
}

// tpotBuckets are the le bounds of tpot.
func tpotBuckets() []float64 {
	return []float64{.001, .0025, .005, .0075, .01, .015, .02, .03, .04, .05, .075, .1, .15, .2, .3, .5, 1}
}

// lagBuckets are the le bounds of serin_schedule_lag_seconds.
func lagBuckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// selfBuckets are the le bounds of serin_self_delay_seconds, in seconds.
func selfBuckets() []float64 {
	return []float64{.00002, .00005, .0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .5, 1}
}
