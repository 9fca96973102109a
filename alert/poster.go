package alert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// Bounds of a channel's call.
const (
	postLimit   = 10 * time.Second
	maxReply    = 1 << 20
	longestAsk  = time.Hour // a longer Retry-After is shortened to this
	maxReplyCut = 200       // characters of a reply in an error
)

// Poster makes the calls of channels that speak HTTP: bounded in time and size, without redirects, with everything but a
// 2xx as a *SendError in which no secret stands. It is safe for concurrent use.
type Poster struct{ client *http.Client }

// NewPoster returns a Poster. The proxy comes from the environment. Settings change how it connects.
func NewPoster(settings ...func(*http.Transport)) *Poster {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.IdleConnTimeout = 4, 30*time.Second
	for _, set := range settings {
		set(transport)
	}
	return &Poster{client: &http.Client{Transport: transport, Timeout: postLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Post is one call: a JSON body for a URL. Hide lists the secrets in it; where the URL is one it is among them.
type Post struct {
	URL    string
	Header http.Header
	Body   []byte
	Hide   []string
}

// Reply is a 2xx.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte // at most 1 MiB
}

// Do makes one call.
func (p *Poster) Do(ctx context.Context, post Post) (Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, post.URL, bytes.NewReader(post.Body))
	if err != nil || req.URL.Host == "" { // its text would hold the URL
		return Reply{}, &SendError{Code: "bad URL", Fix: "write https://host/path where the config has this channel's URL"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "serin")
	for name, values := range post.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	var wrote atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }}
	resp, err := p.client.Do(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil {
		return Reply{}, Unreached(err, wrote.Load(), post.hidden)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if resp.StatusCode/100 == 2 {
		return Reply{resp.StatusCode, resp.Header, body}, nil // taken, even where its body was cut
	}
	if err != nil {
		body = nil
	}
	return Reply{}, post.refused(resp, body)
}

// Unreached returns what a call without an answer is: a *SendError to be tried again. lost says that the request may have
// arrived; hide takes the secrets out of its text.
func Unreached(err error, lost bool, hide func(string) string) error {
	word := "connect"
	if lost {
		word = "cut"
	}
	if t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && t.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		word = "timeout"
	}
	if u, ok := errors.AsType[*url.Error](err); ok { // its text holds the URL
		err = u.Err
	}
	return &SendError{Code: word, Retryable: true, Lost: lost, Err: errors.New(hide(err.Error()))}
}

// refused is any other status than a 2xx.
func (p Post) refused(resp *http.Response, body []byte) error {
	e := &SendError{Code: "http " + strconv.Itoa(resp.StatusCode), Err: p.Quote(body)}
	wait, asked := RetryAfter(resp.Header)
	switch code := resp.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable && asked:
		e.Retryable, e.Limited, e.RetryAfter = true, true, wait
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly:
		e.Retryable = true
	case code/100 == 3:
		e.Fix = "redirects are not followed: write the URL that it leads to"
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		e.Fix = "check the channel's secret and headers"
	case code == http.StatusNotFound, code == http.StatusGone, code == http.StatusMethodNotAllowed:
		e.Fix = "check the channel's URL"
	default:
		e.Fix = "check what the receiver says about the request"
	}
	return e
}

// Quote returns the beginning of a reply as an error without secrets, nil where it is empty.
func (p Post) Quote(body []byte) error {
	text := oneLine(p.hidden(Clean(string(body))), maxReplyCut)
	if text == "" {
		return nil
	}
	return fmt.Errorf("%q", text)
}

// Clean makes foreign text one line of valid UTF-8 without control and direction characters, which could hide or turn round
// what stands beside them.
func Clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d': // the joiner belongs to emoji
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�")))
}

// hidden takes the secrets out of a text.
func (p Post) hidden(text string) string {
	for _, secret := range p.Hide {
		if secret == "" {
			continue
		}
		forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(strconv.Quote(secret), `"`)}
		if u, err := url.Parse(secret); err == nil && u.Host != "" && len(u.RequestURI()) > 1 {
			forms = append(forms, u.RequestURI(), strings.TrimPrefix(u.RequestURI(), "/"))
			forms = append(forms, secretParts(u)...)
		}
		for _, form := range forms {
			text = strings.ReplaceAll(text, form, "***")
		}
	}
	return text
}

// secretParts are the parts of a secret URL that are long enough for a token; a reply may name one alone.
func secretParts(u *url.URL) []string {
	parts := strings.Split(u.Path, "/")
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	return slices.DeleteFunc(parts, func(p string) bool { return len(p) < 8 })
}

// RetryAfter reads Retry-After, in seconds or as a date held against the answer's own Date, at most an hour. ok is false
// where it is missing or odd.
func RetryAfter(h http.Header) (wait time.Duration, ok bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 {
		return time.Duration(min(n, longestAsk.Seconds()) * float64(time.Second)), true
	}
	at, err := http.ParseTime(value)
	now, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil || !at.After(now) {
		return 0, false
	}
	return min(at.Sub(now), longestAsk), true
}

// Findings turns what a test message came to into what it says about the channel.
func Findings(what string, err error) []Finding {
	if err == nil {
		return []Finding{{OK: true, What: what + ": took a test message"}}
	}
	f := Finding{What: what + ": " + err.Error()}
	if e, ok := errors.AsType[*SendError](err); ok {
		bare := *e
		bare.Fix = ""
		f = Finding{What: what + ": " + bare.Error(), Fix: e.Fix}
		if e.Limited {
			f.Fix = "wait " + max(e.RetryAfter, time.Minute).String() + " and try again"
		}
	}
	return []Finding{f}
}
