package slack

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/post"
)

// Test tries the whole way with a test message: the token and its scopes, each channel, or the webhook. It returns what
// it found in the order of trying; the channel works when all are OK. An error is ours: a secret that cannot be read.
func (c *Channel) Test(ctx context.Context, m alert.Message) ([]alert.Finding, error) {
	source := c.opt.WebhookURL
	if c.bot() {
		source = c.opt.BotToken
	}
	secret, err := source.Reveal()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", source.Label(), err)
	}
	if !c.bot() {
		return []alert.Finding{c.tryPost(ctx, m, "webhook", "")}, nil
	}
	found := tokenKind(secret)
	identity, ok := c.tryAuth(ctx)
	found = append(found, identity...)
	if !ok {
		return found, nil
	}
	found = append(found, c.tryPost(ctx, m, "channel "+c.opt.Channel, c.opt.Channel))
	if c.opt.InfoChannel != "" {
		found = append(found, c.tryPost(ctx, m, "info_channel "+c.opt.InfoChannel, c.opt.InfoChannel))
	}
	return found, nil
}

// scopeFiles is what uploading a chart takes.
const scopeFiles = "files:write"

// tokenKind says when the token is of a kind that cannot post as a bot.
func tokenKind(token string) []alert.Finding {
	kinds := map[string]string{"xapp-": "an app-level token", "xoxp-": "a user token", "xoxe-": "a refresh token", "xoxe.": "a configuration token"}
	for prefix, kind := range kinds {
		if strings.HasPrefix(token, prefix) {
			return []alert.Finding{{What: "the token is " + kind, Fix: "use the bot token (xoxb-…) of the app's page OAuth & Permissions"}}
		}
	}
	return nil
}

// tryAuth says who the token is and what it may do; ok is false when nothing else is worth trying.
func (c *Channel) tryAuth(ctx context.Context) (found []alert.Finding, ok bool) {
	b, err := c.dial()
	if err != nil {
		return post.Findings("token", err), false
	}
	who, err := b.api.AuthTestContext(ctx)
	if err != nil {
		return post.Findings("token", b.doer.classify(err)), false
	}
	found = append(found, alert.Finding{OK: true, What: fmt.Sprintf("token of %s in workspace %s", alert.Clean(who.User), alert.Clean(who.Team))})
	header := who.Header.Get("X-Oauth-Scopes")
	if header == "" {
		return append(found, alert.Finding{OK: true, What: "Slack did not say which scopes the token has"}), true
	}
	scopes := strings.FieldsFunc(alert.Clean(header), func(r rune) bool { return r == ',' || r == ' ' })
	if !slices.Contains(scopes, "chat:write") && !slices.Contains(scopes, "chat:write:bot") {
		return append(found, alert.Finding{What: "the token lacks the scope chat:write (it has " + strings.Join(scopes, ", ") + ")", Fix: fixScope}), true
	}
	found = append(found, alert.Finding{OK: true, What: "scopes " + strings.Join(scopes, ", ")})
	if c.opt.Chart != "" && !slices.Contains(scopes, scopeFiles) {
		found = append(found, alert.Finding{What: "the token lacks the scope " + scopeFiles + ", which chart needs", Fix: "add the scope " + scopeFiles + " to the app and reinstall it, or remove chart"})
	}
	return found, true
}

// tryPost posts a test message, to room by bot token.
func (c *Channel) tryPost(ctx context.Context, m alert.Message, what, room string) alert.Finding {
	to := *c
	to.opt.Channel = room
	n := alert.TestNotice(c.opt.Name, m, time.Now())
	_, err := to.Send(ctx, n, alert.Receipt{})
	return post.Findings(what, err)[0]
}
