package slack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	api "github.com/slack-go/slack"

	"serin/alert"
	"serin/alert/post"
	"serin/probe/secret"
)

// Bounds of an answer.
const (
	maxAnswer     = 1 << 20
	maxRetryAfter = time.Hour // more is taken for odd, and shortened to this
	defaultWait   = time.Minute
)

// doer makes the calls of one client and turns everything but a 200 into an *alert.SendError, so that no answer's body
// is lost and no error holds the secret.
type doer struct {
	client *http.Client
	hide   string // the token or the webhook URL
}

// answer is a 200.
type answer struct {
	header http.Header
	body   []byte
}

// Do is what slack-go calls. From an answer of the Web API it takes the copy of the message, which Slack may shape as it
// likes: a copy that cannot be read would make a message that was taken look like one that was not.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	a, err := d.roundTrip(req)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(a.body, &fields) != nil || fields["ok"] == nil {
		return nil, &alert.SendError{Code: "odd answer", Retryable: true, Lost: true,
			Fix: "check that api_url and the proxy lead to Slack", Err: fmt.Errorf("%q", cut(d.hidden(alert.Clean(string(a.body))), 100))}
	}
	delete(fields, "message")
	if body, err := json.Marshal(fields); err == nil {
		a.body = body
	}
	a.header.Set("Content-Type", "application/json")
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), Request: req}, nil
}

// roundTrip makes one call and returns its 200, or what else came as *alert.SendError.
func (d *doer) roundTrip(req *http.Request) (answer, error) {
	var wrote atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }}
	resp, err := d.client.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return answer{}, post.Unreached(err, wrote.Load(), d.hidden)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return answer{}, post.Unreached(err, true, d.hidden)
	}
	if resp.StatusCode != http.StatusOK {
		return answer{}, statusError(resp, []byte(d.hidden(string(body))))
	}
	return answer{header: resp.Header, body: body}, nil
}

// hidden takes the secret out of a text.
func (d *doer) hidden(text string) string {
	var r secret.Redactor
	r.Know(d.hide)
	return r.Redact(text)
}

// statusError is any other status than 200. A webhook says its word in the body, the Web API sometimes too.
func statusError(resp *http.Response, body []byte) error {
	word := answerWord(body)
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return limited(retryAfter(resp.Header.Get("Retry-After")))
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusRequestTimeout:
		return &alert.SendError{Code: "http " + strconv.Itoa(resp.StatusCode), Retryable: true, Err: worded(word)}
	case word != "" && known(word):
		return refusal(word)
	case resp.StatusCode/100 == 3:
		return &alert.SendError{Code: "http " + strconv.Itoa(resp.StatusCode), Fix: "redirects are not followed: check the URL and the proxy"}
	}
	return &alert.SendError{Code: "http " + strconv.Itoa(resp.StatusCode), Fix: "check the URL, the proxy and the app's settings", Err: worded(word)}
}

// answerWord returns the error word of a body, JSON or bare, shortened.
func answerWord(body []byte) string {
	var a struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &a) == nil && a.Error != "" {
		return cut(alert.Clean(a.Error), 100)
	}
	return cut(alert.Clean(string(body)), 100)
}

func worded(word string) error {
	if word == "" {
		return nil
	}
	return fmt.Errorf("%q", word)
}

// retryAfter reads seconds; missing or odd is a minute.
func retryAfter(value string) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(n > 0) {
		return defaultWait
	}
	return time.Duration(min(n, maxRetryAfter.Seconds()) * float64(time.Second))
}

// classify turns an error of slack-go or of this package into an *alert.SendError.
func (d *doer) classify(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*alert.SendError](err); ok {
		return e
	}
	if e, ok := errors.AsType[api.SlackErrorResponse](err); ok {
		r := refusal(e.Err)
		if e.Needed != "" {
			r.Fix = fmt.Sprintf("add the scope %s to the app and install it anew", cut(alert.Clean(e.Needed), 100))
		}
		return r
	}
	return &alert.SendError{Code: "odd answer", Retryable: true, Lost: true, Err: errors.New(d.hidden(err.Error()))}
}
