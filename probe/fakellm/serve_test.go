package fakellm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bench is a served fake with a client, inside a bubble.
type bench struct {
	*Server
	t      *testing.T
	client *http.Client
}

// serve runs do in a bubble with the fake behind a pipe.
func serve(t *testing.T, o Options, do func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		pipe := NewPipe()
		s := New(o)
		server := &http.Server{Handler: s}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(pipe) }()
		transport := &http.Transport{DialContext: pipe.DialContext}
		do(&bench{Server: s, t: t, client: &http.Client{Transport: transport}})
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		time.Sleep(time.Second) // net/http lingers half a second after a body that is too large
	})
}

// got is one response as a client saw it.
type got struct {
	status int
	header http.Header
	lines  []string // non-empty lines with the milliseconds since the request before them
	raw    string
	err    error
	took   time.Duration
}

func (b *bench) post(path, body string, header ...string) got {
	b.t.Helper()
	return b.postCtx(b.t.Context(), path, body, header...)
}

func (b *bench) postCtx(ctx context.Context, path, body string, header ...string) got {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://fake"+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(r, header...)
}

func (b *bench) do(r *http.Request, header ...string) (g got) {
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	start := time.Now()
	defer func() { g.took = time.Since(start) }()
	resp, err := b.client.Do(r)
	if err != nil {
		return got{err: err}
	}
	defer resp.Body.Close()
	g.status, g.header = resp.StatusCode, resp.Header
	reader := bufio.NewReader(resp.Body)
	for {
		line, err := reader.ReadString('\n')
		g.raw += line
		if line = strings.TrimSpace(line); line != "" {
			g.lines = append(g.lines, fmt.Sprintf("%d %s", time.Since(start).Milliseconds(), line))
		}
		if err != nil {
			if err != io.EOF {
				g.err = err
			}
			return g
		}
	}
}

// short names the events of a chat stream: "50 tok", "140 fin stop", "140 usage 9 10 0", "140 [DONE]".
func (g got) short() []string {
	var list []string
	for _, line := range g.lines {
		at, data, _ := strings.Cut(line, " data: ")
		var c struct {
			Choices []struct {
				Delta  map[string]string `json:"delta"`
				Finish string            `json:"finish_reason"`
			} `json:"choices"`
			Usage *struct {
				In  int `json:"prompt_tokens"`
				Out int `json:"completion_tokens"`
				D   struct {
					Reasoning int `json:"reasoning_tokens"`
				} `json:"completion_tokens_details"`
			} `json:"usage"`
			Error *struct{ Message string } `json:"error"`
		}
		what := data
		if json.Unmarshal([]byte(data), &c) == nil {
			what = "?"
			switch {
			case c.Error != nil:
				what = "error"
			case c.Usage != nil:
				what = fmt.Sprintf("usage %d %d %d", c.Usage.In, c.Usage.Out, c.Usage.D.Reasoning)
			case len(c.Choices) == 1 && c.Choices[0].Finish != "":
				what = "fin " + c.Choices[0].Finish
			case len(c.Choices) == 1 && c.Choices[0].Delta["role"] != "":
				what = "role"
			case len(c.Choices) == 1 && c.Choices[0].Delta["reasoning_content"] != "":
				what = "think"
			case len(c.Choices) == 1 && c.Choices[0].Delta["content"] != "":
				what = "tok"
			}
		}
		list = append(list, at+" "+what)
	}
	return list
}

const (
	chatPath     = "/v1/chat/completions"
	messagesPath = "/v1/messages"
	chatBody     = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"say something"}]}`
	messagesBody = `{"model":"m","stream":true,"max_tokens":100,"messages":[{"role":"user","content":"say something"}]}`
)

// brisk answers in four tokens: 300 ms, then every 20 ms.
func brisk() Behaviour {
	return Behaviour{TTFT: 300 * time.Millisecond, TPOT: 20 * time.Millisecond, OutputTokens: 4}
}
