package configs

import (
	"regexp"
	"strings"

	"serin/alert/slack"
	"serin/probe"
)

var mentionPattern = regexp.MustCompile(`^<(!here|!channel|!everyone|@[UW][A-Z0-9]+|!subteam\^S[A-Z0-9]+(\|[^<>|]*)?)>$`)

// resolveSlack reads [slack]; no table, no Slack.
func (l *loader) resolveSlack() {
	s := l.single("slack")
	if s.tree == nil {
		return
	}
	l.cfg.Slack = l.slackOptions(s)
	l.cfg.Slack.Name = slack.Name
	l.cfg.Channels = append(l.cfg.Channels, Channel{Name: slack.Name, Type: typeSlack, Slack: l.cfg.Slack})
}

// slackOptions reads a channel of Slack.
func (l *loader) slackOptions(s section) *slack.Options {
	k := defaultSlack()
	from := layers{s}
	l.decode(from, &k)
	o := &k.Options
	o.WebhookURL = l.secret(from, "webhook_url", k.webhook())
	o.BotToken = l.secret(from, "bot_token", k.bot())
	l.checkWebhook(s, o.WebhookURL)
	hook, bot := k.webhook() != credential{}, k.bot() != credential{}
	switch {
	case hook && bot:
		at, key := l.firstOf(from, credentialKeys("bot_token"), "bot_token")
		l.rep.fail(at, key, "stands beside a webhook", "keep one: a bot token with channel edits and threads, a webhook only posts")
	case !hook && !bot && !l.wronglyTyped(s):
		l.rep.fail(s.at(""), s.path, "has neither a webhook nor a bot token", `give webhook_url_env, or bot_token_env and channel`)
	case bot && o.Channel == "" && !s.wrong("channel"):
		l.rep.fail(s.at("channel"), s.key("channel"), "is missing", "a bot token needs the channel to post to, best by its id (C…)")
	}
	l.checkSlackExtras(s, hook)
	if o.Chart != "" {
		l.oneOf(from, "chart", o.Chart, slack.ChartLight, slack.ChartDark)
	}
	if o.APIURL != "" {
		l.httpURL(from, "api_url", o.APIURL)
	}
	if o.Mention != "" && !mentionPattern.MatchString(o.Mention) {
		l.rep.fail(s.at("mention"), s.key("mention"), "is not a mention that Slack knows", "write <!here>, <!channel>, <@U…> or <!subteam^S…>")
	}
	return o
}

// wronglyTyped reports whether a credential key of the table was left out for its type, which is reported already.
func (l *loader) wronglyTyped(s section) bool {
	for _, name := range []string{"webhook_url", "bot_token"} {
		for _, key := range credentialKeys(name) {
			if s.tree.kids[key] != nil {
				return true
			}
		}
	}
	return false
}

// checkSlackExtras tells what has no effect with a webhook, which posts to its own channel.
func (l *loader) checkSlackExtras(s section, hook bool) {
	for _, key := range []string{"channel", "info_channel", "chart"} {
		if hook && s.has(key) {
			l.rep.warn(s.at(key), s.key(key), "has no effect with a webhook, which only posts to its own channel", "remove it, or use bot_token_env")
		}
	}
}

// checkWebhook looks at the shape of the webhook's URL; a message never shows it.
func (l *loader) checkWebhook(s section, secret probe.Secret) {
	if secret.IsZero() {
		return
	}
	at, key := l.firstOf(layers{s}, credentialKeys("webhook_url"), "webhook_url")
	v, err := secret.Reveal()
	if err != nil {
		l.rep.fail(at, key, err.Error(), "put the bare URL into it")
		return
	}
	u, err := parseWebhook(v)
	if err != nil {
		l.rep.fail(at, key, "does not hold a webhook URL", "copy it from Slack's app page: https://hooks.slack.com/services/…")
		return
	}
	if u.Scheme == "http" && !privateHost(u.Hostname()) {
		l.rep.warn(at, key, "sends the messages without encryption", "use https://")
	}
	// The path is the secret: a log may hold it without the host.
	if path := strings.Trim(u.Path, "/"); len(path) >= 20 {
		l.learnWords("webhook path", path)
	}
}
