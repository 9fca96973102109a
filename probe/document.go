package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"serin/probe/wire"
)

// Bounds of a body that is no stream.
const (
	maxDocument = 1 << 20         // bytes
	bodyWait    = 5 * time.Second // for the body of an error: what is there by then must do
)

// document is a body that is no stream: JSON, or HTML. The zero document is ready.
type document struct {
	text   []byte
	depth  int
	quoted bool
	escape bool
}

// add takes more of it and reports whether there is enough: the JSON value closed, or what HTML or a cap allow is there.
func (d *document) add(piece []byte) bool {
	from := len(d.text)
	d.text = append(d.text, piece[:min(len(piece), maxDocument-from)]...)
	if d.text[0] == '<' {
		return len(d.text) >= 8<<10
	}
	for _, c := range d.text[from:] {
		if d.step(c); d.depth == 0 {
			return true
		}
	}
	return len(d.text) >= maxDocument
}

// step follows the nesting of a JSON value, so that its end is seen without waiting for the connection's.
func (d *document) step(c byte) {
	switch {
	case d.escape:
		d.escape = false
	case d.quoted:
		d.escape = c == '\\'
		d.quoted = c != '"'
	case c == '"':
		d.quoted = true
	case c == '{' || c == '[':
		d.depth++
	case c == '}' || c == ']':
		d.depth--
	}
}

// judgeDocument judges a 2xx whose body is no stream. It may hold an error, or a whole answer with its usage.
func (r *run) judgeDocument() {
	if r.verdict.outcome != "" { // a deadline passed
		return
	}
	text := r.doc.text
	r.snippet(text)
	if text[0] == '<' {
		r.verdict = verdict{NotSSE, "HTML where a stream was due: " + stripTags(string(clipBytes(text, longField)))}
		return
	}
	var p wire.Piece
	ev := wire.Event{Data: text}
	if err := r.proto.Read(ev, &p); err != nil {
		r.verdict = verdict{NotSSE, fmt.Sprintf("a body that is neither a stream nor JSON: %v", err)}
		return
	}
	if p.Fault != nil {
		r.fold.fault = p.Fault
		r.verdict = r.broken(p.Fault)
		return
	}
	r.fold.usage, r.fold.model = p.Usage, p.Model
	r.verdict = verdict{NotSSE, "one JSON body where a stream was due: the endpoint ignores stream=true"}
}

// refused judges a response that is no 2xx.
func (r *run) refused(resp *http.Response) {
	r.watch.set(phaseBody, time.Now().Add(bodyWait))
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if p, ok := errors.AsType[phase](context.Cause(r.ctx)); err != nil && ok && p != phaseBody && len(body) == 0 {
		r.end(r.fold.expired(p))
		return
	}
	if r.parent.Err() != nil {
		r.end(verdict{Client, "shutdown"})
		return
	}
	f := wire.DecodeFault(resp.StatusCode, body)
	r.tellFault(&f)
	r.snippet(body)
	o := ofStatus(resp.StatusCode, f.Class)
	wait, ok := retryAfter(resp.Header, f.RetryDelay, time.Now())
	if ok && o.waits() {
		r.sample.RetryAfter = min(wait, maxRetryAfter)
		if o == RateLimited && wait > maxRetryAfter {
			o = Quota
		}
	}
	r.end(verdict{o, r.refusal(resp, o, &f)})
}

// waits reports whether an endpoint's wish to wait is obeyed after o.
func (o Outcome) waits() bool {
	return o == RateLimited || o == Quota || o == Overloaded || o == HTTP5xx
}

// refusal is the reason of a response that is no 2xx; a parameter that can be sent otherwise is learned here.
func (r *run) refusal(resp *http.Response, o Outcome, f *wire.Fault) string {
	switch o {
	case Redirect:
		return fmt.Sprintf("HTTP %d to %s, which is not followed; make that the base_url if it is right", resp.StatusCode, place(resp))
	case Auth:
		r.c.Target.APIKey.Refresh()
	case BadRequest:
		if what := r.p.learn(r.c.Target, &r.proto, r.ask, f); what != "" {
			r.p.o.Log.Info("parameter refused, sent otherwise from now on", "target", r.c.Target.Name, "parameter", what)
			if d := r.shot.Diary; d != nil {
				d.Learned = what
			}
			return ReasonLearningParameter
		}
	}
	if text := faultText(f); text != "" {
		return fmt.Sprintf("HTTP %d: %s", resp.StatusCode, text)
	}
	return fmt.Sprintf("HTTP %d", resp.StatusCode)
}

// place returns where a redirect points, without its query.
func place(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.String() == "" {
		return "nowhere"
	}
	if u.Host == "" {
		return u.Path
	}
	return u.Scheme + "://" + u.Host + u.Path
}
