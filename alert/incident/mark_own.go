package incident

import (
	"time"

	"serin/probe"
)

// ownMark is the author of the marks that serin sets by itself.
const ownMark = "serin"

// ownMarkQuiet is how long the same mark of a target is not set again: its canaries see one change one after another.
const ownMarkQuiet = time.Hour

// markOwn puts what serin itself saw of a target on the time line.
func (e *Engine) markOwn(target, text string, at time.Time) {
	if e.opt.Recorded {
		return
	}
	m := Mark{At: asStored(at), Text: oneLine(text, MaxReason), Targets: []string{target}, By: ownMark, Created: asStored(e.now)}
	for _, old := range e.marks {
		if old.By == ownMark && old.Text == m.Text && old.Targets[0] == target && m.At.Sub(old.At).Abs() < ownMarkQuiet {
			return
		}
	}
	m.ID = e.newID("mark " + target + " " + m.Text)
	e.keepMark(m)
	e.tx.Marks = append(e.tx.Marks, m)
}

// markChange marks that an endpoint answers as another model than before.
func (e *Engine) markChange(c *watch, s *probe.Sample) {
	if !s.Has(probe.ModelChanged) {
		return
	}
	text := "answers as model " + s.ReturnedModel
	if s.SystemFingerprint != "" {
		text += ", fingerprint " + s.SystemFingerprint
	}
	e.markOwn(c.Canary.Target.Name, text, s.Time)
}

// markSpec marks that the config has made another thing of a canary.
func (e *Engine) markSpec(c *watch) {
	e.markOwn(c.Canary.Target.Name, "config changed its spec (model, prompts, output cap, endpoint or the like)", e.now)
}
