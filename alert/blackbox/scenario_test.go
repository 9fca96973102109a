package blackbox_test

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the logs of the scenarios anew")

// TestScenarios plays every file of testdata, and holds that restarts on the way change nothing that is decided or told.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	bases := map[string]*disk{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := parse(t, a)
			key := s.config + s.start.String() + time.Duration(s.learn).String()
			if bases[key] == nil {
				bases[key] = s.base(t)
			}
			got := s.play(t, bases[key].clone()).book.text()
			golden(t, file, a, got)
			if !s.restarts || testing.Short() {
				return
			}
			with := s.play(t, bases[key].clone(), restarts(file, s)...).book.text()
			if diff := cmp.Diff(strings.Split(got, "\n"), strings.Split(with, "\n")); diff != "" {
				t.Errorf("restarts change what happens (-without +with):\n%s", diff)
			}
		})
	}
}

// golden holds a log against that of its file, or writes it there.
func golden(t *testing.T, file string, a *txtar.Archive, got string) {
	t.Helper()
	last := &a.Files[len(a.Files)-1]
	if last.Name != "log" {
		a.Files = append(a.Files, txtar.File{Name: "log"})
		last = &a.Files[len(a.Files)-1]
	}
	if *update {
		last.Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(last.Data), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", file, diff)
	}
}

// restarts are some at instants that depend on the file's name.
func restarts(name string, s *scenario) []order {
	h := fnv.New64a()
	h.Write([]byte(name))
	d := rand.New(rand.NewPCG(h.Sum64(), 1))
	var list []order
	gap := max(s.end.Sub(s.start)/6, 10*time.Minute)
	for at := s.start; ; list = append(list, order{at: at, what: "restart"}) {
		at = at.Add(time.Duration(d.Int64N(int64(2 * gap))))
		if !at.Before(s.end) {
			return list
		}
	}
}
