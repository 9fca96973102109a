package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/post"
)

// telegramAPI is where Telegram's bots live.
const telegramAPI = "https://api.telegram.org"

// Channel posts notices to one URL. It is safe for concurrent use.
type Channel struct {
	opt  Options
	post *post.Client
	now  func() time.Time
}

var (
	_ alert.Channel = (*Channel)(nil)
	_ alert.Tester  = (*Channel)(nil)
)

// New returns a channel. It makes no call. Settings change how it connects.
func New(o Options, settings ...func(*http.Transport)) (*Channel, error) {
	switch {
	case o.Name == "":
		return nil, errors.New("a webhook channel needs a name")
	case !slices.Contains(Formats(), o.Format):
		return nil, fmt.Errorf("%q is not a format of a webhook", o.Format)
	case o.URL.IsZero():
		return nil, errors.New("a webhook channel needs its URL, of Telegram the bot token")
	case o.Format == Telegram && o.ChatID == "":
		return nil, errors.New("telegram needs chat_id, the chat to post to")
	}
	if o.APIURL == "" {
		o.APIURL = telegramAPI
	}
	o.APIURL = strings.TrimRight(o.APIURL, "/")
	return &Channel{opt: o, post: post.New(settings...), now: time.Now}, nil
}

// Name returns the channel's name.
func (c *Channel) Name() string { return c.opt.Name }

// Skips reports what is never sent to a chat robot, which can neither edit nor answer in a thread.
func (c *Channel) Skips(n alert.Notice) bool { return c.opt.Format != JSON && n.SkipsUnpaged() }

// draft is one call as it is being written.
type draft struct {
	url    string
	header http.Header
	body   []byte
	fields map[string]any // of a robot's body that can still be added to
}

// Send posts one notice. There is no receipt. Errors are *alert.SendError and hold no secret.
func (c *Channel) Send(ctx context.Context, n alert.Notice, _ alert.Receipt) (alert.Receipt, error) {
	target, secret, hide, err := c.secrets()
	if err != nil {
		return alert.Receipt{}, err
	}
	d := &draft{url: target, header: c.headers()}
	if d.body, err = c.write(n, d, secret); err != nil {
		return alert.Receipt{}, fmt.Errorf("encode notice: %w", err)
	}
	reply, err := c.post.Do(ctx, post.Request{URL: d.url, Header: d.header, Body: d.body, Hide: append(hide, d.url)})
	if err != nil {
		if c.opt.Format == Telegram {
			err = telegramRefusal(err)
		}
		return alert.Receipt{}, err
	}
	if answer := dialects()[c.opt.Format].answer; answer != nil {
		err = answer(reply.Body)
	}
	return alert.Receipt{}, err
}

// write encodes a notice in the channel's format and signs it.
func (c *Channel) write(n alert.Notice, d *draft, secret string) ([]byte, error) {
	unix := c.now().Unix()
	if c.opt.Format == JSON {
		body, err := encode(documentOf(n))
		d.header.Set("Idempotency-Key", key(n))
		if secret != "" {
			signJSON(secret, unix, body, d.header)
		}
		return body, err
	}
	how := dialects()[c.opt.Format]
	payload, err := how.write(c, n.Alone(), c.mentionFor(n))
	if err != nil {
		return nil, err
	}
	if d.fields, _ = payload.(map[string]any); how.sign != nil && secret != "" {
		how.sign(secret, unix, d)
	}
	return encode(payload)
}

// encode writes JSON with <, > and & as they are: escaped they take six times the room.
func encode(payload any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(payload)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// secrets reads the URL and the signing secret as they are now: their files may have changed.
func (c *Channel) secrets() (target, secret string, hide []string, err error) {
	target, err = c.opt.URL.Reveal()
	if err == nil {
		secret, err = c.opt.Secret.Reveal()
	}
	if err != nil {
		return "", "", nil, &alert.SendError{Code: "no secret", Fix: "check " + c.opt.URL.Label() + " and " + c.opt.Secret.Label(), Err: err}
	}
	hide = []string{target, secret}
	for _, h := range c.opt.Hidden {
		value, err := h.Value.Reveal()
		if err != nil {
			return "", "", nil, &alert.SendError{Code: "no secret", Fix: "check " + h.Value.Label(), Err: err}
		}
		hide = append(hide, value)
	}
	if c.opt.Format == Telegram {
		target = c.opt.APIURL + "/bot" + target + "/sendMessage"
	}
	return target, secret, hide, nil
}

// headers returns the configured headers.
func (c *Channel) headers() http.Header {
	h := http.Header{}
	for name, value := range c.opt.Headers {
		h.Set(name, value)
	}
	for name, hidden := range c.opt.Hidden {
		value, _ := hidden.Value.Reveal() // secrets has read it a moment ago
		h.Set(name, strings.TrimSpace(hidden.Scheme+" "+value))
	}
	return h
}

// mentionFor returns whom a notice calls: at the first firing, at an escalation and when it fires again.
func (c *Channel) mentionFor(n alert.Notice) string {
	if n.Calls() {
		return c.opt.Mention
	}
	return ""
}

// Test posts a test message.
func (c *Channel) Test(ctx context.Context, m alert.Message) ([]alert.Finding, error) {
	now := c.now()
	n := alert.TestNotice(c.opt.Name, m, now)
	n.Incident = fmt.Sprintf("test-%d", now.Unix())
	_, err := c.Send(ctx, n, alert.Receipt{})
	return post.Findings(string(c.opt.Format), err), nil
}
