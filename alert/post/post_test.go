package post

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"serin/alert"
)

// answering serves one answer and returns what a Client makes of it; the path of the URL is a secret.
func answering(t *testing.T, h http.HandlerFunc) (Response, *alert.SendError) {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	target := srv.URL + "/hook/s3cr3t-p4th"
	reply, err := New().Do(t.Context(), Request{URL: target, Body: []byte(`{}`), Hide: []string{target, "k&y/1234"}})
	if err == nil {
		return reply, nil
	}
	e, ok := errors.AsType[*alert.SendError](err)
	if !ok {
		t.Fatalf("%v is no SendError", err)
	}
	for _, secret := range []string{"s3cr3t", "k&y/1234", "k%26y%2F1234"} {
		if strings.Contains(e.Error(), secret) {
			t.Errorf("the error shows a secret: %v", e)
		}
	}
	return reply, e
}

func TestClassifies(t *testing.T) {
	f := func(status int, retryAfter string, retryable, limited bool, wait time.Duration) {
		t.Helper()
		_, e := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if retryAfter != "" {
				w.Header().Set("Retry-After", retryAfter)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte("no: " + r.URL.Path + " k&y/1234 k%26y%2F1234"))
		})
		if e == nil || e.Retryable != retryable || e.Limited != limited || e.RetryAfter != wait || e.Lost {
			t.Errorf("%d Retry-After %q: %+v", status, retryAfter, e)
		}
		if !retryable && e.Fix == "" {
			t.Errorf("%d: no fix", status)
		}
	}
	f(429, "", true, true, 0)
	f(429, "30", true, true, 30*time.Second)
	f(429, "soon", true, true, 0)
	f(429, "99999", true, true, time.Hour)
	f(503, "7", true, true, 7*time.Second)
	f(503, "", true, false, 0)
	f(500, "", true, false, 0)
	f(408, "", true, false, 0)
	f(302, "", false, false, 0)
	f(400, "", false, false, 0)
	f(401, "", false, false, 0)
	f(404, "", false, false, 0)
	f(410, "", false, false, 0)
	f(413, "", false, false, 0)
}

func TestTakes2xx(t *testing.T) {
	for _, status := range []int{200, 201, 202, 204} {
		reply, e := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("User-Agent") != "serin" {
				t.Errorf("%s %v", r.Method, r.Header)
			}
			w.WriteHeader(status)
		})
		if e != nil || reply.Status != status {
			t.Errorf("%d: %+v %v", status, reply, e)
		}
	}
	// Once the status is there, the message was taken, whatever becomes of the body.
	reply, e := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("{"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	if e != nil || reply.Status != 200 {
		t.Errorf("cut body: %+v %v", reply, e)
	}
}

func TestLosesAnswers(t *testing.T) {
	_, e := answering(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if e == nil || !e.Retryable || !e.Lost || e.Code != "cut" {
		t.Errorf("cut: %+v", e)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, err = New().Do(t.Context(), Request{URL: "http://" + addr + "/secret-path"})
	if e, _ := errors.AsType[*alert.SendError](err); e == nil || !e.Retryable || e.Lost || e.Code != "connect" || strings.Contains(e.Error(), "secret") {
		t.Errorf("refused: %+v", err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer srv.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = New().Do(ctx, Request{URL: srv.URL})
	if e, _ := errors.AsType[*alert.SendError](err); e == nil || !e.Retryable || !e.Lost || e.Code != "timeout" {
		t.Errorf("timeout: %+v", err)
	}
	_, err = New().Do(t.Context(), Request{URL: "http://sec ret/"})
	if e, _ := errors.AsType[*alert.SendError](err); e == nil || e.Retryable || strings.Contains(e.Error(), "sec ret") {
		t.Errorf("bad URL: %+v", err)
	}
}

func TestRetryAfterDate(t *testing.T) {
	h := http.Header{}
	h.Set("Date", "Sun, 01 Mar 2026 08:00:00 GMT")
	h.Set("Retry-After", "Sun, 01 Mar 2026 08:02:00 GMT")
	if d, ok := RetryAfter(h); !ok || d != 2*time.Minute {
		t.Errorf("%v %v", d, ok)
	}
	h.Set("Retry-After", "Sun, 01 Mar 2026 07:59:00 GMT")
	if d, ok := RetryAfter(h); ok || d != 0 {
		t.Errorf("past: %v %v", d, ok)
	}
}

func TestFindings(t *testing.T) {
	list := Findings("webhook ops", &alert.SendError{Code: "http 429", Limited: true})
	if list[0].OK || !strings.Contains(list[0].Fix, "1m0s") {
		t.Errorf("%+v", list)
	}
	list = Findings("webhook ops", &alert.SendError{Code: "http 401", Fix: "check the secret"})
	if list[0].Fix != "check the secret" || list[0].What != "webhook ops: http 401" {
		t.Errorf("%+v", list)
	}
	if list = Findings("webhook ops", nil); !list[0].OK {
		t.Errorf("%+v", list)
	}
}
