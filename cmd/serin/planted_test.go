package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"serin/cmd/internal/web"
)

// plantedKey is what a hostile endpoint tries to get into our outputs.
const plantedKey = "sk-Pl4nted+Key/0123456789="

// echoes are the ways in which the hostile endpoint gives the key back, by model.
func echoes() map[string]http.HandlerFunc {
	key := func(q *http.Request) string { return strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ") }
	return map[string]http.HandlerFunc{
		"unauthorized": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("X-Request-Id", "req-"+key(q))
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s","code":"invalid_%s"}}`, key(q), key(q))
		},
		"html": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, "<html><body>%s %s</body></html>", key(q), url.QueryEscape(key(q)))
		},
		"redirect": func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, "/login?key="+url.QueryEscape(key(q)), http.StatusFound)
		},
		"stream": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"model\":%q,\"system_fingerprint\":%q,\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", key(q), hex.EncodeToString([]byte(key(q))), key(q))
			_, _ = fmt.Fprintf(w, "data: {\"error\":{\"message\":%q,\"code\":%q}}\n\n", key(q), base64.StdEncoding.EncodeToString([]byte("Bearer "+key(q))))
		},
		"behind": func(w http.ResponseWriter, q *http.Request) { // an answer nobody asked for follows: Go's own package log prints it
			conn, out, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = out.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}" + key(q) + "\r\n")
			_ = out.Flush()
			time.Sleep(100 * time.Millisecond) // the connection must be idle, not closed
		},
		"finish": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"model\":%q,\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", key(q), key(q))
		},
	}
}

// hostile serves every echo; the model in the body chooses.
func hostile(t *testing.T, arrived chan<- string) *httptest.Server {
	model := regexp.MustCompile(`"model":"([a-z]+)"`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "/models") {
			_, _ = fmt.Fprintf(w, `{"data":[{"id":%q}]}`, q.Header.Get("Authorization"))
			return
		}
		body, _ := io.ReadAll(q.Body) // what is cut short names no model and gets 404
		m := model.FindSubmatch(body)
		if m == nil || echoes()[string(m[1])] == nil {
			http.NotFound(w, q)
			return
		}
		echoes()[string(m[1])](w, q)
		arrived <- string(m[1])
	}))
	t.Cleanup(s.Close)
	return s
}

// TestPlantedKey runs daemon and commands against an endpoint that echoes the key everywhere, at log level debug, and greps
// all that came out of them and all that is stored.
func TestPlantedKey(t *testing.T) {
	arrived := make(chan string, 4096)
	base := hostile(t, arrived).URL + "/v1"
	dir := t.TempDir()
	config := filepath.Join(dir, "serin.toml")
	var toml strings.Builder
	fmt.Fprintf(&toml, "[store]\ndsn = %q\n[http]\nlisten = \"127.0.0.1:0\"\n[log]\nlevel = \"debug\"\n", filepath.Join(dir, "serin.db"))
	for name := range echoes() {
		fmt.Fprintf(&toml, "[[target]]\nname = %q\nbase_url = %q\nmodel = %q\napi_key_env = \"PLANTED\"\n", name, base, name)
		// each a provider of its own, so that a refused credential of one stops no other
		fmt.Fprintf(&toml, "provider = %q\n[[provider]]\nname = %q\n", "p-"+name, "p-"+name)
	}
	toml.WriteString("[[scene]]\nname = \"chat\"\ntargets = [\"*\"]\nshort = { schedule = \"@every 1s\", spread = \"0s\" }\n")
	if err := os.WriteFile(config, []byte(toml.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	program := func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), beSerin+"=1", "RUNTIME_DIRECTORY="+dir, "PLANTED="+plantedKey)
		return cmd
	}
	seen := map[string]string{}
	runPlanted(t, program("run", "-c", config), arrived, filepath.Join(dir, "serin.sock"), seen)
	for _, args := range [][]string{{"validate"}, {"export"}, {"check", "--all"}, {"check", "--all", "-v", "--show-text"}, {"check", "--all", "--format", "json"},
		{"check", "--all", "--curl"}, {"incidents"}, {"outbox", "--all"}, {"explain", "html/chat/short", "--at", time.Now().UTC().Format(time.RFC3339)}, {"cost"}} {
		out, _ := program(append(args, "-c", config)...).CombinedOutput() // most end with 1: the endpoint is bad
		seen[strings.Join(args, " ")] = string(out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "serin.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("store files %v, %v", files, err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		seen[filepath.Base(f)] = string(raw)
	}
	for what, text := range seen {
		if text == "" && !strings.HasPrefix(what, "serin.db") { // what lies beside the store may be empty
			t.Errorf("%s: nothing came out, so nothing was proved", what)
		}
		for form, leak := range plantedForms() {
			if i := strings.Index(strings.ToLower(text), strings.ToLower(leak)); i >= 0 {
				t.Errorf("%s holds the key (%s): …%s…", what, form, text[max(0, i-80):min(len(text), i+80)])
			}
		}
	}
}

// runPlanted runs the daemon until every model was asked twice, keeps what its API says and its whole log in seen, and ends it.
func runPlanted(t *testing.T, cmd *exec.Cmd, arrived <-chan string, socket string, seen map[string]string) {
	t.Helper()
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	asked, late := map[string]int{}, time.After(90*time.Second)
	for done := false; !done; {
		select {
		case name := <-arrived:
			asked[name]++
		case <-late:
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
			t.Fatalf("asked only %v\n%s", asked, log.String())
		}
		done = len(asked) == len(echoes())
		for name, n := range asked {
			done = done && (n >= 2 || name == "unauthorized") // a refused key is asked for every 15 min only
		}
	}
	client := web.SocketClient(socket)
	for _, path := range []string{"/metrics", "/api/v1/status", "/api/v1/samples", "/api/v1/alerts", "/api/v1/incidents", "/api/v1/bands"} {
		resp, err := client.Get("http://serin" + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // read to its end
		seen[path] = string(text)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
	seen["log"] = log.String()
}

// plantedForms are the key as it is and in the codes that an echo may come in.
func plantedForms() map[string]string {
	return map[string]string{"plain": plantedKey, "hex": hex.EncodeToString([]byte(plantedKey)), "url": url.QueryEscape(plantedKey), "path": url.PathEscape(plantedKey),
		"base64": base64.StdEncoding.EncodeToString([]byte(plantedKey)), "bearer in base64": base64.StdEncoding.EncodeToString([]byte("Bearer " + plantedKey)),
		"half": plantedKey[:14], "other half": plantedKey[len(plantedKey)-14:]}
}
