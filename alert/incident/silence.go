package incident

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/alert"
)

// Silence takes a silence from now on: Match, Ends, Reason and By are needed, without Starts it begins now. It returns the
// silence as taken, with its id, and the canaries that it matches now. An error names the field and the fix.
func (i *Incidents) Silence(s alert.Silence, now time.Time) (alert.Told, alert.Silence, []string, error) {
	i.begin(now)
	s = s.Tidy(i.now)
	if err := errors.Join(s.Check(i.now), i.knowsNames(s.Match)); err != nil {
		return alert.Told{}, s, nil, err
	}
	if len(i.silences) >= alert.MaxSilences {
		return alert.Told{}, s, nil, fmt.Errorf("there are %d silences already: end some, or match more with one", len(i.silences))
	}
	s.ID = i.newID("silence " + s.Match.String())
	i.silences = append(slices.Clone(i.silences), s)
	i.told.Silences = append(i.told.Silences, s)
	i.log.Info("silence begins", "silence", s.ID, "match", s.Match.String(), "starts", s.Starts, "ends", s.Ends, "cap", string(s.Cap),
		"by", s.By, "reason", s.Reason)
	i.refresh("")
	return i.commit(), s, i.matched(s.Match), nil
}

// Expire ends a silence now. A planned one never begins. The error says that there is none of that id.
func (i *Incidents) Expire(id, who string, now time.Time) (alert.Told, alert.Silence, error) {
	i.begin(now)
	n := slices.IndexFunc(i.silences, func(s alert.Silence) bool { return s.ID == id && s.Ends.After(i.now) })
	if n < 0 {
		return alert.Told{}, alert.Silence{}, fmt.Errorf("no silence %q is active or planned: serin silence list shows them", alert.OneLine(id, 40))
	}
	s := i.silences[n]
	s.Ends, s.EndedBy = alert.AsStored(i.now), alert.OneLine(who, alert.MaxBy)
	if s.Starts.After(s.Ends) {
		s.Starts = s.Ends
	}
	i.silences = slices.Delete(slices.Clone(i.silences), n, n+1)
	i.told.Silences = append(i.told.Silences, s)
	i.log.Info("silence ended", "silence", s.ID, "by", s.EndedBy)
	i.refresh("")
	return i.commit(), s, nil
}

// knowsNames refuses matchers of names that nothing has.
func (i *Incidents) knowsNames(ms alert.Matchers) error {
	known := alert.MatchNames()
	for _, t := range i.engine.Targets() {
		for name := range t.Labels {
			if !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
	}
	slices.Sort(known[len(alert.MatchNames()):])
	for _, m := range ms {
		if !slices.Contains(known, m.Name) {
			return fmt.Errorf("match: %q is neither a name to match nor a label of a target: there are %s", m.Name, strings.Join(known, ", "))
		}
	}
	return nil
}

// matched lists the canaries that matchers hold for, kind and severity left aside.
func (i *Incidents) matched(ms alert.Matchers) []string {
	ms = ms.Without("kind", "severity")
	var keys []string
	for _, t := range i.engine.Targets() {
		for _, c := range t.Canaries {
			if ms.Holds(i.fact(alert.Alert{Series: c.Key()})) {
				keys = append(keys, c.Key())
			}
		}
	}
	return keys
}

// expire forgets silences that are over, marks that are old, and closed incidents that are not reopened any more.
func (i *Incidents) expire() {
	over := func(s alert.Silence) bool { return !s.Ends.After(i.now) }
	if slices.ContainsFunc(i.silences, over) { // a new slice: Status shows the old one
		i.silences = slices.DeleteFunc(slices.Clone(i.silences), over)
	}
	for len(i.marks) > 0 && i.now.Sub(i.marks[0].At) > markKept {
		i.marks = i.marks[1:]
	}
	i.closed = slices.DeleteFunc(i.closed, func(inc *incident) bool { return i.now.Sub(inc.Closed) > recurringWithin })
	for _, w := range i.windows {
		w.turn(i.now)
	}
}
