package alert

import (
	"context"
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

// check says what is wrong with a mark that somebody sets; the error names the field and the fix.
func (m Mark) check(now time.Time) error {
	bad := slices.IndexFunc(m.Targets, func(g string) bool { return !glob.Valid(g) || len(g) > maxMatcher })
	switch {
	case strings.TrimSpace(m.Text) == "":
		return errors.New("text is missing: say what happened, such as vllm 0.13")
	case len(m.Targets) > maxTargets:
		return fmt.Errorf("targets has over %d patterns: use a glob", maxTargets)
	case bad >= 0:
		return fmt.Errorf("targets: %q is not a pattern: write a name or a glob such as gw-*", oneLine(m.Targets[bad], 80))
	case m.At.Sub(now) > markAhead:
		return fmt.Errorf("at (%s) is over a month ahead: mark it when it happens", m.At.Format(time.RFC3339))
	case now.Sub(m.At) > markBehind:
		return fmt.Errorf("at (%s) is over a year ago: check the year", m.At.Format(time.RFC3339))
	}
	return nil
}

// Mark sets a mark: Text and By are needed, without At it is now. The error names the field and the fix.
func (e *Engine) Mark(ctx context.Context, m Mark, now time.Time) (Mark, error) {
	if m.At.IsZero() {
		m.At = now
	}
	m.At, m.Created, m.Text, m.By = asStored(m.At), asStored(now), oneLine(m.Text, MaxReason), oneLine(m.By, maxBy)
	if err := m.check(now); err != nil {
		return m, err
	}
	e.open(latest(e.now, now))
	m.ID = e.newID("mark " + m.Text)
	e.keepMark(m)
	e.tx.Marks = append(e.tx.Marks, m)
	e.log.Info("mark", "mark", m.ID, "at", m.At, "text", m.Text, "targets", strings.Join(m.Targets, " "), "by", m.By)
	return m, e.finish(ctx)
}

// keepMark puts a mark in its place by time.
func (e *Engine) keepMark(m Mark) {
	if e.now.Sub(m.At) > markKept || len(e.marks) >= maxMarks {
		return
	}
	i, _ := slices.BinarySearchFunc(e.marks, m, func(a, b Mark) int { return a.At.Compare(b.At) })
	e.marks = slices.Insert(slices.Clone(e.marks), i, m)
}

// marksAround returns the newest marks of some targets from an hour before trouble began until it ended, oldest first.
func (e *Engine) marksAround(targets []string, began, ended time.Time) []Mark {
	var list []Mark
	for _, m := range e.marks {
		if slices.ContainsFunc(targets, m.Concerns) && !m.At.Before(began.Add(-MarkBefore)) && !m.At.After(ended) {
			list = append(list, m)
		}
	}
	return list[max(0, len(list)-marksTold):]
}

// markLine lists marks: mark 13:58 "vllm 0.13" (7 min before it began).
func markLine(s Story) string {
	var parts []string
	from := began(s)
	for _, m := range s.Marks {
		text := "mark " + onDay(m.At, s.Now, s.Zone, "15:04") + ` "` + oneLine(m.Text, 100) + `"`
		if d := from.Sub(m.At); d >= time.Second && !from.IsZero() {
			text += " (" + elapsed(d) + " before it began)"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}
