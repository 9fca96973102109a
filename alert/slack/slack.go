package slack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	api "github.com/slack-go/slack"

	"serin/alert"
	"serin/alert/post"
)

// Name is the name that a channel has in config, metrics and the outbox where its options give none.
const Name = "slack"

// Channel sends notices to Slack. It is safe for concurrent use.
type Channel struct {
	opt    Options
	client *http.Client
}

var (
	_ alert.Channel = (*Channel)(nil)
	_ alert.Tester  = (*Channel)(nil)
)

// WithDial has connections made by dial in place of the network.
func WithDial(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(*http.Transport) {
	return func(t *http.Transport) { t.DialContext, t.Proxy = dial, nil }
}

// New returns a channel. It makes no call. The proxy comes from the environment.
func New(o Options, settings ...func(*http.Transport)) (*Channel, error) {
	switch {
	case o.WebhookURL.IsZero() && o.BotToken.IsZero():
		return nil, errors.New("slack needs webhook_url_env, or bot_token_env with channel")
	case !o.BotToken.IsZero() && o.Channel == "":
		return nil, errors.New("slack with a bot token needs channel, the id or #name to post to")
	}
	if o.APIURL == "" {
		o.APIURL = api.APIURL
	}
	if o.Name == "" {
		o.Name = Name
	}
	if u, err := url.Parse(o.APIURL); err != nil || u.Host == "" {
		return nil, errors.New("slack api_url is not a URL; the default is " + api.APIURL)
	}
	o.APIURL = strings.TrimRight(o.APIURL, "/") + "/" // slack-go appends the method as it is
	o.Mention = mention(o.Mention)
	return &Channel{opt: o, client: post.HTTPClient(settings...)}, nil
}

// Name returns the channel's name.
func (c *Channel) Name() string { return c.opt.Name }

// bot reports whether messages go by bot token: it edits and answers in threads.
func (c *Channel) bot() bool { return !c.opt.BotToken.IsZero() }

// Skips reports what Slack is never sent: info where no info_channel is set (a note goes where the others go then), and by
// webhook, which returns no message id, what pages nobody.
func (c *Channel) Skips(n alert.Notice) bool {
	switch {
	case n.Act == alert.ActTest || n.Act == alert.ActNote:
		return false
	case n.Message.Severity == alert.Info && (!c.bot() || c.opt.InfoChannel == ""):
		return true
	}
	return !c.bot() && n.SkipsUnpaged()
}

// Send sends one notice: by bot token it posts, edits or answers in the thread, by webhook it posts. Errors are
// *alert.SendError and hold neither token nor webhook URL.
func (c *Channel) Send(ctx context.Context, n alert.Notice, open alert.Receipt) (alert.Receipt, error) {
	if !c.bot() {
		return alert.Receipt{}, c.sendWebhook(ctx, n)
	}
	b, err := c.dial()
	if err != nil {
		return alert.Receipt{}, err
	}
	switch {
	case open == alert.Receipt{}:
		return b.post(ctx, c.room(n), "", whole(n.Message, c.mentionFor(n)))
	case n.Act == alert.ActUpdate:
		return open, b.update(ctx, open, n.Message)
	case n.Act == alert.ActThread:
		return b.reply(ctx, open, line(n.Message, c.mentionFor(n)))
	case n.Act == alert.ActReopen:
		return b.reopen(ctx, open, n.Message, c.mentionFor(n))
	case n.Act == alert.ActResolve:
		return b.resolve(ctx, open, n.Message)
	}
	return b.post(ctx, c.room(n), "", whole(n.Message, c.mentionFor(n)))
}

// room returns where a new message goes.
func (c *Channel) room(n alert.Notice) string {
	if n.Message.Severity == alert.Info && n.Act != alert.ActTest && c.opt.InfoChannel != "" {
		return c.opt.InfoChannel
	}
	return c.opt.Channel
}

// mentionFor returns whom a notice calls: never in an edit.
func (c *Channel) mentionFor(n alert.Notice) string {
	if n.Calls() {
		return c.opt.Mention
	}
	return ""
}

// dial returns a client with the token as it is now: a token file may have changed.
func (c *Channel) dial() (*bot, error) {
	token, err := c.opt.BotToken.Reveal()
	if err != nil {
		return nil, &alert.SendError{Code: "no token", Fix: "check " + c.opt.BotToken.Label(), Err: err}
	}
	d := &doer{client: c.client, hide: token}
	return &bot{doer: d, api: api.New(token, api.OptionAPIURL(c.opt.APIURL), api.OptionHTTPClient(d))}, nil
}

// mention makes what people write into what Slack needs: @here → <!here>, U0123 → <@U0123>.
func mention(text string) string {
	text = strings.TrimSpace(text)
	switch bare := strings.TrimPrefix(text, "@"); {
	case text == "" || strings.HasPrefix(text, "<"):
		return text
	case bare == "here" || bare == "channel" || bare == "everyone":
		return "<!" + bare + ">"
	case strings.HasPrefix(bare, "S0"):
		return "<!subteam^" + bare + ">"
	case strings.HasPrefix(bare, "U") || strings.HasPrefix(bare, "W"):
		return fmt.Sprintf("<@%s>", bare)
	}
	return text
}
