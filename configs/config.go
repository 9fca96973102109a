// Package configs reads, checks and resolves serin's TOML config.
package configs

import (
	"time"

	"serin/alert"
	"serin/alert/slack"
	"serin/baseline"
	"serin/probe"
	"serin/probe/schedule"
	"serin/probe/secret"
)

// Config is a whole, checked and resolved config.
type Config struct {
	Instance    Instance
	Store       Store
	HTTP        HTTP
	Log         Log
	Metrics     Metrics
	Baseline    baseline.Options
	Incident    alert.IncidentOptions
	Budget      Budget
	Heartbeat   Heartbeat
	Digest      Digest
	Slack       *slack.Options      // [slack]; nil = no such table; among Channels too
	Channels    []Channel           // [slack] and every [[channel]], in the order of the file
	Routes      []alert.Route       // of every [[route]]
	Maintenance []alert.Maintenance // of every [[maintenance]]
	Targets     []*probe.Target
	Scenes      []*probe.Scene
	Runs        []Run            // one a canary, ordered by key
	Redactor    *secret.Redactor // knows every secret of this config
	Warnings    []Problem
	Providers   []string // names in the order of the file, those that a target stands for itself left out
	Source      string   // the path that was read, "" = the environment
	Revision    string   // hash of the files and overrides, 16 hex digits
}

// Run is one canary with its schedule and its rule.
type Run struct {
	Canary *probe.Canary
	Spec   string
	Entry  schedule.Entry
	Cron   string // as written
	Rule   alert.Rule
}

// Due returns the run's next sending time strictly after t, spread included; zero when there is none.
func (r Run) Due(t time.Time) time.Time {
	offset := r.Entry.Offset()
	next := r.Entry.Schedule.Next(t.Add(-offset))
	if next.IsZero() {
		return next
	}
	return next.Add(offset)
}

// Instance is [instance].
type Instance struct {
	Name   string `koanf:"name"` // default: the host's name
	Region string `koanf:"region"`
}

// Store is [store].
type Store struct {
	DSN       string        `koanf:"dsn"`       // a path
	Retention time.Duration `koanf:"retention"` // default 40 days
}

// HTTP is [http].
type HTTP struct {
	Listen        string        `koanf:"listen"`
	MetricsListen string        `koanf:"metrics_listen"`
	Token         secret.Secret `koanf:"-"` // token_file
	Tokens        []HTTPToken   `koanf:"-"` // of every [[http.token]]
	ExternalURL   string        `koanf:"external_url"`
	AllowPublic   bool          `koanf:"allow_public"`
}

// Log is [log].
type Log struct {
	Level  string `koanf:"level"`  // debug, info, warn, error
	Format string `koanf:"format"` // text, json
}

// Metrics is [metrics].
type Metrics struct {
	Labels          map[string]string `koanf:"labels"`           // constant labels on every series
	LatencyBuckets  []int             `koanf:"latency_buckets"`  // edges of input_bucket, tokens
	HistogramLabels []string          `koanf:"histogram_labels"` // more labels on histograms: scene, size
	PushURL         string            `koanf:"push_url"`
	ReportInterval  time.Duration     `koanf:"report_interval"`
}

// SceneZone returns the time zone of a scene, nil when it is not configured.
func (c *Config) SceneZone(name string) *time.Location {
	for _, s := range c.Scenes {
		if s.Name == name {
			return s.Zone
		}
	}
	return nil
}

// Keys returns the keys of the runs' canaries.
func Keys(runs []Run) []string {
	keys := make([]string, len(runs))
	for i, r := range runs {
		keys[i] = r.Canary.Key()
	}
	return keys
}
