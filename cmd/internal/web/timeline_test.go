package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"serin/alert"
)

// scribe notes what it is asked for.
type scribe struct {
	silences []alert.Silence
	marks    []alert.Mark
	expired  []string
	asked    Query
}

var (
	_ Timeline = (*scribe)(nil)
	_ Writer   = (*scribe)(nil)
)

func (f *scribe) Silences(_ context.Context, q Query) ([]alert.Silence, error) {
	f.asked = q
	return f.silences, nil
}

func (f *scribe) Marks(_ context.Context, q Query) ([]alert.Mark, error) {
	f.asked = q
	return f.marks, nil
}

func (f *scribe) Silence(_ context.Context, s alert.Silence) (alert.Silence, []string, error) {
	if s.Reason == "" {
		return s, nil, errors.New("reason is missing (sk-secret)")
	}
	s.ID, s.Starts = "s1", s.Starts.UTC()
	f.silences = append(f.silences, s)
	return s, []string{"gw/chat/short"}, nil
}

func (f *scribe) Expire(_ context.Context, id, who string) (alert.Silence, error) {
	if id != "s1" {
		return alert.Silence{}, ErrNotFound
	}
	f.expired = append(f.expired, id+" by "+who)
	return alert.Silence{ID: id, Ends: time.Now()}, nil
}

func (f *scribe) Mark(_ context.Context, m alert.Mark) (alert.Mark, error) {
	if m.Text == "" {
		return m, errors.New("text is missing")
	}
	m.ID = "m1"
	f.marks = append(f.marks, m)
	return m, nil
}

func (f *scribe) server(t *testing.T, edit func(*Options)) *Server {
	o := (&fake{}).options()
	o.Timeline, o.Writer = f, f
	if edit != nil {
		edit(&o)
	}
	return start(t, o)
}

// posting sends a body, with a token where it is given.
func posting(body, token string) func(*http.Request) {
	return func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	}
}

func TestSilencesOverTheSocket(t *testing.T) {
	f := &scribe{}
	s := f.server(t, nil)
	c, at := SocketClient(s.opt.Socket), "http://serin/api/v1/silences"
	post := func(body string) reply { t.Helper(); return ask(t, c, "POST", at, posting(body, "")) }
	begun := time.Now()
	want(t, "silence", post(`{"match":["target=gw-*","kind!=error"],"for":"2h","reason":"new GPU","by":"kim\u0000\n","cap":"warning"}`), 200, `"state":"active","canaries":["gw/chat/short"]`)
	got := f.silences[0]
	if got.Match.String() != "target=gw-* kind!=error" || got.By != "kim" || got.Cap != alert.Warning || got.Ends.Sub(begun)-2*time.Hour > time.Minute || got.Ends.Before(begun.Add(2*time.Hour)) {
		t.Errorf("asked for %+v", got)
	}
	want(t, "planned", post(`{"match":["target=x"],"starts":"2099-01-01T00:00:00+01:00","for":"1d","reason":"r"}`), 200, `"ends":"2099-01-02T00:00:00+01:00"`)
	if f.silences[1].By != "the API" {
		t.Errorf("by %q", f.silences[1].By)
	}
	want(t, "list", ask(t, c, "GET", at+"?since=1d", nil), 200, `"state":"pending"`)
	if !f.asked.Until.IsZero() || f.asked.Limit != defaultLimit {
		t.Errorf("query %+v", f.asked)
	}
	want(t, "expire", ask(t, c, "DELETE", at+"/s1?by=ann", nil), 200, `"state":"expired"`)
	if len(f.expired) != 1 || f.expired[0] != "s1 by ann" {
		t.Errorf("expired %v", f.expired)
	}
	want(t, "expire nothing", ask(t, c, "DELETE", at+"/nope", nil), 404, "not found")
	want(t, "bad parameter", ask(t, c, "GET", at+"?canary=x", nil), 400, "unknown parameter")
	want(t, "wrong method", ask(t, c, "PUT", at, nil), 405, "use GET or POST")
	want(t, "wrong method of one", ask(t, c, "POST", at+"/s1", nil), 405, "use DELETE")
}

func TestBadBodies(t *testing.T) {
	f := &scribe{}
	s := f.server(t, nil)
	c := SocketClient(s.opt.Socket)
	try := func(path, body string, status int, says string) {
		t.Helper()
		want(t, body[:min(len(body), 60)], ask(t, c, "POST", "http://serin/api/v1/"+path, posting(body, "")), status, says)
	}
	try("silences", ``, 400, "the body is empty")
	try("silences", `{"match":["target=a"],"for":"2h"}`, 422, "reason is missing (***)")
	try("silences", `{"match":["target"],"for":"2h"}`, 400, "is no matcher")
	try("silences", `{"match":"target=a"}`, 400, "match is a JSON string")
	try("silences", `{"match":["target=a"],"reason":"r"}`, 422, "ends is missing")
	try("silences", `{"match":["target=a"],"reason":"r","for":"2h","ends":"2099-01-01T00:00:00Z"}`, 422, "for stands beside ends")
	try("silences", `{"match":["target=a"],"reason":"r","for":"-2h"}`, 422, `for=\"-2h\"`)
	try("silences", `{"match":["target=a"],"ends":"tomorrow"}`, 400, "tomorrow is not a time")
	try("silences", `{"macth":["target=a"]}`, 400, `unknown field \"macth\"; there are: match, `)
	try("silences", `{} {}`, 400, "more than one JSON value")
	try("silences", `{"reason":"`+strings.Repeat("x", maxBody)+`"}`, 413, "over 65536 bytes")
	try("silences?for=2h", `{}`, 400, "write it into the JSON body")
	try("marks", `{"text":""}`, 422, "text is missing")
	try("marks", `[]`, 400, "array")
	if len(f.silences)+len(f.marks) != 0 {
		t.Errorf("taken: %v %v", f.silences, f.marks)
	}
}

// TestRoles lets each token do what it is for, under its own name.
func TestRoles(t *testing.T) {
	f, orders := &scribe{}, []Order{}
	all, _ := token(t, "tok-all1")
	ci, file := token(t, "tok-cirun")
	reader, _ := token(t, "tok-read")
	s := f.server(t, func(o *Options) {
		o.Token = all
		o.Tokens = []Token{{Name: "ci", Secret: ci, Role: RoleAnnotate}, {Name: "grafana", Secret: reader, Role: RoleRead}}
		o.Order = func(_ context.Context, x Order) ([]string, error) { orders = append(orders, x); return nil, nil }
	})
	c, at := http.DefaultClient, "http://"+s.Addr().String()
	try := func(token, method, path, body string, status int, says string) {
		t.Helper()
		want(t, token+" "+method+" "+path, ask(t, c, method, at+path, posting(body, token)), status, says)
	}
	mark, silence := `{"text":"vllm 0.13","by":"somebody else"}`, `{"match":["target=a"],"for":"1h","reason":"r","by":"somebody else"}`
	try("", "GET", "/api/v1/status", "", 401, "Bearer")
	try("", "POST", "/api/v1/marks", mark, 401, "Bearer")
	try("tok-wrong", "POST", "/api/v1/marks", mark, 401, "Bearer")
	try("tok-cirun", "POST", "/api/v1/marks", mark, 200, `"by":"ci"`)
	try("tok-cirun", "GET", "/api/v1/marks", "", 200, "vllm")
	try("tok-cirun", "POST", "/api/v1/silences", silence, 200, `"by":"ci"`)
	try("tok-cirun", "DELETE", "/api/v1/silences/s1", "", 200, "")
	try("tok-cirun", "GET", "/api/v1/status", "", 200, "version")
	try("tok-cirun", "GET", "/metrics", "", 200, "serin_build_info")
	try("tok-cirun", "POST", "/api/v1/ack?pattern=7f3k", "", 200, "")
	try("tok-cirun", "POST", "/api/v1/accept?pattern=a&why=b", "", 403, "needs the role admin, and has annotate")
	try("tok-cirun", "POST", "/api/v1/accept/undo?pattern=a&why=b", "", 403, "admin")
	try("tok-cirun", "POST", "/api/v1/baseline/reset?pattern=a&why=b", "", 403, "admin")
	try("tok-cirun", "POST", "/-/reload", "", 403, "admin")
	try("tok-cirun", "POST", "/api/v1/nothing", "", 403, "admin")
	try("tok-read", "GET", "/api/v1/silences", "", 200, "")
	try("tok-read", "GET", "/metrics", "", 200, "serin_build_info")
	try("tok-read", "POST", "/api/v1/marks", mark, 403, "needs the role annotate, and has read")
	try("tok-all1", "GET", "/api/v1/status", "", 200, "version")
	try("tok-all1", "POST", "/api/v1/marks", mark, 200, `"by":"somebody else"`)
	try("tok-all1", "POST", "/api/v1/ack?pattern=7f3k&who=ann", "", 200, "")
	if len(orders) != 2 || orders[0].Who != "ci" || orders[1].Who != "ann" {
		t.Errorf("orders %+v", orders)
	}
	if len(f.expired) != 1 || f.expired[0] != "s1 by ci" {
		t.Errorf("expired %v", f.expired)
	}
	if err := os.WriteFile(file, []byte("tok-new1"), 0o600); err != nil {
		t.Fatal(err)
	}
	try("tok-cirun", "GET", "/api/v1/marks", "", 401, "")
	try("tok-new1", "GET", "/api/v1/marks", "", 200, "")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	try("tok-read", "GET", "/api/v1/marks", "", 200, "") // another's token is still good
	want(t, "from another site", ask(t, c, "POST", at+"/api/v1/marks", func(r *http.Request) {
		posting(mark, "tok-all1")(r)
		r.Header.Set("Origin", "https://evil.example")
	}), 403, "another site")
}

// TestTokensAlone protect all that token_file would.
func TestTokensAlone(t *testing.T) {
	ack, _ := token(t, "tok-ack1")
	var got Order
	s := (&scribe{}).server(t, func(o *Options) {
		o.Tokens = []Token{{Name: "pager", Secret: ack, Role: RoleAnnotate}}
		o.Order = func(_ context.Context, x Order) ([]string, error) { got = x; return []string{x.Pattern}, nil }
	})
	at := "http://" + s.Addr().String()
	want(t, "read", ask(t, http.DefaultClient, "GET", at+"/api/v1/status", nil), 401, "")
	want(t, "health", ask(t, http.DefaultClient, "GET", at+"/healthz", nil), 200, "ok")
	want(t, "ack", ask(t, http.DefaultClient, "POST", at+"/api/v1/ack?pattern=7f3k&who=x", posting("", "tok-ack1")), 200, "7f3k")
	if got.Who != "pager" {
		t.Errorf("by %q", got.Who)
	}
}
