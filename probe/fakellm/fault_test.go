package fakellm

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func with(kind Kind, change ...func(*Fault)) Behaviour {
	b := brisk()
	b.Fault.Kind = kind
	for _, f := range change {
		f(&b.Fault)
	}
	return b
}

func after(n int) func(*Fault) { return func(f *Fault) { f.After = n } }

func TestStatusFaults(t *testing.T) {
	serve(t, Options{}, func(b *bench) {
		f := func(fault Fault, path string, status int, retry, want string) {
			t.Helper()
			b.Set("", Behaviour{Fault: fault})
			g := b.post(path, map[string]string{chatPath: chatBody, messagesPath: messagesBody}[path])
			if g.status != status || g.header.Get("Retry-After") != retry || !strings.Contains(g.raw, want) || g.took != 0 {
				t.Errorf("%+v: %d %q %s", fault, g.status, g.header.Get("Retry-After"), g.raw)
			}
		}
		f(Fault{Kind: Status}, chatPath, 500, "", `"type":"server_error"`)
		f(Fault{Kind: Status, Status: 503}, chatPath, 503, "", `"code":"overloaded_error"`)
		f(Fault{Kind: Status, Status: 529}, messagesPath, 529, "", `"type":"overloaded_error"`)
		f(Fault{Kind: Status, Status: 500}, messagesPath, 500, "", `"type":"api_error"`)
		f(Fault{Kind: Status, Status: 402}, chatPath, 402, "", `"code":"insufficient_quota"`)
		f(Fault{Kind: Status, Status: 403}, chatPath, 403, "", `"code":"invalid_api_key"`)
		f(Fault{Kind: Status, Status: 422}, chatPath, 422, "", `"code":"invalid_request_error"`)
		f(Fault{Kind: Status, Status: 502, Body: "<html>bad gateway"}, chatPath, 502, "", "<html>bad gateway")
		f(Fault{Kind: RateLimit}, chatPath, 429, "", `"code":"rate_limit_exceeded"`)
		f(Fault{Kind: RateLimit, RetryAfter: 1500 * time.Millisecond}, messagesPath, 429, "2", `"type":"rate_limit_error"`)
		f(Fault{Kind: HTML}, chatPath, 200, "", "<!doctype html>")
	})
}

func TestStreamFaults(t *testing.T) {
	serve(t, Options{}, func(b *bench) {
		f := func(behaviour Behaviour, want ...string) {
			t.Helper()
			b.Set("", behaviour)
			g := b.post(chatPath, chatBody)
			if diff := cmp.Diff(want, g.short()); diff != "" || g.err != nil {
				t.Errorf("%s: %s %v", behaviour.Fault.Kind, diff, g.err)
			}
		}
		f(with(Cut, after(2)), "0 role", "300 tok", "320 tok")
		f(with(Cut), "0 role")
		f(with(Cut, after(99)), "0 role", "300 tok", "320 tok", "340 tok", "360 tok")
		f(with(Empty), "0 role", "0 fin stop", "0 usage 8 0 0", "0 [DONE]")
		f(with(Error, after(1)), "0 role", "300 tok", "300 error")
		f(with(Error), "0 role", "0 error")
		f(with(Buffer), "360 role", "360 tok", "360 tok", "360 tok", "360 tok", "360 fin stop", "360 usage 8 4 0", "360 [DONE]")
		if n := len(last1(b.Records()).Writes); n != 1 {
			t.Errorf("buffered: %d writes", n)
		}
	})
}

func last1(list []Record) Record { return list[len(list)-1] }

func TestMessagesFaults(t *testing.T) {
	serve(t, Options{}, func(b *bench) {
		b.Set("", with(Error, after(1)))
		if g := b.post(messagesPath, messagesBody); !strings.HasSuffix(g.raw, "event: error\ndata: {\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"},\"type\":\"error\"}\n\n") {
			t.Error(g.raw)
		}
		b.Set("", with(Empty))
		if g := b.post(messagesPath, messagesBody); strings.Contains(g.raw, "content_block") || !strings.Contains(g.raw, "message_stop") {
			t.Error(g.raw)
		}
		b.Set("", with(Cut, after(1)))
		if g := b.post(messagesPath, messagesBody); strings.Count(g.raw, "text_delta") != 1 || strings.Contains(g.raw, "message_delta") {
			t.Error(g.raw)
		}
	})
}

func TestHangAndStallLastUntilTheClientLeaves(t *testing.T) {
	serve(t, Options{}, func(b *bench) {
		f := func(behaviour Behaviour, want ...string) {
			t.Helper()
			b.Set("", behaviour)
			ctx, cancel := context.WithTimeout(b.t.Context(), time.Hour)
			defer cancel()
			g := b.postCtx(ctx, chatPath, chatBody)
			if diff := cmp.Diff(want, g.short()); diff != "" || !errors.Is(g.err, context.DeadlineExceeded) || g.took != time.Hour {
				t.Errorf("%s: %s %v after %v", behaviour.Fault.Kind, diff, g.err, g.took)
			}
		}
		f(with(Hang))
		if r := last1(b.Records()); r.Status != 0 || len(r.Writes) != 0 {
			t.Errorf("%+v", r)
		}
		f(with(Stall), "0 role")
		f(with(Stall, after(3)), "0 role", "300 tok", "320 tok", "340 tok")
	})
}

func TestFaultsWithoutStream(t *testing.T) {
	serve(t, Options{}, func(b *bench) {
		body := strings.Replace(chatBody, `"stream":true`, `"stream":false`, 1)
		b.Set("", with(Cut))
		if g := b.post(chatPath, body); !errors.Is(g.err, io.ErrUnexpectedEOF) || g.raw == "" {
			t.Errorf("%v %q", g.err, g.raw)
		}
		b.Set("", with(Reset))
		if g := b.post(chatPath, body); g.err == nil {
			t.Error("no error")
		}
		b.Set("", with(Error))
		if g := b.post(chatPath, body); !strings.Contains(g.raw, `"error"`) {
			t.Error(g.raw)
		}
		b.Set("", with(Stall))
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
		defer cancel()
		if g := b.postCtx(ctx, chatPath, body); g.took != time.Minute {
			t.Errorf("%v %v", g.took, g.err)
		}
	})
}

func TestRateAndEvery(t *testing.T) {
	serve(t, Options{Seed: 7}, func(b *bench) {
		hits := func(f Fault, n int) (list []int) {
			f.Kind = Status
			b.Set("m", Behaviour{OutputTokens: 1, Fault: f})
			for i := range n {
				if b.post(chatPath, chatBody).status != 200 {
					list = append(list, i+1)
				}
			}
			return list
		}
		if got := hits(Fault{Every: 3}, 9); !slices.Equal(got, []int{3, 6, 9}) {
			t.Errorf("every third: %v", got)
		}
		if n := len(hits(Fault{Rate: 0.3}, 400)); n < 90 || n > 150 {
			t.Errorf("%d of 400 at a rate of 0.3", n)
		}
	})
}

func TestMaxInFlight(t *testing.T) {
	serve(t, Options{}, func(b *bench) {
		behaviour := brisk()
		behaviour.MaxInFlight = 2
		b.Set("m", behaviour)
		status := make([]int, 4)
		var all sync.WaitGroup
		for i := range status {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 150 * time.Millisecond) // the fourth comes when the first has ended
				status[i] = b.post(chatPath, chatBody).status
			})
		}
		all.Wait()
		if !slices.Equal(status, []int{200, 200, 429, 200}) {
			t.Errorf("%v", status)
		}
	})
}

// A real connection, because only TCP knows a reset.
func TestResetIsATCPReset(t *testing.T) {
	s := New(Options{Default: with(Reset, after(2))})
	for name, start := range map[string]func(http.Handler) *httptest.Server{"plain": httptest.NewServer, "tls": httptest.NewTLSServer} {
		server := start(s)
		resp, err := server.Client().Post(server.URL+chatPath, "application/json", strings.NewReader(chatBody))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: error %v", name, err)
		}
		if n := strings.Count(string(raw), `"delta":{"content":"`); n != 2 {
			t.Errorf("%s: %d tokens in %s", name, n, raw)
		}
		if err := resp.Body.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Log(err)
		}
		server.Close()
	}
}

func TestResetOverHTTP2EndsTheStream(t *testing.T) {
	server := httptest.NewUnstartedServer(New(Options{Default: with(Reset, after(1))}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	resp, err := server.Client().Post(server.URL+chatPath, "application/json", strings.NewReader(chatBody))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil || resp.ProtoMajor != 2 {
		t.Errorf("error %v over %s", err, resp.Proto)
	}
}

func TestParseFaults(t *testing.T) {
	f := func(want Behaviour, specs ...string) {
		t.Helper()
		var b Behaviour
		if err := ParseFaults(&b, specs...); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, b); diff != "" {
			t.Errorf("%q: %s", specs, diff)
		}
	}
	f(Behaviour{})
	f(Behaviour{SlowTTFT: 3, SlowTPOT: 1.5}, "slow-ttft=3", "slow-tpot=1.5")
	f(Behaviour{Fault: Fault{Kind: Status, Status: 503, Rate: 0.1}}, "status=503, rate=0.1")
	f(Behaviour{Fault: Fault{Kind: RateLimit, RetryAfter: time.Second}}, "rate-limit")
	f(Behaviour{Fault: Fault{Kind: RateLimit, RetryAfter: time.Minute}}, "rate-limit=1m")
	f(Behaviour{Fault: Fault{Kind: Status, Status: 503, RetryAfter: 5 * time.Second, Every: 4}}, "status=503,retry-after=5s,every=4")
	f(Behaviour{Fault: Fault{Kind: Stall, After: 10}, Reasoning: 50}, "stall=10", "reasoning=50")
	f(Behaviour{MaxInFlight: 2}, "max-in-flight=2")
	for _, k := range []Kind{Hang, Stall, Cut, Reset, Buffer, HTML, Empty, Error} {
		f(Behaviour{Fault: Fault{Kind: k}}, string(k))
	}
}

func TestParseFaultsErrors(t *testing.T) {
	f := func(want string, specs ...string) {
		t.Helper()
		err := ParseFaults(new(Behaviour), specs...)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", specs, err, want)
		}
	}
	f(`fault "slow": is unknown: use slow-ttft, slow-tpot, status, rate-limit, hang, stall, cut, reset, buffer, html, empty, error, reasoning, max-in-flight, retry-after, rate or every`, "slow")
	f(`fault "slow-ttft=0": write a factor over 0, such as 3`, "slow-ttft=0")
	f(`fault "slow-ttft=NaN": write a factor over 0, such as 3`, "slow-ttft=NaN")
	f(`fault "rate=2": write a probability over 0 and up to 1`, "rate=2")
	f(`fault "status": write a status such as status=503`, "status")
	f(`fault "status=999": write a status such as status=503`, "status=999")
	f(`fault "rate-limit=5": write a duration with its unit, such as 30s`, "rate-limit=5")
	f(`fault "stall=x": write a whole number from 0`, "stall=x")
	f(`fault "every=0": write a whole number from 1`, "every=0")
	f(`fault "hang=3": takes no value: write hang`, "hang=3")
	f(`fault "cut=3": hang is set already: give one kind of fault`, "hang,cut=3")
}
