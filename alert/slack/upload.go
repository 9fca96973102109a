package slack

import (
	"bytes"
	"context"
	"net/http"
	"net/url"

	api "github.com/slack-go/slack"

	"serin/alert"
)

var _ alert.Illustrator = (*Channel)(nil)

// Pictures reports whether threads get charts, and whether dark ones: only by bot token.
func (c *Channel) Pictures() (wanted, dark bool) {
	return c.bot() && c.opt.Chart != "", c.opt.Chart == ChartDark
}

// Illustrate uploads a picture into the thread of a message. It takes the scope files:write. Errors are *alert.SendError
// and hold no token.
func (c *Channel) Illustrate(ctx context.Context, at alert.Receipt, name, title string, png []byte) error {
	b, err := c.dial()
	if err != nil {
		return err
	}
	place, err := b.api.GetUploadURLExternalContext(ctx, api.GetUploadURLExternalParameters{FileName: name, FileSize: len(png), AltTxt: title})
	if err != nil {
		return b.doer.classify(err)
	}
	if err := b.put(ctx, c.opt.APIURL, place.UploadURL, png); err != nil {
		return err
	}
	_, err = b.api.CompleteUploadExternalContext(ctx, api.CompleteUploadExternalParameters{Files: []api.FileSummary{{ID: place.FileID, Title: title}},
		Channel: at.Channel, ThreadTimestamp: at.TS})
	return b.doer.classify(err)
}

// put sends the bytes to where Slack wants them. The URL itself is the permission: the token does not go there, and the
// bytes only to where they are read by nobody else, or to where the calls go.
func (b *bot) put(ctx context.Context, base, target string, png []byte) error {
	u, err := url.Parse(target)
	if own, e := url.Parse(base); err != nil || e != nil || u.Host == "" || u.Scheme != "https" && u.Host != own.Host {
		return &alert.SendError{Code: "odd upload URL", Fix: "check that api_url and the proxy lead to Slack"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(png))
	if err != nil { // its text would hold the URL
		return &alert.SendError{Code: "odd upload URL"}
	}
	req.Header.Set("Content-Type", "image/png")
	hidden := &doer{client: b.doer.client, hide: target}
	_, err = hidden.roundTrip(req)
	return hidden.classify(err)
}
