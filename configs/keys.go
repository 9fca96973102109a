package configs

import (
	"time"

	"serin/alert"
	"serin/alert/slack"
	"serin/baseline"
	"serin/probe"
	"serin/probe/prompt"
)

// credential is where a secret is taken from; at most one of the four is set.
type credential struct {
	Plain, Env, File, Credential string
}

// targetKeys are the keys of [[target]]; probe's own and what has to be resolved first.
type targetKeys struct {
	probe.Target     `koanf:",squash"`
	APIKeyEnv        string `koanf:"api_key_env"`
	APIKeyFile       string `koanf:"api_key_file"`
	APIKeyCredential string `koanf:"api_key_credential"`
	APIKeyPlain      string `koanf:"api_key"`

	BudgetTokens int     `koanf:"budget_tokens"`
	BudgetUSD    float64 `koanf:"budget_usd"`
}

func (k *targetKeys) credential() credential {
	return credential{Plain: k.APIKeyPlain, Env: k.APIKeyEnv, File: k.APIKeyFile, Credential: k.APIKeyCredential}
}

// slackKeys are the keys of [slack].
type slackKeys struct {
	slack.Options     `koanf:",squash"`
	WebhookEnv        string `koanf:"webhook_url_env"`
	WebhookFile       string `koanf:"webhook_url_file"`
	WebhookCredential string `koanf:"webhook_url_credential"`
	WebhookPlain      string `koanf:"webhook_url"`
	BotEnv            string `koanf:"bot_token_env"`
	BotFile           string `koanf:"bot_token_file"`
	BotCredential     string `koanf:"bot_token_credential"`
	BotPlain          string `koanf:"bot_token"`
}

func (k *slackKeys) webhook() credential {
	return credential{Plain: k.WebhookPlain, Env: k.WebhookEnv, File: k.WebhookFile, Credential: k.WebhookCredential}
}

func (k *slackKeys) bot() credential {
	return credential{Plain: k.BotPlain, Env: k.BotEnv, File: k.BotFile, Credential: k.BotCredential}
}

// httpKeys are the keys of [http].
type httpKeys struct {
	HTTP      `koanf:",squash"`
	TokenFile string `koanf:"token_file"`
}

// sceneKeys are the keys of [[scene]]. Short, Medium and Long are read by size, Rule by rule.
type sceneKeys struct {
	probe.Scene `koanf:",squash"`
	Targets     []string          `koanf:"targets"`
	Select      map[string]string `koanf:"select"`
	Timezone    string            `koanf:"timezone"`
}

// sizeKeys are the keys of a size given as a table.
type sizeKeys struct {
	Schedule    string        `koanf:"schedule"`
	InputTokens int           `koanf:"input_tokens"`
	MaxTokens   int           `koanf:"max_tokens"`
	Prompts     []string      `koanf:"prompts"`
	Expect      prompt.Expect `koanf:"expect"`
	Spread      *spread       `koanf:"spread"` // nil = the default
}

type spread = time.Duration

// The defaults of the tables that configs itself owns.
func defaultStore() Store { return Store{Retention: 40 * 24 * time.Hour} }
func defaultHTTP() HTTP   { return HTTP{Listen: "127.0.0.1:9469"} }
func defaultLog() Log     { return Log{Level: "info", Format: "text"} }
func defaultMetrics() Metrics {
	return Metrics{LatencyBuckets: []int{500, 2000, 8000, 32000}, ReportInterval: 10 * time.Second}
}
func defaultSlack() slackKeys {
	return slackKeys{Options: slack.Options{APIURL: "https://slack.com/api/"}}
}
func defaultScene() sceneKeys {
	return sceneKeys{Scene: probe.Scene{Language: "en", Metrics: []probe.Metric{probe.TTFT, probe.TPOT}}, Timezone: "UTC"}
}

// schema returns every key that a config may hold. A table's keys come from its struct's tags; what needs a shape
// of its own is added by hand.
func schema() *spec {
	rule := ruleSpec()
	size := tableOf(sizeKeys{})
	size.kind = kindSize
	size.keys["expect"] = tableOf(prompt.Expect{})
	size.keys["spread"] = &spec{kind: kindDuration}
	scene := tableOf(defaultScene())
	for _, s := range probe.Sizes() {
		scene.keys[string(s)] = size
	}
	scene.keys["rule"] = tableOf(alert.Rule{})
	scene.keys["rule"].keys, scene.keys["rule"].removed = rule.keys, rule.removed
	provider := tableOf(targetKeys{})
	delete(provider.keys, "provider")
	defaults := tableOf(targetKeys{Target: probe.DefaultTarget()})
	delete(defaults.keys, "name")
	target := tableOf(targetKeys{Target: probe.DefaultTarget()})
	http := tableOf(httpKeys{HTTP: defaultHTTP()})
	token := tableOf(tokenKeys{})
	token.removed = map[string]string{"scopes": ""} // checkRole knows which role to write
	http.keys["token"] = listOf(token)
	for _, t := range []*spec{provider, defaults, target} {
		t.keys["budget_tokens"].def, t.keys["budget_usd"].def = "", "" // those of [budget]
	}
	return &spec{kind: kindTable, keys: map[string]*spec{
		"allow_plain_secrets": {kind: kindBool, def: "false"},
		"instance":            tableOf(Instance{}),
		"store":               tableOf(defaultStore()),
		"http":                http,
		"log":                 tableOf(defaultLog()),
		"metrics":             tableOf(defaultMetrics()),
		"baseline":            tableOf(baseline.DefaultOptions()),
		"incident":            tableOf(alert.DefaultIncident()),
		"budget":              tableOf(defaultBudget()),
		"heartbeat":           tableOf(defaultHeartbeat()),
		"digest":              tableOf(defaultDigest()),
		"rule":                rule,
		"slack":               tableOf(defaultSlack()),
		"channel":             listOf(tableOf(channelKeys{})),
		"route":               listOf(tableOf(routeKeys{})),
		"maintenance":         listOf(tableOf(defaultMaintenance())),
		"target_defaults":     defaults,
		"provider":            listOf(provider),
		"target":              listOf(target),
		"scene":               listOf(scene),
		"price":               listOf(tableOf(probe.Price{})),
	}}
}

// ruleSpec returns the keys of [rule].
func ruleSpec() *spec {
	s := tableOf(alert.DefaultRule())
	s.removed = map[string]string{
		"accept_after":  "remove it: the samples of an open alert count again after exclude_for (default 24h), so the next days learn the level by themselves; serin accept takes it at once",
		"down_after":    "remove it: the next days learn a lower level by themselves; serin accept takes it at once",
		"promote_after": "remove it: a canary that is slow alone pages once it has lasted",
	}
	for key := range s.removed {
		delete(s.keys, key)
	}
	return s
}
