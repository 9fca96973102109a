package configs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline"
)

// resolveTables reads the tables that come once.
func (l *loader) resolveTables() {
	l.resolveInstance()
	l.resolveStore()
	l.resolveHTTP()
	l.resolveLog()
	l.resolveMetrics()
	l.resolveBaseline()
	l.resolveIncident()
	l.resolveBudget()
	l.resolveHeartbeat()
	l.resolveSlack()
	l.resolveChannels()
	l.resolveDigest()
}

func (l *loader) resolveInstance() {
	s := l.single("instance")
	l.decode(layers{s}, &l.cfg.Instance)
	if l.cfg.Instance.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			l.rep.fail(s.at("name"), s.key("name"), "is not set and the host has no name", `give it: name = "serin-1"`)
		}
		l.cfg.Instance.Name = host
	}
}

func (l *loader) resolveStore() {
	s := l.single("store")
	l.cfg.Store = defaultStore()
	l.decode(layers{s}, &l.cfg.Store)
	c := &l.cfg.Store
	if strings.Contains(c.DSN, "://") {
		l.rep.fail(s.at("dsn"), s.key("dsn"), "is not a path", `name the SQLite file: dsn = "/var/lib/serin/serin.db"`)
	}
	if c.DSN == "" {
		dsn, err := DefaultDSN()
		if err != nil {
			l.rep.fail(s.at("dsn"), s.key("dsn"), "is not set and there is no state directory: "+err.Error(), "name the SQLite file, or set STATE_DIRECTORY")
		}
		c.DSN = dsn
	}
	if s.has("retention") && c.Retention < 24*time.Hour {
		l.rep.fail(s.at("retention"), s.key("retention"), "is shorter than a day", `bands need 8 days: retention = "40d"`)
	}
}

// oneOf checks a value against a closed list.
func (l *loader) oneOf(from layers, key, value string, list ...string) {
	if slices.Contains(list, value) {
		return
	}
	at, name := from.at(key)
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	fix := "use one of: " + strings.Join(list, ", ")
	if n, ok := nearest(value, list); ok {
		fix = fmt.Sprintf("did you mean %q? (one of: %s)", n, strings.Join(list, ", "))
	}
	l.rep.fail(at, name, fmt.Sprintf("%q is unknown", value), fix)
}

func (l *loader) resolveLog() {
	s := l.single("log")
	l.cfg.Log = defaultLog()
	l.decode(layers{s}, &l.cfg.Log)
	l.oneOf(layers{s}, "level", l.cfg.Log.Level, "debug", "info", "warn", "error")
	l.oneOf(layers{s}, "format", l.cfg.Log.Format, "text", "json")
}

var labelPattern = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// ownLabels are the label names that serin's metrics use already.
func ownLabels() []string {
	return []string{"target", "scene", "size", "outcome", "side", "phase", "metric", "kind", "channel", "result", "reason",
		"provider", "model", "protocol", "input_bucket", "le", "version", "instance", "region", "unit", "what"}
}

func (l *loader) resolveMetrics() {
	s := l.single("metrics")
	m := &l.cfg.Metrics
	*m = defaultMetrics()
	if s.has("latency_buckets") {
		m.LatencyBuckets = nil // a list is replaced, not merged
	}
	l.decode(layers{s}, m)
	for label := range m.Labels {
		if !labelPattern.MatchString(label) || slices.Contains(ownLabels(), label) {
			l.rep.fail(s.at("labels"), s.key("labels")+"."+label, "cannot be a constant label", "use letters, digits and _, and no name that serin's metrics use themselves")
		}
	}
	l.checkBuckets(s, m.LatencyBuckets)
	for _, label := range m.HistogramLabels {
		l.oneOf(layers{s}, "histogram_labels", label, "scene", "size")
	}
	if m.PushURL != "" {
		l.httpURL(layers{s}, "push_url", m.PushURL)
	}
	if m.ReportInterval < time.Second {
		l.rep.fail(s.at("report_interval"), s.key("report_interval"), "is shorter than 1s", `write "10s"`)
	}
}

func (l *loader) checkBuckets(s section, edges []int) {
	rising := slices.IsSorted(edges) && len(slices.Compact(slices.Clone(edges))) == len(edges)
	if len(edges) == 0 || edges[0] <= 0 || !rising {
		l.rep.fail(s.at("latency_buckets"), s.key("latency_buckets"), "must rise from above 0", "write edges in tokens: [500, 2000, 8000, 32000]")
	}
}

func (l *loader) resolveBaseline() {
	s := l.single("baseline")
	b := &l.cfg.Baseline
	*b = baseline.DefaultOptions()
	l.decode(layers{s}, b)
	const day = 24 * time.Hour
	if b.Window < 3*day || b.Window > 90*day || b.Window%day != 0 {
		l.rep.fail(s.at("window"), s.key("window"), fmt.Sprintf("%q is not a whole number of days from 3 to 90", formatDuration(b.Window)), `a band needs 3 days at least: window = "7d"`)
	} else if l.cfg.Store.Retention < b.Window+day && l.cfg.Store.Retention >= day {
		st := l.single("store")
		l.rep.fail(st.at("retention"), st.key("retention"), "is shorter than the baseline's window and a day",
			fmt.Sprintf("keep at least %q", formatDuration(b.Window+day)))
	}
	if b.Slot < time.Minute || b.Slot > day || day%b.Slot != 0 {
		l.rep.fail(s.at("slot"), s.key("slot"), fmt.Sprintf("%q does not divide the day", formatDuration(b.Slot)), `write "30m", "15m" or "1h"`)
	}
	l.oneOf(layers{s}, "on_change", b.OnChange, "relearn", "rescale", "keep")
}

func (l *loader) resolveIncident() {
	s := l.single("incident")
	l.cfg.Incident = alert.DefaultIncident()
	l.decode(layers{s}, &l.cfg.Incident)
	l.notNegative(layers{s}, "group_wait", l.cfg.Incident.GroupWait)
	l.notNegative(layers{s}, "remind_every", l.cfg.Incident.RemindEvery)
	l.notNegative(layers{s}, "reopen_within", l.cfg.Incident.ReopenWithin)
	l.oneOf(layers{s}, "group_by", l.cfg.Incident.GroupBy, alert.GroupByProvider, alert.GroupByTarget)
	if l.cfg.Incident.GroupWait > time.Hour {
		l.rep.fail(s.at("group_wait"), s.key("group_wait"), "holds every message back for over an hour", `write "30s"`)
	}
}

func (l *loader) notNegative(from layers, key string, d time.Duration) {
	if d < 0 {
		at, name := from.at(key)
		l.rep.fail(at, name, "is negative", `write a duration from "0s" on`)
	}
}
