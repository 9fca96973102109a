package telemetry

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"serin/configs"
)

// push makes one push to a server and returns what was asked of it.
func push(t *testing.T, answer http.HandlerFunc) (err error) {
	t.Helper()
	srv := httptest.NewServer(answer)
	defer srv.Close()
	return New(configs.Metrics{PushURL: srv.URL + "/import?token=planted-token"}).pushOnce(t.Context(), pushClient())
}

func TestPush(t *testing.T) {
	err := push(t, func(_ http.ResponseWriter, r *http.Request) {
		body, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if err != nil || r.Method != http.MethodPost || !strings.Contains(string(text), "go_goroutines") {
			t.Errorf("%s with %d bytes: %v", r.Method, len(text), err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPushKeepsItsURL: no redirect takes the URL to another host, and no error shows it.
func TestPushKeepsItsURL(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed, with Referer %q", r.Referer())
	}))
	defer other.Close()
	for _, answer := range []http.HandlerFunc{
		func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) },
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		if err := push(t, answer); err == nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("the error is %v", err)
		}
	}
}
