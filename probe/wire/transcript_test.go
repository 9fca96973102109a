package wire

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestTranscripts reads testdata/NAME.sse of every protocol and holds what its events mean against NAME.golden. A new
// protocol needs both files.
func TestTranscripts(t *testing.T) {
	for _, pr := range Protocols() {
		t.Run(pr.Name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + pr.Name + ".sse")
			if err != nil {
				t.Fatal(err)
			}
			got := tell(t, pr, text)
			golden := "testdata/" + pr.Name + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// tell writes one line an event, and the usage of the whole.
func tell(t *testing.T, pr Protocol, text []byte) string {
	t.Helper()
	var s Splitter
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
		fmt.Fprintf(&out, "kind=%q text=%q structure=%t skipped=%t sealed=%t finish=%q terminal=%d choices=%d model=%q\n",
			p.Kind.Label(), p.Text, p.Structure, p.Skipped, p.Sealed, p.Finish, p.Terminal, p.Choices, p.Model)
	}
	fmt.Fprintf(&out, "comments=%d usage=%+v\n", s.Comments, pr.Normalise(usage))
	return out.String()
}
