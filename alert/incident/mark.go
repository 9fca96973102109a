package incident

import (
	"slices"
	"strings"
	"time"

	"serin/alert"
)

const (
	markKept     = 8 * 24 * time.Hour // how long a mark is kept in mind
	maxMarks     = 10_000
	marksShown   = 3
	ownMark      = "serin"   // the author of the marks that serin sets
	ownMarkQuiet = time.Hour // the same mark of a target is not set again: its canaries see one change one after another
)

// Mark sets a mark: Text and By are needed, without At it is now. The error names the field and the fix.
func (i *Incidents) Mark(m alert.Mark, now time.Time) (alert.Told, alert.Mark, error) {
	i.begin(now)
	if m.At.IsZero() {
		m.At = i.now
	}
	m.At, m.Created = alert.AsStored(m.At), alert.AsStored(i.now)
	m.Text, m.By = alert.OneLine(m.Text, alert.MaxReason), alert.OneLine(m.By, alert.MaxBy)
	if err := m.Check(i.now); err != nil {
		return alert.Told{}, m, err
	}
	i.addMark(&m, "mark "+m.Text)
	i.log.Info("mark", "mark", m.ID, "at", m.At, "text", m.Text, "targets", strings.Join(m.Targets, " "), "by", m.By)
	return i.commit(), m, nil
}

// addMark gives a mark its id, keeps it and stores it.
func (i *Incidents) addMark(m *alert.Mark, of string) {
	m.ID = i.newID(of)
	i.keepMark(*m)
	i.told.Marks = append(i.told.Marks, *m)
}

// keepMark puts a mark in its place by time.
func (i *Incidents) keepMark(m alert.Mark) {
	if i.now.Sub(m.At) > markKept || len(i.marks) >= maxMarks {
		return
	}
	n, _ := slices.BinarySearchFunc(i.marks, m, func(a, b alert.Mark) int { return a.At.Compare(b.At) })
	i.marks = slices.Insert(slices.Clone(i.marks), n, m)
}

// markOwn puts what serin itself saw of a target on the time line.
func (i *Incidents) markOwn(target, text string, at time.Time) {
	m := alert.Mark{At: alert.AsStored(at), Text: alert.OneLine(text, alert.MaxReason), Targets: []string{target}, By: ownMark, Created: alert.AsStored(i.now)}
	for _, old := range i.marks {
		if old.By == ownMark && old.Text == m.Text && old.Targets[0] == target && m.At.Sub(old.At).Abs() < ownMarkQuiet {
			return
		}
	}
	i.addMark(&m, "mark "+target+" "+m.Text)
}

// marksAround returns the newest marks of some targets from an hour before trouble began until now, oldest first.
func (i *Incidents) marksAround(targets []string, began time.Time) []alert.Mark {
	var list []alert.Mark
	for _, m := range i.marks {
		if slices.ContainsFunc(targets, m.Concerns) && !m.At.Before(began.Add(-alert.MarkBefore)) && !m.At.After(i.now) {
			list = append(list, m)
		}
	}
	return list[max(0, len(list)-marksShown):]
}
