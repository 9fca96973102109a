package slack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	api "github.com/slack-go/slack"

	"serin/alert"
	"serin/alert/post"
	"serin/probe/secret"
)

// doer makes the calls of one client and turns everything but a 200 into an *alert.SendError, so that no answer's body
// is lost and no error holds the secret.
type doer struct {
	client *http.Client
	hide   string // the token or the webhook URL
}

// Do is what slack-go calls. From an answer of the Web API it takes the copy of the message, which Slack may shape as it
// likes: a copy that cannot be read would make a message that was taken look like one that was not.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	a, err := d.roundTrip(req)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(a.Body, &fields) != nil || fields["ok"] == nil {
		return nil, &alert.SendError{Code: "odd answer", Retryable: true, Lost: true,
			Fix: "check that api_url and the proxy lead to Slack", Err: fmt.Errorf("%q", cut(d.hidden(alert.Clean(string(a.Body))), 100))}
	}
	delete(fields, "message")
	if body, err := json.Marshal(fields); err == nil {
		a.Body = body
	}
	a.Header.Set("Content-Type", "application/json")
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body)), Request: req}, nil
}

// roundTrip makes one call and returns its 200, or what else came as *alert.SendError.
func (d *doer) roundTrip(req *http.Request) (post.Response, error) {
	a, err := post.Call(d.client, req, d.hidden)
	if err == nil && a.Status != http.StatusOK {
		err = d.statusError(a)
	}
	return a, err
}

// hidden takes the secret out of a text.
func (d *doer) hidden(text string) string {
	var r secret.Redactor
	r.Know(d.hide)
	return r.Redact(text)
}

// statusError is any other status than 200. A webhook says its word in the body, the Web API sometimes too.
func (d *doer) statusError(a post.Response) error {
	word := answerWord(d.hidden(string(a.Body)))
	e := &alert.SendError{Code: "http " + strconv.Itoa(a.Status)}
	if word != "" {
		e.Err = fmt.Errorf("%q", word)
	}
	switch {
	case a.Status == http.StatusTooManyRequests:
		wait, _ := post.RetryAfter(a.Header)
		return limited(wait)
	case a.Status >= 500, a.Status == http.StatusRequestTimeout:
		e.Retryable = true
	case word != "" && known(word):
		return refusal(word)
	case a.Status/100 == 3:
		e.Fix = "redirects are not followed: check the URL and the proxy"
	default:
		e.Fix = "check the URL, the proxy and the app's settings"
	}
	return e
}

// answerWord returns the error word of a body, JSON or bare, shortened.
func answerWord(body string) string {
	var a struct {
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(body), &a) == nil && a.Error != "" {
		body = a.Error
	}
	return cut(alert.Clean(body), 100)
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
			r.Fix = fmt.Sprintf("add the scope %s to the app and reinstall it", cut(alert.Clean(e.Needed), 100))
		}
		return r
	}
	return &alert.SendError{Code: "odd answer", Retryable: true, Lost: true, Err: errors.New(d.hidden(err.Error()))}
}
