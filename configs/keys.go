package configs

import (
	"time"

	"serin/alert"
	"serin/alert/slack"
	"serin/baseline"
	"serin/probe"
	"serin/probe/prompt"
)

// file holds every key that a config may have; a table's keys come from the tags of its struct.
type file struct {
	AllowPlain     bool                  `koanf:"allow_plain_secrets"`
	Instance       Instance              `koanf:"instance"`
	Store          Store                 `koanf:"store"`
	HTTP           httpKeys              `koanf:"http"`
	Log            Log                   `koanf:"log"`
	Metrics        Metrics               `koanf:"metrics"`
	Baseline       baseline.Options      `koanf:"baseline"`
	Incident       alert.IncidentOptions `koanf:"incident"`
	Budget         budgetKeys            `koanf:"budget"`
	Heartbeat      heartbeatKeys         `koanf:"heartbeat"`
	Digest         digestKeys            `koanf:"digest"`
	Rule           alert.Rule            `koanf:"rule"`
	Slack          slackKeys             `koanf:"slack"`
	Channel        []channelKeys         `koanf:"channel"`
	Route          []routeKeys           `koanf:"route"`
	Maintenance    []maintenanceKeys     `koanf:"maintenance"`
	TargetDefaults targetKeys            `koanf:"target_defaults"`
	Provider       []targetKeys          `koanf:"provider"`
	Target         []targetKeys          `koanf:"target"`
	Scene          []sceneKeys           `koanf:"scene"`
	Price          []probe.Price         `koanf:"price"`
}

// defaultFile holds the defaults of every table, with one element in each array of tables.
func defaultFile() file {
	target := targetKeys{Target: probe.DefaultTarget()}
	return file{
		Store:          Store{Retention: 40 * 24 * time.Hour},
		HTTP:           httpKeys{HTTP: HTTP{Listen: "127.0.0.1:9469"}, Tokens: []tokenKeys{{}}},
		Log:            Log{Level: "info", Format: "text"},
		Metrics:        Metrics{LatencyBuckets: []int{500, 2000, 8000, 32000}, ReportInterval: 10 * time.Second},
		Baseline:       baseline.DefaultOptions(),
		Incident:       alert.DefaultIncident(),
		Budget:         budgetKeys{Timezone: "UTC"},
		Heartbeat:      heartbeatKeys{Every: time.Minute},
		Digest:         digestKeys{At: "09:00", Timezone: "UTC"},
		Rule:           alert.DefaultRule(),
		Slack:          slackKeys{Options: slack.Options{APIURL: slackAPI}},
		Channel:        []channelKeys{{}},
		Route:          []routeKeys{{}},
		Maintenance:    []maintenanceKeys{{Timezone: "UTC", Probe: true}},
		TargetDefaults: target,
		Provider:       []targetKeys{{}},
		Target:         []targetKeys{target},
		Scene: []sceneKeys{{Scene: probe.Scene{Language: "en", Metrics: []probe.Metric{probe.TTFT, probe.TPOT}}, Timezone: "UTC",
			Rule: alert.DefaultRule()}},
		Price: []probe.Price{{}},
	}
}

const slackAPI = "https://slack.com/api/"

// secretKey is the key of a secret itself; beside it stand those that say where it is, see credentialKeys.
type secretKey string

// targetKeys are the keys of [[target]], [[provider]] and [target_defaults].
type targetKeys struct {
	probe.Target `koanf:",squash"`
	Key          secretKey `koanf:"api_key"`
	BudgetTokens int       `koanf:"budget_tokens"`
	BudgetUSD    float64   `koanf:"budget_usd"`
}

// slackKeys are the keys of [slack].
type slackKeys struct {
	slack.Options `koanf:",squash"`
	Webhook       secretKey `koanf:"webhook_url"`
	Bot           secretKey `koanf:"bot_token"`
}

// httpKeys are the keys of [http].
type httpKeys struct {
	HTTP      `koanf:",squash"`
	TokenFile string      `koanf:"token_file"`
	Tokens    []tokenKeys `koanf:"token"`
}

// sceneKeys are the keys of [[scene]].
type sceneKeys struct {
	probe.Scene `koanf:",squash"`
	Targets     []string          `koanf:"targets"`
	Select      map[string]string `koanf:"select"`
	Timezone    string            `koanf:"timezone"`
	Short       *sizeKeys         `koanf:"short"`
	Medium      *sizeKeys         `koanf:"medium"`
	Long        *sizeKeys         `koanf:"long"`
	Rule        alert.Rule        `koanf:"rule"`
}

// sizeKeys are the keys of a size given as a table.
type sizeKeys struct {
	Schedule    string         `koanf:"schedule"`
	InputTokens int            `koanf:"input_tokens"`
	MaxTokens   int            `koanf:"max_tokens"`
	Prompts     []string       `koanf:"prompts"`
	Expect      prompt.Expect  `koanf:"expect"`
	Spread      *time.Duration `koanf:"spread"` // nil = the default
}
