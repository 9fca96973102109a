package incident

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/alert"
)

// Silence takes a silence from now on: Match, Ends, Reason and By are needed, without Starts it begins now. It returns the
// silence as taken, with its id, and the canaries that it matches now. An error names the field and the fix.
func (e *Engine) Silence(ctx context.Context, s Silence, now time.Time) (Silence, []string, error) {
	s = s.tidy(now)
	if err := errors.Join(s.check(now), e.knowsNames(s.Match)); err != nil {
		return s, nil, err
	}
	if len(e.silences) >= maxSilences {
		return s, nil, fmt.Errorf("there are %d silences already: end some, or match more with one", len(e.silences))
	}
	e.open(latest(e.now, now))
	s.ID = e.newID("silence " + s.Match.String())
	e.silences = append(slices.Clone(e.silences), s)
	e.tx.Silences = append(e.tx.Silences, s)
	e.log.Info("silence begins", "silence", s.ID, "match", s.Match.String(), "starts", s.Starts, "ends", s.Ends, "cap", string(s.Cap),
		"by", s.By, "reason", s.Reason)
	e.tellAll()
	return s, e.matched(s.Match), e.finish(ctx)
}

// newID gives out an id that no incident, silence or mark has.
func (e *Engine) newID(of string) string {
	id := incidentID(of, e.now, e.used)
	e.used.take(id, e.now)
	e.tx.ids = true
	return id
}

// Expire ends a silence now. A planned one never begins. The error says that there is none of that id.
func (e *Engine) Expire(ctx context.Context, id, who string, now time.Time) (Silence, error) {
	i := slices.IndexFunc(e.silences, func(s Silence) bool { return s.ID == id && s.Ends.After(now) })
	if i < 0 {
		return Silence{}, fmt.Errorf("no silence %q is active or planned: serin silence list shows them", oneLine(id, 40))
	}
	e.open(latest(e.now, now))
	s := e.silences[i]
	s.Ends, s.EndedBy = asStored(now), oneLine(who, maxBy)
	if s.Starts.After(s.Ends) {
		s.Starts = s.Ends
	}
	e.silences = slices.Delete(slices.Clone(e.silences), i, i+1)
	e.tx.Silences = append(e.tx.Silences, s)
	e.log.Info("silence ended", "silence", s.ID, "by", s.EndedBy)
	e.tellAll()
	return s, e.finish(ctx)
}

// tellAll has every target looked at again at the end of the call.
func (e *Engine) tellAll() {
	for _, t := range e.order {
		e.tx.tell(t)
	}
}

// knowsNames refuses matchers of names that nothing has.
func (e *Engine) knowsNames(ms Matchers) error {
	known := MatchNames()
	for _, t := range e.order {
		for _, c := range t.canaries {
			for name := range c.Canary.Target.Labels {
				if !slices.Contains(known, name) {
					known = append(known, name)
				}
			}
		}
	}
	slices.Sort(known[len(MatchNames()):])
	for _, m := range ms {
		if !slices.Contains(known, m.Name) {
			return fmt.Errorf("match: %q is neither a name to match nor a label of a target: there are %s", m.Name, strings.Join(known, ", "))
		}
	}
	return nil
}

// matched lists the canaries that matchers hold for, kind and severity left aside.
func (e *Engine) matched(ms Matchers) []string {
	ms = ms.Without("kind", "severity")
	var keys []string
	for _, t := range e.order {
		for _, c := range t.canaries {
			if ms.holds(e.fact(Alert{Series: c.key})) {
				keys = append(keys, c.key)
			}
		}
	}
	return keys
}

// lapse forgets silences that are over, and marks that are old.
func (e *Engine) lapse() {
	over := func(s Silence) bool { return !s.Ends.After(e.now) }
	if slices.ContainsFunc(e.silences, over) { // a new slice: Status shows the old one
		past := slices.DeleteFunc(slices.Clone(e.silences), func(s Silence) bool { return !over(s) })
		e.lapsed = append(e.lapsed, past...)
		e.lapsed = slices.Clone(e.lapsed[max(0, len(e.lapsed)-maxSilences):])
		e.silences = slices.DeleteFunc(slices.Clone(e.silences), over)
	}
	for len(e.marks) > 0 && e.now.Sub(e.marks[0].At) > markKept {
		e.marks = e.marks[1:]
	}
}
