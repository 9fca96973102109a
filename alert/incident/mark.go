package incident

import (
	"context"
	"slices"
	"strings"
	"time"

	"serin/alert"
)

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
