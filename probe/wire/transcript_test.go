package wire

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// transcripts returns the files below testdata of one protocol: at least one, named *.sse or *.ndjson.
func transcripts(t testing.TB, pr Protocol) []string {
	t.Helper()
	kind := "sse"
	if pr.Lines {
		kind = "ndjson"
	}
	names, err := filepath.Glob(filepath.Join("testdata", pr.Name, "*."+kind))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s has no transcripts: %v", pr.Name, err)
	}
	return names
}

// TestTranscripts reads every transcript of every protocol and holds what its events mean against the golden file beside
// it. A new protocol needs both.
func TestTranscripts(t *testing.T) {
	for _, pr := range Protocols() {
		for _, name := range transcripts(t, pr) {
			t.Run(name, func(t *testing.T) {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				golden(t, strings.TrimSuffix(name, filepath.Ext(name))+".golden", tell(t, pr, text))
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// tell writes one line an event, and the usage of the whole.
func tell(t *testing.T, pr Protocol, text []byte) string {
	t.Helper()
	s := Splitter{Lines: pr.Lines}
	var out strings.Builder
	var p Piece
	var usage Usage
	if err := s.Feed(text); err != nil {
		t.Fatal(err)
	}
	for {
		ev, ok, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if err := pr.Read(ev, &p); err != nil {
			t.Fatal(err)
		}
		usage.Merge(p.Usage)
		fmt.Fprintf(&out, "kind=%q text=%q structure=%t skipped=%t sealed=%t finish=%q terminal=%d choices=%d model=%q",
			p.Kind.Label(), p.Text, p.Structure, p.Skipped, p.Sealed, p.Finish, p.Terminal, p.Choices, p.Model)
		if p.Load > 0 {
			fmt.Fprintf(&out, " load=%v", p.Load)
		}
		if p.Fault != nil {
			fmt.Fprintf(&out, " fault=%+v", *p.Fault)
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "comments=%d usage=%+v\n", s.Comments, pr.Normalise(usage))
	return out.String()
}
