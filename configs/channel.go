package configs

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"serin/alert/alertmanager"
	"serin/alert/pagerduty"
	"serin/alert/slack"
	"serin/alert/webhook"
	"serin/probe"
)

// resolveChannels reads every [[channel]]; [slack] has been read.
func (l *loader) resolveChannels() {
	seen := map[string]place{}
	if s := l.single("slack"); s.tree != nil {
		seen[slack.Name] = s.at("")
	}
	nodes, _ := l.top.values["channel"].([]*node) // absent or reported
	for i, n := range nodes {
		t, _ := n.val.(*table) // tablesOf saw to that
		l.resolveChannel(checkTable(t, channelSpec(t), named("channel", i, n), l.rep), seen)
	}
}

func (l *loader) resolveChannel(s section, seen map[string]place) {
	var k channelKeys
	l.decode(layers{s}, &k)
	name := l.channelName(s, k.Name, seen)
	c := Channel{Name: name, Type: k.Type}
	switch {
	case k.Type == "" && s.tree.kids["type"] == nil:
		l.rep.fail(s.at("type"), s.key("type"), "is missing", "use one of: "+strings.Join(channelTypeNames(), ", "))
		return
	case k.Type == "":
		return // of a wrong type, reported
	case k.Type == typeSlack:
		c.Slack = l.slackOptions(s)
		c.Slack.Name = name
	case k.Type == typeAlertmanager:
		c.Alertmanager = l.alertmanagerOptions(s, &k)
	case k.Type == typePagerDuty:
		c.PagerDuty = l.pagerDutyOptions(s, &k)
	case slices.Contains(webhook.Formats(), webhook.Format(k.Type)):
		c.Webhook = l.webhookOptions(s, &k)
	default:
		l.oneOf(layers{s}, "type", k.Type, channelTypeNames()...)
		return
	}
	if name != "" {
		l.cfg.Channels = append(l.cfg.Channels, c)
	}
}

// channelName checks the name of a channel; it is "" where it cannot be used.
func (l *loader) channelName(s section, name string, seen map[string]place) string {
	at, key := s.at("name"), s.key("name")
	have, twice := seen[name]
	switch {
	case name == "" && !s.has("name") && s.tree.kids["name"] != nil: // of a wrong type, reported
	case name == "":
		l.rep.fail(at, key, "is missing", `give it a name: name = "…"`)
	case !namePattern.MatchString(name):
		l.rep.fail(at, key, fmt.Sprintf("%q is not a name", name), "use 1 to 63 of a-z 0-9 . _ - with a letter or digit in front")
	case twice:
		l.rep.fail(at, key, fmt.Sprintf("%q is the name of another channel at %s", name, have), "rename one: routes and the outbox know channels by name")
	default:
		seen[name] = at
		return name
	}
	return ""
}

// need reports a credential that is missing.
func (l *loader) need(s section, name string, c credential, fix string) {
	for _, key := range credentialKeys(name) {
		if s.tree.kids[key] != nil {
			return // given, or of a wrong type and reported
		}
	}
	if c == (credential{}) {
		l.rep.fail(s.at(""), s.key(name+"_env"), "is missing", fix)
	}
}

func (l *loader) webhookOptions(s section, k *channelKeys) *webhook.Options {
	from := layers{s}
	o := &webhook.Options{Name: k.Name, Format: webhook.Format(k.Type), Mention: k.Mention, ChatID: k.ChatID, APIURL: k.APIURL, Headers: k.Headers}
	if o.Format == webhook.Telegram {
		l.need(s, "bot_token", k.bot(), "name the environment variable with the token from @BotFather")
		o.URL = l.secret(from, "bot_token", k.bot())
		if o.ChatID == "" && s.tree.kids["chat_id"] == nil {
			l.rep.fail(s.at("chat_id"), s.key("chat_id"), "is missing", `name the chat: chat_id = "-1001234567890", or "@name" of a public channel`)
		}
		if o.APIURL != "" {
			l.httpURL(from, "api_url", o.APIURL)
		}
		return o
	}
	l.need(s, "webhook_url", k.webhook(), "name the environment variable with the URL (a URL of this kind is a secret)")
	o.URL = l.secret(from, "webhook_url", k.webhook())
	l.checkHookURL(s, o.URL)
	o.Secret = l.secret(from, "secret", k.secret())
	o.Hidden = l.channelHeaders(s, k)
	return o
}

// checkHookURL looks at the shape of a webhook's URL, which no message shows, and has its secret parts hidden.
func (l *loader) checkHookURL(s section, secret probe.Secret) {
	v, err := secret.Reveal()
	if secret.IsZero() || err != nil {
		return // reported
	}
	at, key := l.firstOf(layers{s}, credentialKeys("webhook_url"), "webhook_url")
	u, err := url.Parse(v)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "" {
		l.rep.fail(at, key, "does not hold a URL", "put https://host/path into it, without anything else")
		return
	}
	if u.Scheme == "http" && !privateHost(u.Hostname()) {
		l.rep.warn(at, key, "sends the messages without encryption", "use https://")
	}
	l.learnPassword("the webhook's URL", u)
	for _, part := range append(strings.Split(u.Path, "/"), queryValues(u)...) {
		if len(part) >= 16 { // a token; shorter words are names
			l.learnWords("webhook URL", part)
		}
	}
}

func queryValues(u *url.URL) []string {
	var list []string
	for _, values := range u.Query() {
		list = append(list, values...)
	}
	return list
}

// channelHeaders checks the headers of a webhook and returns those whose values are secret.
func (l *loader) channelHeaders(s section, k *channelKeys) map[string]webhook.Credential {
	for _, name := range sortedKeys(k.Headers) {
		if !l.channelHeader(s, "headers", name) {
			continue
		}
		if !validHeaderValue(k.Headers[name]) {
			l.rep.fail(s.at("headers"), s.key("headers")+"."+name, "holds a control character", "write the value on one line")
		}
		if secretHeader(name) && !l.plain {
			l.rep.fail(s.at("headers"), s.key("headers")+"."+name, "is a secret in the config itself", fmt.Sprintf("use headers_env = { %q = \"VARIABLE\" } (or allow_plain_secrets = true at the top of the file)", name))
		} else if secretHeader(name) {
			l.learnWords("header "+name, k.Headers[name])
		}
	}
	hidden := map[string]webhook.Credential{}
	for _, name := range sortedKeys(k.HeadersEnv) {
		if !l.channelHeader(s, "headers_env", name) || l.opt.NoSecrets {
			continue
		}
		if secret, ok := l.headerSecret(s, name, k.HeadersEnv[name]); ok {
			hidden[name] = secret
		}
	}
	return hidden
}

func (l *loader) headerSecret(s section, name, variable string) (webhook.Credential, bool) {
	at, key := s.at("headers_env"), s.key("headers_env")+"."+name
	if !variableName(variable) || secretPrefix(variable) {
		l.rep.fail(at, key, "looks like the secret itself", "write the name of an environment variable")
		return webhook.Credential{}, false
	}
	label := "environment variable " + variable
	words := strings.Fields(os.Getenv(variable))
	switch {
	case len(words) == 0:
		l.rep.fail(at, key, label+" is not set", "set it in serin's environment to the header's value")
		return webhook.Credential{}, false
	case len(words) > 2:
		l.rep.fail(at, key, label+" holds more than two words", `set it to a bare value, or to a scheme and a value such as "Bearer abc"`)
		return webhook.Credential{}, false
	}
	secret, err := probe.SecretFromValue(label, words[len(words)-1])
	secret = l.known(at, key, secret, err, "set it to one line")
	return webhook.Credential{Scheme: strings.Join(words[:len(words)-1], ""), Value: secret}, err == nil
}

func (l *loader) channelHeader(s section, table, name string) bool {
	at, key := s.at(table), s.key(table)+"."+name
	if !validHeaderName(name) {
		l.rep.fail(at, s.key(table), fmt.Sprintf("%q is not a header name", name), "use letters, digits and -")
		return false
	}
	switch n := strings.ToLower(name); {
	case slices.Contains([]string{"content-length", "transfer-encoding", "host", "connection", "content-type", "idempotency-key", "user-agent"}, n),
		strings.HasPrefix(n, "serin-"):
		l.rep.fail(at, key, "is a header that serin sets itself", "remove it")
		return false
	}
	return true
}

func (l *loader) alertmanagerOptions(s section, k *channelKeys) *alertmanager.Options {
	from := layers{s}
	if len(k.URLs) == 0 && (s.has("urls") || s.tree.kids["urls"] == nil) {
		l.rep.fail(s.at("urls"), s.key("urls"), "names no Alertmanager", `name every peer: urls = ["http://alertmanager:9093"]`)
	}
	for i, raw := range k.URLs {
		u := l.httpURL(from, "urls", raw)
		if u != nil && u.RawQuery != "" {
			l.rep.fail(s.at("urls"), s.key("urls"), "holds a ?query", "write the address alone: /api/v2/alerts is added")
		}
		if u != nil && u.Scheme == "http" && !privateHost(u.Hostname()) {
			l.rep.warn(s.at("urls"), s.key("urls"), "sends the alerts without encryption", "use https://")
		}
		if slices.Contains(k.URLs[:i], raw) {
			l.rep.fail(s.at("urls"), s.key("urls"), fmt.Sprintf("names %q twice", raw), "remove one")
		}
	}
	for _, name := range sortedKeys(k.Labels) {
		if !labelPattern.MatchString(name) || slices.Contains([]string{"alertname", "severity", "target", "scene", "size", "kind", "instance", "region", "incident"}, name) {
			l.rep.fail(s.at("labels"), s.key("labels")+"."+name, "cannot be a label here", "use letters, digits and _, and no name that serin sets itself")
		}
	}
	return &alertmanager.Options{Name: k.Name, URLs: k.URLs, Labels: k.Labels, Token: l.secret(from, "token", k.token())}
}

func (l *loader) pagerDutyOptions(s section, k *channelKeys) *pagerduty.Options {
	l.need(s, "routing_key", k.routingKey(), "name the environment variable with the integration key (Events API v2) of the service")
	o := &pagerduty.Options{Name: k.Name, RoutingKey: l.secret(layers{s}, "routing_key", k.routingKey()), APIURL: k.APIURL}
	if o.APIURL != "" {
		l.httpURL(layers{s}, "api_url", o.APIURL)
	}
	return o
}
