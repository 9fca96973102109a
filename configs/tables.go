package configs

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/probe/secret"
)

const day = 24 * time.Hour

func (l *loader) resolveInstance() {
	s, c := l.table("instance"), &l.cfg.Instance
	*c = l.file.Instance
	if c.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			s.fail("name", "is not set and the host has no name", `give it: name = "serin-1"`)
		}
		c.Name = host
	}
}

func (l *loader) resolveStore() {
	s, c := l.table("store"), &l.cfg.Store
	*c = l.file.Store
	if strings.Contains(c.DSN, "://") {
		s.fail("dsn", "is not a path", `name the SQLite file: dsn = "/var/lib/serin/serin.db"`)
	}
	if c.DSN == "" {
		dsn, err := DefaultDSN()
		if err != nil {
			s.fail("dsn", "is not set and there is no state directory: "+err.Error(), "name the SQLite file, or set STATE_DIRECTORY")
		}
		c.DSN = dsn
	}
	if s.has("retention") && c.Retention < day {
		s.fail("retention", "is shorter than a day", `bands need 8 days: retention = "40d"`)
	}
}

func (l *loader) resolveLog() {
	s := l.table("log")
	l.cfg.Log = l.file.Log
	s.oneOf("level", l.cfg.Log.Level, "debug", "info", "warn", "error")
	s.oneOf("format", l.cfg.Log.Format, "text", "json")
}

// labelPattern is that of Prometheus; names that begin with __ are Prometheus's own.
var labelPattern = regexp.MustCompile(`^(_?[a-zA-Z][a-zA-Z0-9_]*|_)$`)

// ownLabels are the label names that serin's metrics use already.
func ownLabels() []string {
	return []string{"target", "scene", "size", "outcome", "side", "phase", "metric", "kind", "channel", "result", "reason",
		"provider", "model", "protocol", "input_bucket", "le", "version", "instance", "region", "unit", "what"}
}

func (l *loader) resolveMetrics() {
	s, m := l.table("metrics"), &l.cfg.Metrics
	*m = l.file.Metrics
	for label := range m.Labels {
		if !labelPattern.MatchString(label) || slices.Contains(ownLabels(), label) {
			s.fail("labels."+label, "cannot be a constant label", "use letters, digits and _, not __ in front, and no name that serin's metrics use themselves")
		}
	}
	rising := slices.IsSorted(m.LatencyBuckets) && len(slices.Compact(slices.Clone(m.LatencyBuckets))) == len(m.LatencyBuckets)
	if !s.wrong("latency_buckets") && (len(m.LatencyBuckets) == 0 || m.LatencyBuckets[0] <= 0 || !rising) {
		s.fail("latency_buckets", "must rise from above 0", "write edges in tokens: [500, 2000, 8000, 32000]")
	}
	for _, label := range m.HistogramLabels {
		s.oneOf("histogram_labels", label, "scene", "size")
	}
	if m.PushURL != "" {
		s.checkPush(s.httpURL("push_url", m.PushURL))
	}
	if m.ReportInterval < time.Second {
		s.fail("report_interval", "is shorter than 1s", `write "10s"`)
	}
}

func (l *loader) resolveBaseline() {
	s, b := l.table("baseline"), &l.cfg.Baseline
	*b = l.file.Baseline
	if b.Window < 3*day || b.Window > 90*day || b.Window%day != 0 {
		s.fail("window", fmt.Sprintf("%q is not a whole number of days from 3 to 90", formatDuration(b.Window)), `a band needs 3 days at least: window = "7d"`)
	} else if l.cfg.Store.Retention < b.Window+day && l.cfg.Store.Retention >= day {
		l.table("store").fail("retention", "is shorter than the baseline's window and a day", fmt.Sprintf("keep at least %q", formatDuration(b.Window+day)))
	}
	if b.Slot < time.Minute || b.Slot > day || day%b.Slot != 0 {
		s.fail("slot", fmt.Sprintf("%q does not divide the day", formatDuration(b.Slot)), `write "30m", "15m" or "1h"`)
	}
	s.oneOf("on_change", b.OnChange, "relearn", "rescale", "keep")
}

func (l *loader) resolveIncident() {
	s, c := l.table("incident"), &l.cfg.Incident
	*c = l.file.Incident
	s.notNegative("group_wait", c.GroupWait)
	s.notNegative("remind_every", c.RemindEvery)
	s.notNegative("reopen_within", c.ReopenWithin)
	s.oneOf("group_by", c.GroupBy, alert.GroupByProvider, alert.GroupByTarget)
	if c.GroupWait > time.Hour {
		s.fail("group_wait", "holds every message back for over an hour", `write "30s"`)
	}
}

func (s section) notNegative(key string, d time.Duration) {
	if d < 0 {
		s.fail(key, "is negative", `write a duration from "0s" on`)
	}
}

// checkPush makes the redactor know what a parameter of push_url holds that carries credentials; its path is no secret.
func (s section) checkPush(u *url.URL) {
	if u == nil {
		return
	}
	for name, values := range u.Query() {
		if secret.Parameter(name) {
			s.checkParts("push_url", &url.URL{RawQuery: url.Values{name: values}.Encode()})
		}
	}
}
