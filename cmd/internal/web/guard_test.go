package web

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"serin/probe/secret"
)

// want holds one answer against a status and a text in its body.
func want(t *testing.T, what string, got reply, status int, text string) {
	t.Helper()
	if got.status != status || !strings.Contains(got.body, text) {
		t.Errorf("%s: got %d %s, want %d with %q", what, got.status, got.body, status, text)
	}
}

func header(key, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(key, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

func token(t *testing.T, value string) (secret.Secret, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := secret.FromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s, file
}

func TestWithoutToken(t *testing.T) {
	src := &fake{samples: someSamples()}
	s := start(t, src.options())
	at, c := "http://"+s.Addr().String(), http.DefaultClient
	want(t, "read", ask(t, c, "GET", at+"/api/v1/samples", nil), 200, "gw-eu")
	want(t, "write", ask(t, c, "POST", at+"/-/reload", nil), 403, "serin reload")
	want(t, "write to a list", ask(t, c, "POST", at+"/api/v1/samples", nil), 403, "token")
	want(t, "wrong method", ask(t, c, "GET", at+"/-/reload", nil), 405, "")
	want(t, "page", ask(t, c, "GET", at+"/", header("Accept", "text/html")), 200, `<a href="/metrics">`)

	local := SocketClient(s.opt.Socket)
	want(t, "reload on the socket", ask(t, local, "POST", "http://serin/-/reload", nil), 200, "reloaded")
	want(t, "read on the socket", ask(t, local, "GET", "http://serin/api/v1/samples", nil), 200, "gw-eu")
	want(t, "write to a list on the socket", ask(t, local, "POST", "http://serin/api/v1/samples", nil), 405, "use GET")
	src.reload = errors.New("serin.toml:3: target.base_url: key sk-secret\nserin.toml:9: slack")
	want(t, "bad config", ask(t, local, "POST", "http://serin/-/reload", nil), 422, "key ***\nserin.toml:9: slack\n")
}

func TestWithToken(t *testing.T) {
	secret, file := token(t, "t0ken-1234\n")
	o := (&fake{}).options()
	o.Token = secret
	s := start(t, o)
	at, c := "http://"+s.Addr().String(), http.DefaultClient
	for _, path := range []string{"/", "/metrics", "/api/v1/status", "/api/v1/samples", "/nothing"} {
		got := ask(t, c, "GET", at+path, nil)
		want(t, path, got, 401, "Bearer")
		if got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no challenge", path)
		}
	}
	want(t, "health", ask(t, c, "GET", at+"/healthz", nil), 200, "ok")
	want(t, "ready", ask(t, c, "GET", at+"/readyz", nil), 200, "ok")
	want(t, "metrics port", ask(t, c, "GET", "http://"+s.MetricsAddr().String()+"/metrics", nil), 401, "Bearer")
	for _, bad := range []string{"Bearer t0ken-123", "Bearer t0ken-1234x", "Bearer ", "Bearer", "Basic t0ken-1234", "t0ken-1234"} {
		want(t, bad, ask(t, c, "GET", at+"/metrics", header("Authorization", bad)), 401, "")
	}
	want(t, "read", ask(t, c, "GET", at+"/metrics", header("Authorization", "Bearer t0ken-1234")), 200, "serin_build_info")
	want(t, "scheme in lower case", ask(t, c, "GET", at+"/metrics", header("Authorization", "bearer t0ken-1234")), 200, "")
	want(t, "write", ask(t, c, "POST", at+"/-/reload", header("Authorization", "Bearer t0ken-1234")), 200, "reloaded")
	want(t, "write without", ask(t, c, "POST", at+"/-/reload", nil), 401, "Bearer")
	want(t, "socket", ask(t, SocketClient(s.opt.Socket), "GET", "http://serin/api/v1/status", nil), 200, "version")

	if err := os.WriteFile(file, []byte("another-one"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, "old token", ask(t, c, "GET", at+"/metrics", header("Authorization", "Bearer t0ken-1234")), 401, "")
	want(t, "new token", ask(t, c, "GET", at+"/metrics", header("Authorization", "Bearer another-one")), 200, "")

	if err := os.WriteFile(file, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, "emptied", ask(t, c, "GET", at+"/metrics", header("Authorization", "Bearer another-one")), 503, "lets nobody in")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	want(t, "taken away", ask(t, c, "POST", at+"/-/reload", header("Authorization", "Bearer another-one")), 503, "lets nobody in")
}

func TestOtherSites(t *testing.T) {
	secret, _ := token(t, "t0ken-1234")
	o := (&fake{}).options()
	o.Token, o.ExternalURL = secret, "https://serin.example/"
	s := start(t, o)
	at, c := "http://"+s.Addr().String(), http.DefaultClient
	health := at + "/healthz"
	want(t, "rebound name", ask(t, c, "GET", health, host("evil.example")), 421, "external_url")
	want(t, "rebound name with port", ask(t, c, "GET", health, host("evil.example:9469")), 421, "external_url")
	want(t, "name that ends like ours", ask(t, c, "GET", health, host("notserin.example")), 421, "")
	want(t, "our name", ask(t, c, "GET", health, host("serin.example")), 200, "ok")
	want(t, "localhost", ask(t, c, "GET", health, host("localhost:9469")), 200, "ok")
	want(t, "IPv6", ask(t, c, "GET", health, host("[::1]:9469")), 200, "ok")

	post := func(headers ...string) reply {
		t.Helper()
		return ask(t, c, "POST", at+"/-/reload", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer t0ken-1234")
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
		})
	}
	want(t, "cross-site fetch", post("Sec-Fetch-Site", "cross-site"), 403, "another site")
	want(t, "other origin", post("Origin", "https://evil.example"), 403, "another site")
	want(t, "our origin through the proxy", post("Origin", "https://serin.example"), 200, "reloaded")
	want(t, "same origin", post("Origin", at), 200, "reloaded")
	want(t, "a tool", post(), 200, "reloaded")
}

func TestMetricsListenServesLittle(t *testing.T) {
	s := start(t, (&fake{}).options())
	at, c := "http://"+s.MetricsAddr().String(), http.DefaultClient
	want(t, "metrics", ask(t, c, "GET", at+"/metrics", nil), 200, "serin_build_info")
	want(t, "health", ask(t, c, "GET", at+"/healthz", nil), 200, "ok")
	want(t, "ready", ask(t, c, "GET", at+"/readyz", nil), 200, "ok")
	for _, path := range []string{"/", "/api/v1/status", "/api/v1/samples", "/-/reload"} {
		want(t, path, ask(t, c, "GET", at+path, nil), 404, "")
	}
}

func TestEmptyTokenLetsNobodyIn(t *testing.T) {
	for _, given := range []string{"", "Bearer ", "Bearer x"} {
		if bearer(given, "") {
			t.Errorf("%q is let in by an empty token", given)
		}
	}
}
