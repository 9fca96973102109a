// Package post makes the HTTP calls of channels: bounded in time and size, without redirects, with every failure as an
// *alert.SendError that holds no secret.
package post

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"serin/alert"
	"serin/probe/secret"
)

// Bounds of a channel's call.
const (
	timeout       = 10 * time.Second
	maxHeader     = 64 << 10
	maxBody       = 1 << 20
	maxRetryAfter = time.Hour // a longer one is shortened to this
	maxQuote      = 200       // characters of an answer in an error
)

// Client makes calls. It is safe for concurrent use.
type Client struct{ http *http.Client }

// New returns a Client. The proxy comes from the environment. Settings change how it connects.
func New(settings ...func(*http.Transport)) *Client { return &Client{http: HTTPClient(settings...)} }

// HTTPClient returns what a Client calls with, for a channel whose library makes the calls: each has 10 s, its headers are
// bounded, and no redirect is followed, so that no URL leaves for another host.
func HTTPClient(settings ...func(*http.Transport)) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.IdleConnTimeout, transport.MaxResponseHeaderBytes = 4, 30*time.Second, maxHeader
	for _, set := range settings {
		set(transport)
	}
	return &http.Client{Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Request is one call: a JSON body for a URL. Hide lists the secrets in it; where the URL is one it is among them.
type Request struct {
	URL    string
	Header http.Header
	Body   []byte
	Hide   []string
}

// Response is what came back.
type Response struct {
	Status int
	Header http.Header
	Body   []byte // at most 1 MiB
}

// Do makes one call.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil || req.URL.Host == "" { // its text would hold the URL
		return Response{}, &alert.SendError{Code: "bad URL", Fix: "write https://host/path where the config has this channel's URL"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "serin")
	for name, values := range r.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	answer, err := Call(c.http, req, r.hidden)
	switch {
	case answer.Status/100 == 2:
		return answer, nil // taken, even where its body was cut
	case answer.Status == 0:
		return Response{}, err
	}
	return Response{}, r.refused(answer)
}

// Call makes one call and returns its answer, whatever the status. An answer that was cut comes with the error of it. Every
// error is an *alert.SendError to be tried again; hide takes the secrets out of its text.
func Call(client *http.Client, req *http.Request, hide func(string) string) (Response, error) {
	var wrote atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }}
	resp, err := client.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return Response{}, unreached(err, wrote.Load(), hide)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		err = unreached(err, true, hide)
	}
	return Response{resp.StatusCode, resp.Header, body}, err
}

// unreached returns what a call without a whole answer is. lost says that the request may have arrived.
func unreached(err error, lost bool, hide func(string) string) error {
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
	return &alert.SendError{Code: word, Retryable: true, Lost: lost, Err: errors.New(hide(err.Error()))}
}

// refused is any other status than a 2xx.
func (r Request) refused(a Response) error {
	e := &alert.SendError{Code: "http " + strconv.Itoa(a.Status), Err: r.Quote(a.Body)}
	wait, asked := RetryAfter(a.Header)
	switch code := a.Status; {
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

// Quote returns the beginning of an answer as an error without secrets, nil where it is empty.
func (r Request) Quote(body []byte) error {
	text := alert.OneLine(r.hidden(alert.Clean(string(body))), maxQuote)
	if text == "" {
		return nil
	}
	return fmt.Errorf("%q", text)
}

// hidden takes the secrets out of a text.
func (r Request) hidden(text string) string {
	var known secret.Redactor
	known.Know(r.Hide...)
	return known.Redact(text)
}

// RetryAfter reads Retry-After, in seconds or as a date held against the answer's own Date, at most an hour. ok is false
// where it is missing or odd.
func RetryAfter(h http.Header) (wait time.Duration, ok bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 {
		return time.Duration(min(n, maxRetryAfter.Seconds()) * float64(time.Second)), true
	}
	at, err := http.ParseTime(value)
	now, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil || !at.After(now) {
		return 0, false
	}
	return min(at.Sub(now), maxRetryAfter), true
}

// Findings turns what a test message came to into what it says about the channel.
func Findings(what string, err error) []alert.Finding {
	if err == nil {
		return []alert.Finding{{OK: true, What: what + ": test message delivered"}}
	}
	f := alert.Finding{What: what + ": " + err.Error()}
	if e, ok := errors.AsType[*alert.SendError](err); ok {
		bare := *e
		bare.Fix = ""
		f = alert.Finding{What: what + ": " + bare.Error(), Fix: e.Fix}
		if e.Limited {
			f.Fix = "wait " + cmp.Or(e.RetryAfter, time.Minute).String() + " and try again"
		}
	}
	return []alert.Finding{f}
}
