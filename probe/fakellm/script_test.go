package fakellm

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNormalScript(t *testing.T) {
	serve(t, Options{Default: Behaviour{Script: Normal()}}, func(b *bench) {
		want := []string{"0 role", "50 tok", "60 tok", "70 tok", "80 tok", "90 tok", "100 tok", "110 tok", "120 tok", "130 tok", "140 tok",
			"140 fin stop", "140 usage 9 10 0", "140 [DONE]"}
		g := b.post(chatPath, chatBody)
		if diff := cmp.Diff(want, g.short()); diff != "" || g.err != nil || g.header.Get("Content-Type") != "text/event-stream" {
			t.Error(diff, g.err, g.header)
		}
	})
}

func TestScriptSteps(t *testing.T) {
	serve(t, Options{}, func(b *bench) {
		f := func(raw string, took time.Duration, failure error, script ...Step) got {
			t.Helper()
			b.Set("", Behaviour{Script: script})
			g := b.post(chatPath, chatBody)
			if g.raw != raw || g.took != took || !errors.Is(g.err, failure) {
				t.Errorf("%q after %v, error %v; want %q after %v, %v", g.raw, g.took, g.err, raw, took, failure)
			}
			return g
		}
		f("data: x\n\n: hi\n\n", 300*time.Millisecond, nil, E("x"), Sleep(300*time.Millisecond), Raw(": hi\n\n"))
		f("a", time.Second, nil, Raw("a"), Sleep(time.Second))
		f("a", 0, nil, Raw("a"), Close(), Raw("b"))
		f("a", time.Second, io.ErrUnexpectedEOF, Raw("a"), Sleep(time.Second), Abort())
		f("a", 0, io.ErrUnexpectedEOF, Raw("a"), Rst())
		g := f("<html>", 5*time.Millisecond, nil, Head(502, "Content-Type", "text/html", "X-A", "b"), Sleep(5*time.Millisecond), Raw("<html>"))
		if g.status != 502 || g.header.Get("X-A") != "b" || g.header.Get("Content-Type") != "text/html" {
			t.Errorf("%d %v", g.status, g.header)
		}
		if g := f("x", 0, nil, Head(200, "Content-Type", ""), Raw("x")); g.header["Content-Type"] != nil {
			t.Errorf("%v", g.header)
		}
		if g := f("", time.Second, nil, Sleep(time.Second)); g.status != 200 {
			t.Errorf("%d", g.status)
		}
	})
}

func TestScriptSilence(t *testing.T) {
	serve(t, Options{Default: Behaviour{Script: []Step{Role(), Think("hm"), Silence()}}}, func(b *bench) {
		b.client.Timeout = time.Minute
		g := b.post(chatPath, chatBody)
		if diff := cmp.Diff([]string{"0 role", "0 think"}, g.short()); diff != "" || g.err == nil || g.took != time.Minute {
			t.Error(diff, g.err, g.took)
		}
	})
}
