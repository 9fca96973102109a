package configs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Severity says whether a problem keeps the config from being used.
type Severity string

// The severities: a config with errors is refused, one with warnings runs.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one mistake of a config: where it stands, what is wrong and the fix. It never holds a secret's value.
type Problem struct {
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"` // "environment" for what came from there
	Line     int      `json:"line,omitempty"` // from 1; 0 = no line of a file
	Key      string   `json:"key"`            // e.g. target[gw-eu].base_url
	What     string   `json:"what"`
	Fix      string   `json:"fix,omitempty"`
}

// String returns one line: file:line: severity: key: what; fix.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s: ", p.Severity)
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.What)
	if p.Fix != "" {
		b.WriteString("; " + p.Fix)
	}
	return b.String()
}

// HasErrors reports whether one of the problems keeps the config from being used.
func HasErrors(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}

// report collects problems; the same problem seen twice (an inherited key) is kept once.
type report struct {
	problems []Problem
	seen     map[Problem]bool
}

func (r *report) add(s Severity, at place, key, what, fix string) {
	p := Problem{Severity: s, File: at.file, Line: at.line, Key: oneLine(key), What: oneLine(what), Fix: oneLine(fix)}
	if r.seen[p] {
		return
	}
	if r.seen == nil {
		r.seen = map[Problem]bool{}
	}
	r.seen[p] = true
	r.problems = append(r.problems, p)
}

// oneLine makes a text that holds foreign keys or values fit one line of a terminal.
func oneLine(s string) string {
	const most = 1000 // bytes
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

func (r *report) fail(at place, key, what, fix string) { r.add(Error, at, key, what, fix) }

func (r *report) failed() bool { return HasErrors(r.problems) }

// maxListed bounds the problems of one config that are listed.
const maxListed = 100

// sorted returns the problems by file and line, those of one line by key; of very many the first, and how many more.
func (r *report) sorted() []Problem {
	if r.problems == nil {
		return []Problem{} // [] in JSON
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key, b.Key), cmp.Compare(a.What, b.What))
	})
	if more := len(r.problems) - maxListed; more > 0 {
		severity := Warning
		if r.failed() {
			severity = Error
		}
		return append(r.problems[:maxListed:maxListed], Problem{Severity: severity, What: fmt.Sprintf("%d more problems are not listed", more), Fix: "correct those above first"})
	}
	return r.problems
}

// AsError returns nil where a config can be used, else an error with one line a problem.
func AsError(problems []Problem) error {
	if !HasErrors(problems) {
		return nil
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return errors.New("the config cannot be used:\n  " + strings.Join(lines, "\n  "))
}
