// Package webhook is the channel that posts JSON to a URL: serin's own document, signed, or the message as a chat robot
// takes it (Feishu and Lark, DingTalk, WeCom, Teams, Telegram).
package webhook

import (
	"serin/alert"
	"serin/probe/secret"
)

// Options are the keys of a [[channel]] of these types. URL is needed, and for Telegram ChatID.
type Options struct {
	Name    string                `koanf:"-"`
	Format  Format                `koanf:"-"`
	URL     secret.Secret         `koanf:"-"`       // webhook_url_env, _file, _credential; of Telegram, the bot token
	Secret  secret.Secret         `koanf:"-"`       // secret_env, _file, _credential: signs
	Headers map[string]string     `koanf:"headers"` // added to each call
	Hidden  map[string]Credential `koanf:"-"`       // headers_env: as Headers, the values are secrets
	Mention string                `koanf:"mention"` // "all", or ids with commas between; on first firing and escalation only
	ChatID  string                `koanf:"chat_id"` // Telegram
	APIURL  string                `koanf:"api_url"` // Telegram; default https://api.telegram.org
}

// Credential is the value of a header that nobody may see. Scheme stands in front of it, with a space between, where it is
// not "".
type Credential struct {
	Scheme string // Bearer, Basic, …
	Value  secret.Secret
}

// Format is the form of what is posted.
type Format string

// The formats. JSON is serin's own document, see Document.
const (
	JSON     Format = "webhook"
	Feishu   Format = "feishu"
	DingTalk Format = "dingtalk"
	WeCom    Format = "wecom"
	Teams    Format = "teams"
	Telegram Format = "telegram"
)

// dialect is how a format writes a message, signs and answers.
type dialect struct {
	write  func(c *Channel, m alert.Message, who string) (any, error)
	sign   func(secret string, unix int64, d *draft) // nil = it has no signature
	answer func(body []byte) error                   // what a 2xx says; nil = it says nothing
}

// dialects is the table of the chat robots: a new one is one entry and one file.
func dialects() map[Format]dialect {
	return map[Format]dialect{
		Feishu:   {write: writeFeishu, sign: signFeishu, answer: answerFeishu},
		DingTalk: {write: writeDingTalk, sign: signDingTalk, answer: answerDingTalk},
		WeCom:    {write: writeWeCom, answer: answerWeCom},
		Teams:    {write: writeTeams},
		Telegram: {write: writeTelegram, answer: answerTelegram},
	}
}

// Formats lists all formats.
func Formats() []Format { return []Format{JSON, Feishu, DingTalk, WeCom, Teams, Telegram} }
