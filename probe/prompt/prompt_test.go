package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTurns(t *testing.T) {
	f := func(p Prompt, nonce string, want []Turn) {
		t.Helper()
		if diff := cmp.Diff(want, p.Turns(nonce)); diff != "" {
			t.Error(diff)
		}
	}
	f(Prompt{User: "hi"}, "", []Turn{{"user", "hi"}})
	f(Prompt{User: "hi"}, "n1", []Turn{{"user", "n1 hi"}})
	f(Prompt{System: "be brief", User: "hi"}, "", []Turn{{"system", "be brief"}, {"user", "hi"}})
	f(Prompt{System: "be brief", User: "hi"}, "n1", []Turn{{"system", "n1 be brief"}, {"user", "hi"}})
	if got := (Prompt{System: "a", User: "b"}).Text() + (Prompt{User: "c"}).Text(); got != "a\nbc" {
		t.Errorf("text is %q", got)
	}
}

func TestExpect(t *testing.T) {
	f := func(e *Expect, answer string, want bool) {
		t.Helper()
		if got := e.Check(answer); got != want {
			t.Errorf("%+v before Compile: %v", e, got)
		}
		if e == nil {
			return
		}
		if err := e.Compile(); err != nil {
			t.Fatal(err)
		}
		if got := e.Check(answer); got != want {
			t.Errorf("%+v after Compile: %v", e, got)
		}
	}
	f(nil, "", true)
	f(&Expect{Contains: "blue"}, "the sky is blue", true)
	f(&Expect{Contains: "Blue"}, "the sky is blue", false)
	f(&Expect{Regex: `^\d+$`}, "42", true)
	f(&Expect{Regex: `^\d+$`}, "42.", false)
	f(&Expect{Contains: "4", Regex: `^\d+$`}, "52", false)
	f(&Expect{Contains: "5", Regex: `^\d+$`}, "52", true)
	f(&Expect{Contains: "z"}, strings.Repeat("a", MaxAnswer)+"z", false)
}

func TestExpectErrors(t *testing.T) {
	f := func(e Expect, want string) {
		t.Helper()
		if err := e.Compile(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q in it", e, err, want)
		}
		if e.Regex != "" && e.Check("(?=a)") {
			t.Errorf("%+v: a broken pattern holds", e)
		}
	}
	f(Expect{}, "give contains, regex")
	f(Expect{Regex: "(?=a)"}, "not valid RE2")
	f(Expect{Regex: strings.Repeat("a", MaxPattern+1)}, "use at most 1000")
}

// The pattern is linear, so that no answer can hang a probe.
func TestExpectIsSharedAndLinear(t *testing.T) {
	e := &Expect{Regex: `(a+)+$`}
	if err := e.Compile(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if e.Check(strings.Repeat("a", 100_000) + "b") {
				t.Error("matched")
			}
		})
	}
	wg.Wait()
}

func TestFromFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p, err := FromFile(write("order.txt", "\ufeffWhere is my order?\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Prompt{ID: "order.txt", User: "Where is my order?"}, p, cmp.AllowUnexported()); diff != "" {
		t.Error(diff)
	}
	fails := func(path, want string) {
		t.Helper()
		_, err := FromFile(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want the path and %q in it", err, want)
		}
	}
	fails(write("empty.txt", " \n\t\n"), "is empty")
	fails(write("latin1.txt", "caf\xe9"), "is not UTF-8")
	fails(write("nul.txt", "a\x00b"), "NUL")
	fails(write("big.txt", strings.Repeat("a", MaxFile+1)), "is over 4 MiB")
	fails(filepath.Join(dir, "none.txt"), "no such file")
	fails(dir, "no regular file")
	fails("/dev/zero", "no regular file")
}
