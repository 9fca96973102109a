package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"serin/alert"
)

// sendWebhook posts a notice to the incoming webhook. What Slack refuses for its form is sent once more as plain text.
func (c *Channel) sendWebhook(ctx context.Context, n alert.Notice) error {
	target, err := c.opt.WebhookURL.Reveal()
	if err != nil {
		return &alert.SendError{Code: "no webhook URL", Fix: "check " + c.opt.WebhookURL.Label(), Err: err}
	}
	m := n.Message
	m.Headline = n.Alone().Headline
	p := whole(m, c.mentionFor(n))
	err = c.postWebhook(ctx, target, p)
	if badForm(err) {
		return c.postWebhook(ctx, target, p.plain())
	}
	return err
}

// postWebhook posts once. slack-go's own call drops the body of an answer, where Slack says what is wrong.
func (c *Channel) postWebhook(ctx context.Context, target string, p payload) error {
	body, err := json.Marshal(map[string]any{"text": p.text, "blocks": p.blocks, "unfurl_links": false, "unfurl_media": false})
	if p.blocks == nil {
		body, err = json.Marshal(map[string]any{"text": p.text, "unfurl_links": false, "unfurl_media": false})
	}
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil { // its text would hold the URL
		return &alert.SendError{Code: "bad webhook URL", Fix: "copy it again from Slack's app page to " + c.opt.WebhookURL.Label()}
	}
	req.Header.Set("Content-Type", "application/json")
	d := &doer{client: c.client, hide: target}
	answer, err := d.roundTrip(req)
	if err != nil {
		return d.classify(err)
	}
	if text := strings.TrimSpace(string(answer.Body)); text != "ok" {
		return d.classify(webhookAnswer(d.hidden(text)))
	}
	return nil
}

// webhookAnswer is what a 200 that does not say ok may be: a JSON answer of a proxy or of the Web API, or another word.
func webhookAnswer(text string) error {
	var a struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(text), &a) != nil {
		return &alert.SendError{Code: "odd answer", Fix: "check that the webhook URL is Slack's", Err: fmt.Errorf("%q", cut(alert.Clean(text), 100))}
	}
	if a.OK {
		return nil
	}
	return refusal(a.Error)
}
