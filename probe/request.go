package probe

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strings"

	"serin/probe/prompt"
	"serin/probe/wire"
)

// Request is a probe's request as it goes out, for printing: the key and the values of headers_env are placeholders.
type Request struct {
	Method string
	URL    string
	Header [][2]string // in the order to print
	Body   []byte      // JSON
}

// Render returns the request that Do would send for c now, with placeholder in the key's place ("$API_KEY").
func (p *Prober) Render(c *Canary, placeholder string) (Request, error) {
	if len(c.Prompts) == 0 {
		return Request{}, fmt.Errorf("%s has no prompt", c.Key())
	}
	proto, err := wire.Find(c.Target.Protocol)
	if err != nil {
		return Request{}, err
	}
	url, err := proto.URL(c.Target.BaseURL, c.Target.Model)
	if err != nil {
		return Request{}, err
	}
	ask := p.ask(c, c.Prompts[0].Turns(p.nonce(c)))
	body, err := json.Marshal(proto.Body(ask))
	if err != nil {
		return Request{}, fmt.Errorf("write request: %w", err)
	}
	h := p.baseHeader(&proto)
	if name, prefix := proto.Key(c.Target.Auth); name != "" && !c.Target.APIKey.IsZero() {
		h.Set(name, prefix+placeholder)
	}
	for name, v := range c.Target.Headers {
		h.Set(name, p.redact(v))
	}
	for name, env := range c.Target.HeadersEnv {
		h.Set(name, "$"+env)
	}
	p.identify(h)
	return Request{Method: http.MethodPost, URL: p.redact(url), Header: sorted(h), Body: body}, nil
}

func sorted(h http.Header) [][2]string {
	var list [][2]string
	for name, values := range h {
		for _, v := range values {
			list = append(list, [2]string{name, v})
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i][0] < list[j][0] })
	return list
}

// outputCap returns the cap on output tokens: the target's own goes before the size's.
func (c *Canary) outputCap() int {
	if c.Target.MaxTokens > 0 {
		return c.Target.MaxTokens
	}
	return c.MaxTokens
}

// reasoningCap is how models that reason want the output cap to be called where a protocol has two names for it. One that
// refuses it is learned as any other.
const reasoningCap = "max_completion_tokens"

// ask builds what is asked, in the form that the target was seen to take.
func (p *Prober) ask(c *Canary, turns []prompt.Turn) wire.Ask {
	l := p.lesson(c.Target)
	a := wire.Ask{Model: c.Target.Model, MaxTokens: c.outputCap(), Extra: c.Target.ExtraBody, Effort: c.Target.ReasoningEffort,
		MaxTokensField: l.MaxTokensField, NoStreamOptions: l.NoStreamOptions}
	if c.Target.Reasoning && a.MaxTokensField == "" {
		a.MaxTokensField = reasoningCap
	}
	for _, t := range turns {
		a.Turns = append(a.Turns, wire.Turn{Role: t.Role, Text: t.Text})
	}
	return a
}

// nonce returns what goes in front of a prompt so that no prefix cache hits; "" where the cache is to be kept.
func (p *Prober) nonce(c *Canary) string {
	if c.Target.Cache == "keep" {
		return ""
	}
	return randomHex(8)
}

// randomHex returns 2n hex digits.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// baseHeader returns the headers that serin and the protocol set.
func (p *Prober) baseHeader(proto *wire.Protocol) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream, application/json")
	for name, v := range proto.Headers {
		h.Set(name, v)
	}
	return h
}

// identify sets what no configured header may replace: who asks, and that nothing is to be compressed.
func (p *Prober) identify(h http.Header) {
	h.Set("User-Agent", "serin/"+p.o.Version+" (canary)")
	h.Set("Accept-Encoding", "identity")
}

// header returns all headers of a request. The redactor knows the secret values among them from here on.
func (p *Prober) header(t *Target, proto *wire.Protocol) (http.Header, error) {
	h := p.baseHeader(proto)
	key, err := t.APIKey.Reveal()
	if err != nil {
		return nil, fmt.Errorf("api key: %w", err)
	}
	if name, prefix := proto.Key(t.Auth); name != "" && key != "" {
		h.Set(name, prefix+key)
		p.o.Redactor.Know(key)
	}
	for name, v := range t.Headers {
		h.Set(name, v)
	}
	for name, env := range t.HeadersEnv {
		v, ok := os.LookupEnv(env)
		if !ok {
			return nil, fmt.Errorf("headers_env: environment variable %s for header %s is not set", env, name)
		}
		h.Set(name, v)
		p.o.Redactor.Know(strings.Fields(v)...)
	}
	p.identify(h)
	return h, nil
}

// newRequest makes the HTTP request. GetBody is nil, so that the transport cannot send it a second time by itself.
func newRequest(url string, h http.Header, body []byte) (*http.Request, error) {
	req, err := http.NewRequest(http.MethodPost, url, io.NopCloser(bytes.NewReader(body)))
	if err != nil {
		return nil, err
	}
	req.Header, req.ContentLength = h, int64(len(body))
	if host := h.Get("Host"); host != "" {
		req.Host = host
		h.Del("Host")
	}
	return req, nil
}
