package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a source of everything. failAfter > 0 makes its lists fail after so many elements.
type fake struct {
	samples   []probe.Sample
	alerts    []alert.Alert
	incidents map[string]Dossier
	failAfter int
	windows   atomic.Int64 // how often samples were asked for
	alive     error
	reload    error
}

var (
	_ Measurements = (*fake)(nil)
	_ Alerts       = (*fake)(nil)
)

var errBroken = errors.New("disk of sk-secret is broken")

func list[T any](f *fake, items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for i, it := range items {
			if f.failAfter > 0 && i == f.failAfter {
				var none T
				yield(none, errBroken)
				return
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

func (f *fake) History(_ context.Context, _ Query, incident string) iter.Seq2[alert.Transition, error] {
	var rows []alert.Transition
	for _, id := range slices.Sorted(maps.Keys(f.incidents)) {
		for _, x := range f.incidents[id].Transitions {
			if incident == "" || incident == id {
				rows = append(rows, x)
			}
		}
	}
	return list(f, rows)
}

func (f *fake) Samples(_ context.Context, _ Query) iter.Seq2[probe.Sample, error] {
	f.windows.Add(1)
	return list(f, f.samples)
}

func (f *fake) Bands(_ context.Context, _ Query) iter.Seq2[baseline.Band, error] {
	slot := time.Now().Add(-time.Hour)
	return list(f, []baseline.Band{{Canary: "gw-eu/chat/short", Slot: slot, Mean: 0.4}, {Canary: "gw-us/chat/short", Slot: slot, Mean: 0.5}})
}

func (f *fake) Alerts(_ context.Context, _ Query) iter.Seq2[alert.Alert, error] {
	return list(f, f.alerts)
}

func (f *fake) Incidents(_ context.Context, _ Query) iter.Seq2[alert.Incident, error] {
	opened := time.Now().Add(-time.Hour)
	return list(f, []alert.Incident{{ID: "7f3k", Scope: "gw-eu", Opened: opened}, {ID: "8a2b", Scope: "gw-us", Members: []alert.Member{{Target: "gw-cn"}}, Opened: opened}})
}

func (f *fake) Incident(_ context.Context, id string) (Dossier, error) {
	if id == "broken" {
		return Dossier{}, errBroken
	}
	d, ok := f.incidents[id]
	if !ok {
		return Dossier{}, fmt.Errorf("incident %q: %w", id, ErrNotFound)
	}
	return d, nil
}

// someAlerts are of one canary and of a whole target.
func someAlerts() []alert.Alert {
	since := time.Now().Add(-time.Hour)
	return []alert.Alert{{ID: "a1", Series: "gw-eu/chat/short", Kind: alert.KindTTFT, Since: since}, {ID: "a2", Series: "gw-us", Since: since}}
}

func (f *fake) options() Options {
	return Options{
		Metrics:      func(w io.Writer) { _, _ = io.WriteString(w, "serin_build_info 1\n") },
		Alive:        func() error { return f.alive },
		Ready:        func() error { return nil },
		Reload:       func(context.Context) error { return f.reload },
		Status:       func(context.Context) (Status, error) { return Status{Version: "1.0", Canaries: []CanaryStatus{}}, nil },
		Measurements: f,
		Alerts:       f,
		Redact:       func(s string) string { return strings.ReplaceAll(s, "sk-secret", "***") },
		Log:          slog.New(slog.DiscardHandler),
	}
}

func someSamples() []probe.Sample {
	at := time.Now().Add(-time.Hour)
	return []probe.Sample{
		{Time: at.Add(2 * time.Minute), Target: "gw-eu", Scene: "chat", Size: probe.Short, Outcome: probe.OK, TTFT: probe.Known(312400 * time.Microsecond)},
		{Time: at.Add(time.Minute), Target: "gw-us", Scene: "chat", Size: probe.Long, Outcome: probe.TimeoutStall},
		{Time: at, Target: "gw-eu", Scene: "batch", Size: probe.Short, Outcome: probe.OK},
	}
}

// stuck is a source that yields nothing until it is given up.
type stuck struct{ *fake }

func (stuck) Samples(ctx context.Context, _ Query) iter.Seq2[probe.Sample, error] {
	return func(yield func(probe.Sample, error) bool) {
		<-ctx.Done()
		yield(probe.Sample{}, ctx.Err())
	}
}

// start runs a server on free loopback ports and a socket until the test ends.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	o.Listen, o.MetricsListen = "127.0.0.1:0", "127.0.0.1:0"
	o.Socket = filepath.Join(t.TempDir(), socketName)
	s := New(o)
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		if _, err := os.Lstat(o.Socket); err == nil {
			t.Error("the socket is left behind")
		}
	})
	return s
}

// reply is what a request came back with.
type reply struct {
	status int
	header http.Header
	body   string
}

// ask sends one request over a connection of its own. edit may be nil.
func ask(t *testing.T, c *http.Client, method, url string, edit func(*http.Request)) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	if edit != nil {
		edit(r)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(body)}
}

// visit serves one GET without a connection, as if from the unix socket.
func visit(t *testing.T, o Options, target string) reply {
	t.Helper()
	s := New(o)
	m := s.mux(s.routes())
	m.HandleFunc("GET /{$}", s.index)
	m.HandleFunc("/api/", s.unknown)
	rec := httptest.NewRecorder()
	s.guard(doorSocket, true, m).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, target, nil))
	return reply{rec.Code, rec.Header(), rec.Body.String()}
}
