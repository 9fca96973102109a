package configs

import (
	"cmp"
	"regexp"

	"serin/alert/slack"
)

var mentionPattern = regexp.MustCompile(`^<(!here|!channel|!everyone|@[UW][A-Z0-9]+|!subteam\^S[A-Z0-9]+(\|[^<>|]*)?)>$`)

// slackOptions reads a channel of Slack.
func (l *loader) slackOptions(s section, k slackKeys, name string) *slack.Options {
	o := &k.Options
	o.Name, o.APIURL = name, cmp.Or(o.APIURL, slackAPI)
	o.WebhookURL = s.secretURL("webhook_url", "copy it from Slack's app page: https://hooks.slack.com/services/…")
	o.BotToken = s.secret("bot_token")
	hook, bot := s.gives("webhook_url"), s.gives("bot_token")
	switch {
	case hook && bot:
		s.fail(s.givenAs("bot_token"), "stands beside a webhook", "keep one: a bot token with channel edits and threads, a webhook only posts")
	case !hook && !bot:
		s.fail("", "has neither a webhook nor a bot token", `give webhook_url_env, or bot_token_env and channel`)
	case bot && o.Channel == "" && !s.wrong("channel"):
		s.fail("channel", "is missing", "a bot token needs the channel to post to, best by its id (C…)")
	}
	for _, key := range []string{"channel", "info_channel", "chart"} {
		if hook && s.has(key) {
			s.warn(key, "has no effect with a webhook, which only posts to its own channel", "remove it, or use bot_token_env")
		}
	}
	if o.Chart != "" {
		s.oneOf("chart", o.Chart, slack.ChartLight, slack.ChartDark)
	}
	s.httpURL("api_url", o.APIURL)
	if o.Mention != "" && !mentionPattern.MatchString(o.Mention) {
		s.fail("mention", "is not a mention that Slack knows", "write <!here>, <!channel>, <@U…> or <!subteam^S…>")
	}
	return o
}
