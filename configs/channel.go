package configs

import (
	"fmt"
	"slices"
	"strings"

	"serin/alert/alertmanager"
	"serin/alert/pagerduty"
	"serin/alert/slack"
	"serin/alert/webhook"
	"serin/probe/secret"
)

// Channel is one place where people get messages. One of the options is set.
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
	slackKeys  `koanf:",squash"`
	Name       string            `koanf:"name"`
	Type       string            `koanf:"type"`
	Secret     secretKey         `koanf:"secret"`
	Token      secretKey         `koanf:"token"`
	RoutingKey secretKey         `koanf:"routing_key"`
	Headers    map[string]string `koanf:"headers"`
	HeadersEnv map[string]string `koanf:"headers_env"`
	ChatID     string            `koanf:"chat_id"`
	URLs       []string          `koanf:"urls"`
	Labels     map[string]string `koanf:"labels"`
}

// channelType says which keys a type takes beside name and type; one that ends in * is a credential, in its four ways.
type channelType struct {
	name string
	keys []string
	text string // for the reference
	can  string // what validate says of it
}

const postsOnly = "posts only: no edits, no threads"

func channelTypes() []channelType {
	return []channelType{
		{typeSlack, []string{"webhook_url*", "bot_token*", "channel", "info_channel", "chart", "api_url", "mention"}, "as `[slack]`; several are possible", "edits its message, writes into its thread"},
		{string(webhook.JSON), []string{"webhook_url*", "secret*", "headers", "headers_env"}, "serin's own JSON document to any URL, signed where a secret is given", "one document for each change: the receiver does the rest"},
		{string(webhook.Feishu), []string{"webhook_url*", "secret*", "mention"}, "Feishu or Lark, custom bot of a group", postsOnly},
		{string(webhook.DingTalk), []string{"webhook_url*", "secret*", "mention"}, "DingTalk, custom robot of a group", postsOnly},
		{string(webhook.WeCom), []string{"webhook_url*", "mention"}, "WeCom, robot of a group", postsOnly},
		{string(webhook.Teams), []string{"webhook_url*"}, "Microsoft Teams, webhook of a workflow", postsOnly},
		{string(webhook.Telegram), []string{"bot_token*", "chat_id", "api_url", "mention"}, "Telegram bot", postsOnly},
		{typeAlertmanager, []string{"urls", "labels", "token*"}, "Prometheus' Alertmanager, which gets every minute what fires; its own routes, mail and the rest follow from there", "keeps state: Alertmanager groups, routes and sends"},
		{typePagerDuty, []string{"routing_key*", "api_url"}, "PagerDuty, Events API v2", "opens and resolves its own incidents"},
	}
}

// Can says in a few words what the channel does with the messages of an incident.
func (c Channel) Can() string {
	types := channelTypes()
	i := slices.IndexFunc(types, func(t channelType) bool { return t.name == c.Type })
	if i < 0 || c.Slack != nil && c.Slack.Channel == "" { // Slack by a webhook
		return postsOnly
	}
	return types[i].can
}

// takes reports whether a channel of the type has the key.
func (t channelType) takes(key string) bool {
	return key == "name" || key == "type" || slices.ContainsFunc(t.keys, func(k string) bool {
		name, secret := strings.CutSuffix(k, "*")
		return k == key || secret && slices.Contains(credentialKeys(name), key)
	})
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

// channelNames lists the channels in the order of the file.
func (l *loader) channelNames() []string {
	names := make([]string, len(l.cfg.Channels))
	for i, c := range l.cfg.Channels {
		names[i] = c.Name
	}
	return names
}

// resolveChannels reads [slack] and every [[channel]].
func (l *loader) resolveChannels() {
	seen := map[string]section{}
	if s := l.table("slack"); s.present() && !l.bad["slack"] {
		seen[slack.Name] = s
		l.cfg.Slack = l.slackOptions(s, l.file.Slack, slack.Name)
		l.cfg.Channels = append(l.cfg.Channels, Channel{Name: slack.Name, Type: typeSlack, Slack: l.cfg.Slack})
	}
	for i, s := range l.each("channel") {
		if c, ok := l.resolveChannel(s, l.file.Channel[i]); s.name(seen) != "" && ok {
			l.cfg.Channels = append(l.cfg.Channels, c)
		}
	}
}

func (l *loader) resolveChannel(s section, k channelKeys) (Channel, bool) {
	types := channelTypes()
	i := slices.IndexFunc(types, func(t channelType) bool { return t.name == k.Type })
	if i < 0 {
		var names []string
		for _, t := range types {
			names = append(names, t.name)
		}
		if k.Type != "" {
			s.oneOf("type", k.Type, names...)
		} else if !s.wrong("type") {
			s.fail("type", "is missing", "use one of: "+strings.Join(names, ", "))
		}
		return Channel{}, false
	}
	for _, key := range sortedKeys(asTable(l.value(s.path))) {
		if !types[i].takes(key) && l.spec.find(s.path).keys[key] != nil {
			s.fail(key, "is not a key of type "+k.Type, "remove it")
		}
	}
	c := Channel{Name: k.Name, Type: k.Type}
	switch k.Type {
	case typeSlack:
		c.Slack = l.slackOptions(s, k.slackKeys, k.Name)
	case typeAlertmanager:
		c.Alertmanager = s.alertmanagerOptions(k)
	case typePagerDuty:
		c.PagerDuty = s.pagerDutyOptions(k)
	default:
		c.Webhook = s.webhookOptions(k)
	}
	return c, true
}

// need reads a credential that must be there.
func (s section) need(name, fix string) secret.Secret {
	if !s.gives(name) {
		s.fail(name+"_env", "is missing", fix)
	}
	return s.secret(name)
}

func (s section) webhookOptions(k channelKeys) *webhook.Options {
	o := &webhook.Options{Name: k.Name, Format: webhook.Format(k.Type), Mention: k.Mention, ChatID: k.ChatID, APIURL: k.APIURL, Headers: k.Headers}
	if o.Format == webhook.Telegram {
		o.URL = s.need("bot_token", "name the environment variable with the token from @BotFather")
		if o.ChatID == "" && !s.given("chat_id") {
			s.fail("chat_id", "is missing", `name the chat: chat_id = "-1001234567890", or "@name" of a public channel`)
		}
		if o.APIURL != "" {
			s.httpURL("api_url", o.APIURL)
		}
		return o
	}
	if !s.gives("webhook_url") {
		s.fail("webhook_url_env", "is missing", "name the environment variable with the URL (a URL of this kind is a secret)")
	}
	o.URL = s.secretURL("webhook_url", "copy it from the page of the bot")
	o.Secret = s.secret("secret")
	s.checkHeaders(k.Headers, "idempotency-key", "user-agent")
	o.Hidden = s.hidden(k.HeadersEnv)
	return o
}

// hidden returns the headers whose values are secret: one word, or a scheme and a word.
func (s section) hidden(variables map[string]string) map[string]webhook.Credential {
	out := map[string]webhook.Credential{}
	for name, value := range s.headersEnv(variables, "idempotency-key", "user-agent") {
		key, words := "headers_env."+name, strings.Fields(value)
		if len(words) > 2 {
			s.fail(key, "environment variable "+variables[name]+" holds more than two words", `set it to a bare value, or to a scheme and a value such as "Bearer abc"`)
			continue
		}
		secret, err := secret.FromValue("environment variable "+variables[name], words[len(words)-1])
		out[name] = webhook.Credential{Scheme: strings.Join(words[:len(words)-1], ""), Value: s.known(key, secret, err, "set it to one line")}
	}
	return out
}

func (s section) alertmanagerOptions(k channelKeys) *alertmanager.Options {
	if len(k.URLs) == 0 && !s.wrong("urls") {
		s.fail("urls", "names no Alertmanager", `name every peer: urls = ["http://alertmanager:9093"]`)
	}
	for i, raw := range k.URLs {
		u := s.httpURL("urls", raw)
		if u != nil && u.RawQuery != "" {
			s.fail("urls", "holds a ?query", "write the address alone: /api/v2/alerts is added")
		}
		if u != nil && u.Scheme == "http" && !privateHost(u.Hostname()) {
			s.warn("urls", "sends the alerts without encryption", "use https://")
		}
		if slices.Contains(k.URLs[:i], raw) {
			s.fail("urls", fmt.Sprintf("names %q twice", raw), "remove one")
		}
	}
	for _, name := range sortedKeys(k.Labels) {
		if !labelPattern.MatchString(name) || slices.Contains([]string{"alertname", "severity", "target", "scene", "size", "kind", "instance", "region", "incident"}, name) {
			s.fail("labels."+name, "cannot be a label here", "use letters, digits and _, and no name that serin sets itself")
		}
	}
	return &alertmanager.Options{Name: k.Name, URLs: k.URLs, Labels: k.Labels, Token: s.secret("token")}
}

func (s section) pagerDutyOptions(k channelKeys) *pagerduty.Options {
	o := &pagerduty.Options{Name: k.Name, APIURL: k.APIURL}
	o.RoutingKey = s.need("routing_key", "name the environment variable with the integration key (Events API v2) of the service")
	if o.APIURL != "" {
		s.httpURL("api_url", o.APIURL)
	}
	return o
}
