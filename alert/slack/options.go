// Package slack is the Slack channel: by bot token (open, edit to resolved, thread) or by incoming webhook (one message
// to open, one to close).
package slack

import (
	"serin/probe/secret"
)

// The looks of a chart.
const (
	ChartLight = "light"
	ChartDark  = "dark"
)

// Options are the keys of [slack]. Either WebhookURL or BotToken and Channel are set.
type Options struct {
	Name        string        `koanf:"-"` // of the channel; default "slack"
	WebhookURL  secret.Secret `koanf:"-"` // webhook_url_env, _file, _credential
	BotToken    secret.Secret `koanf:"-"` // bot_token_env, _file, _credential
	Channel     string        `koanf:"channel"`
	InfoChannel string        `koanf:"info_channel"`
	APIURL      string        `koanf:"api_url"` // default https://slack.com/api/; for tests and proxies, with or without the last slash
	Chart       string        `koanf:"chart"`   // ChartLight or ChartDark: a picture in the thread; "" = none
	Mention     string        `koanf:"mention"` // e.g. <!here> or <@U123>; on first firing and escalation only
}
