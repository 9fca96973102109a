package alert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/probe/glob"
)

// Mark is an event on the time line that people may want to see beside trouble: "vllm 0.13".
type Mark struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Text    string    `json:"text"`
	Targets []string  `json:"targets,omitempty"` // globs over target names; none = all
	By      string    `json:"by"`
	Created time.Time `json:"created"`
}

// MarkBefore is how long before trouble a mark may lie to be told with it.
const MarkBefore = time.Hour

const (
	markKept   = 8 * 24 * time.Hour  // how long the engine has a mark in mind
	markAhead  = 31 * 24 * time.Hour // how far ahead a mark may lie
	markBehind = 366 * 24 * time.Hour
	marksTold  = 3
	maxTargets = 20
	maxMarks   = 10_000
)

// Concerns reports whether a mark is about a target.
func (m Mark) Concerns(target string) bool {
	return len(m.Targets) == 0 || slices.ContainsFunc(m.Targets, func(g string) bool { return glob.Match(g, target) })
}

// Check says what is wrong with a mark that somebody sets; the error names the field and the fix.
func (m Mark) Check(now time.Time) error {
	bad := slices.IndexFunc(m.Targets, func(g string) bool { return !glob.Valid(g) || len(g) > maxMatcher })
	switch {
	case strings.TrimSpace(m.Text) == "":
		return errors.New("text is missing: say what happened, such as vllm 0.13")
	case len(m.Targets) > maxTargets:
		return fmt.Errorf("targets has over %d patterns: use a glob", maxTargets)
	case bad >= 0:
		return fmt.Errorf("targets: %q is not a pattern: write a name or a glob such as gw-*", OneLine(m.Targets[bad], 80))
	case m.At.Sub(now) > markAhead:
		return fmt.Errorf("at (%s) is over a month ahead: mark it when it happens", m.At.Format(time.RFC3339))
	case now.Sub(m.At) > markBehind:
		return fmt.Errorf("at (%s) is over a year ago: check the year", m.At.Format(time.RFC3339))
	}
	return nil
}
