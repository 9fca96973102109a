package configs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/probe/secret"
)

// Options say what to load.
type Options struct {
	Path       string    // a file, or a directory whose *.toml are read in name order; "" = the endpoint in the environment
	NoSecrets  bool      // do not read credentials: for a check where they are not at hand
	ProbesOnly bool      // read the credentials of targets alone: for who probes and notifies nobody
	Pattern    string    // with ProbesOnly: of the targets of canaries that match alone, see glob.MatchKey; "" = of all
	Now        time.Time // schedules are judged from here on; zero = now
}

// source is one file's text, or values that stand in no file.
type source struct {
	name   string
	data   []byte
	values map[string]any
}

// maxFile bounds a config file, bytes; a fleet of thousands of targets stays far below.
const maxFile = 16 << 20

// Load reads, checks and resolves a config. It returns every problem found, by file and line; the Config is nil where
// one of them is an error. Warnings are in Config.Warnings too.
func Load(o Options) (*Config, []Problem) {
	rep := &report{}
	var files []source
	if o.Path != "" {
		files = readFiles(o.Path, rep)
	} else if s, err := fromVariables(); err != nil {
		rep.fail(place{file: fromEnvironment}, "", err.Error(), "or write a config file and name it with -c")
	} else {
		files = []source{s}
	}
	if len(files) == 0 {
		return nil, rep.sorted()
	}
	return load(files, os.Environ(), o, rep)
}

// load is Load on files already read; environ holds NAME=value. Files, then the environment, become one tree of values,
// which is unmarshalled once.
func load(files []source, environ []string, o Options, rep *report) (*Config, []Problem) {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	doc := newDocument(rep)
	for _, f := range files {
		if f.values == nil {
			doc.parse(f.name, f.data)
			doc.origin = cmp.Or(doc.origin, place{f.name, 1})
			continue
		}
		doc.load(f.values)
		doc.origin = place{file: f.name}
	}
	whole := !rep.failed()
	over := doc.override(environ)
	l := newLoader(doc, o)
	l.unmarshal(alert.DefaultRule())
	if !whole { // what rests on the files that could not be read is not judged
		l.checkNames()
		return nil, rep.sorted()
	}
	l.resolve()
	problems := rep.sorted()
	if HasErrors(problems) {
		return nil, problems
	}
	l.cfg.Source, l.cfg.Warnings, l.cfg.Revision = o.Path, slices.Clone(problems), revision(files, over)
	return l.cfg, problems
}

// revision hashes the files and the overrides.
func revision(files []source, overrides []string) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %s %d ", len(f.name), f.name, len(f.data))
		h.Write(f.data)
	}
	for _, o := range overrides {
		fmt.Fprintf(h, "%d %s ", len(o), o)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func readFiles(path string, rep *report) []source {
	info, err := os.Stat(path)
	if err != nil {
		rep.fail(place{file: path}, "", "cannot be read: "+reason(err), "name the config file, or a directory with *.toml, after -c")
		return nil
	}
	names := []string{path}
	if info.IsDir() {
		names = listDir(path, rep)
	}
	var files []source
	for _, name := range names {
		data, err := secret.ReadFile(name, maxFile)
		if err != nil {
			rep.fail(place{file: name}, "", "cannot be read: "+reason(err), "name a plain file that serin's user may read")
			continue
		}
		files = append(files, source{name: name, data: data})
	}
	return files
}

// listDir returns the *.toml of a directory by name; hidden ones (editors' and Kubernetes' work files) are left out.
func listDir(dir string, rep *report) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		rep.fail(place{file: dir}, "", "cannot be read: "+reason(err), "let the user that serin runs as read the directory")
		return nil
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".toml") && !e.IsDir() {
			names = append(names, filepath.Join(dir, name))
		}
	}
	if len(names) == 0 {
		rep.fail(place{file: dir}, "", "holds no *.toml", "put the config in it, or name another directory")
	}
	slices.Sort(names)
	return names
}

// reason returns the cause of a file error without the path, which the message names already.
func reason(err error) string {
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		return perr.Err.Error()
	}
	return err.Error()
}
