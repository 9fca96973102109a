package configs

import (
	"fmt"
	"slices"
	"strings"

	"serin/alert/alertmanager"
	"serin/alert/pagerduty"
	"serin/alert/slack"
	"serin/alert/webhook"
)

// Channel is one place where people are told. One of the options is set.
type Channel struct {
	Name         string
	Type         string // slack, webhook, feishu, dingtalk, wecom, teams, telegram, alertmanager, pagerduty
	Slack        *slack.Options
	Webhook      *webhook.Options
	Alertmanager *alertmanager.Options
	PagerDuty    *pagerduty.Options
}

// The types of channels that are no format of a webhook.
const (
	typeSlack        = "slack"
	typeAlertmanager = "alertmanager"
	typePagerDuty    = "pagerduty"
)

// channelKeys are the keys of [[channel]], of all types together.
type channelKeys struct {
	slackKeys        `koanf:",squash"`
	Name             string            `koanf:"name"`
	Type             string            `koanf:"type"`
	SecretEnv        string            `koanf:"secret_env"`
	SecretFile       string            `koanf:"secret_file"`
	SecretCredential string            `koanf:"secret_credential"`
	SecretPlain      string            `koanf:"secret"`
	TokenEnv         string            `koanf:"token_env"`
	TokenFile        string            `koanf:"token_file"`
	TokenCredential  string            `koanf:"token_credential"`
	TokenPlain       string            `koanf:"token"`
	KeyEnv           string            `koanf:"routing_key_env"`
	KeyFile          string            `koanf:"routing_key_file"`
	KeyCredential    string            `koanf:"routing_key_credential"`
	KeyPlain         string            `koanf:"routing_key"`
	Headers          map[string]string `koanf:"headers"`
	HeadersEnv       map[string]string `koanf:"headers_env"`
	ChatID           string            `koanf:"chat_id"`
	URLs             []string          `koanf:"urls"`
	Labels           map[string]string `koanf:"labels"`
}

func (k *channelKeys) secret() credential {
	return credential{Plain: k.SecretPlain, Env: k.SecretEnv, File: k.SecretFile, Credential: k.SecretCredential}
}

func (k *channelKeys) token() credential {
	return credential{Plain: k.TokenPlain, Env: k.TokenEnv, File: k.TokenFile, Credential: k.TokenCredential}
}

func (k *channelKeys) routingKey() credential {
	return credential{Plain: k.KeyPlain, Env: k.KeyEnv, File: k.KeyFile, Credential: k.KeyCredential}
}

// channelType says which keys a type takes beside name and type; one that ends in * is a credential, in its four ways.
type channelType struct {
	name string
	keys []string
	text string
}

func channelTypes() []channelType {
	return []channelType{
		{typeSlack, []string{"webhook_url*", "bot_token*", "channel", "info_channel", "chart", "api_url", "mention"}, "as `[slack]`; several are possible"},
		{string(webhook.JSON), []string{"webhook_url*", "secret*", "headers", "headers_env"}, "serin's own JSON document to any URL, signed where a secret is given"},
		{string(webhook.Feishu), []string{"webhook_url*", "secret*", "mention"}, "Feishu or Lark, custom bot of a group"},
		{string(webhook.DingTalk), []string{"webhook_url*", "secret*", "mention"}, "DingTalk, custom robot of a group"},
		{string(webhook.WeCom), []string{"webhook_url*", "mention"}, "WeCom, robot of a group"},
		{string(webhook.Teams), []string{"webhook_url*"}, "Microsoft Teams, webhook of a workflow"},
		{string(webhook.Telegram), []string{"bot_token*", "chat_id", "api_url", "mention"}, "Telegram bot"},
		{typeAlertmanager, []string{"urls", "labels", "token*"}, "Prometheus' Alertmanager, which is told every minute what fires; its own routes, mail and the rest follow from there"},
		{typePagerDuty, []string{"routing_key*", "api_url"}, "PagerDuty, Events API v2"},
	}
}

func channelTypeNames() []string {
	var names []string
	for _, t := range channelTypes() {
		names = append(names, t.name)
	}
	return names
}

// spec returns the keys of the type.
func (t channelType) spec() *spec {
	all := tableOf(channelKeys{})
	s := &spec{kind: kindTable, keys: map[string]*spec{"name": all.keys["name"], "type": all.keys["type"]}}
	for _, key := range t.keys {
		if name, yes := strings.CutSuffix(key, "*"); yes {
			for _, k := range credentialKeys(name) {
				s.keys[k] = all.keys[k]
			}
			continue
		}
		s.keys[key] = all.keys[key]
	}
	return s
}

// channelSpec returns the keys of the type that a table says it is; where it says none or a strange one, those of all.
func channelSpec(t *table) *spec {
	if n := t.kids["type"]; n != nil {
		for _, ct := range channelTypes() {
			if ct.name == n.val {
				return ct.spec()
			}
		}
	}
	return tableOf(channelKeys{})
}

// channelTypesText lists the types for the reference.
func channelTypesText() string {
	var b strings.Builder
	for _, t := range channelTypes() {
		keys := slices.Clone(t.keys)
		for i, k := range keys {
			keys[i] = "`" + strings.Replace(k, "*", "_env", 1) + "`"
		}
		fmt.Fprintf(&b, "- `%s`: %s. Keys: %s.\n", t.name, t.text, strings.Join(keys, ", "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// channelMeanings are the meanings of the keys of [[channel]] and [[route]]; those of a credential's other ways are empty.
func channelMeanings() map[string]string {
	m := map[string]string{
		"channel.name":         "a name as of a target: in routes, metrics and the outbox",
		"channel.type":         "one of those above",
		"channel.channel":      "of Slack: where a bot token posts",
		"channel.chart":        "of Slack: a picture in the thread, `\"light\"` or `\"dark\"`",
		"channel.info_channel": "of Slack: where it posts what pages nobody",
		"channel.api_url":      "of Slack, Telegram and PagerDuty (`https://events.eu.pagerduty.com/v2/enqueue` for accounts in Europe): in place of the usual address",
		"channel.mention":      "whom a first firing and an escalation call: of Slack as there, else `all` or ids with commas between (Feishu: open ids; DingTalk: mobile numbers or user ids; WeCom: user ids; Telegram: user names)",
		"channel.headers":      "sent with each call; secret ones belong into `headers_env`",
		"channel.headers_env":  "header name → environment variable with its value",
		"channel.chat_id":      "of Telegram: a number, as a string, or `@name` of a public channel",
		"channel.urls":         "of Alertmanager: every peer of a cluster, such as `[\"http://am-1:9093\", \"http://am-2:9093\"]`",
		"channel.labels":       "of Alertmanager: added to every alert, such as `{ cluster = \"eu\" }`",
		"route.match":          "table of patterns, all of which must match: `severity` (`warning`, `critical`, `info`), `kind`, `target`, `scene`, `size`, or any label of targets; globs, several with a bar between: `{ severity = \"critical\", target = \"gw-*\", kind = \"timeout|error\" }`; left out: every incident",
		"route.channels":       "names of channels; that of `[slack]` is `slack`",
	}
	for name, text := range map[string]string{"webhook_url": "the webhook's URL", "bot_token": "the bot token",
		"secret": "the secret that signs", "token": "the token that is sent as Bearer", "routing_key": "the integration key of the service"} {
		m["channel."+name] = ""
		m["channel."+name+"_env"] = "environment variable that holds " + text + "; or `" + name + "_file`, `" + name + "_credential`"
		m["channel."+name+"_file"], m["channel."+name+"_credential"] = "", ""
	}
	return m
}
