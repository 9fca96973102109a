package alert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Silence mutes what is told, not what is judged: alerts that all of its matchers hold for go on with their states, and
// nobody is told of them between Starts and Ends. With Cap they are told, but as no more than that.
type Silence struct {
	ID      string    `json:"id"`
	Match   Matchers  `json:"match"` // at least one
	Starts  time.Time `json:"starts"`
	Ends    time.Time `json:"ends"`
	Reason  string    `json:"reason"`
	By      string    `json:"by"`
	Created time.Time `json:"created"`
	Cap     Severity  `json:"cap,omitempty"`      // "" = nothing is told
	EndedBy string    `json:"ended_by,omitempty"` // who ended it before its time
}

// Bounds of what a person may write, and of how much is kept in mind.
const (
	MaxReason     = 500 // characters of a reason or a mark's text
	maxBy         = 100
	maxMatchers   = 20
	maxSilences   = 1000
	maxSilenceFor = 366 * 24 * time.Hour
)

// State returns pending, active or expired.
func (s Silence) State(now time.Time) string {
	switch {
	case !s.Ends.After(now):
		return "expired"
	case s.Starts.After(now):
		return "pending"
	}
	return "active"
}

// mute is what the silence does to an alert that it holds for.
func (s Silence) mute() Mute {
	return Mute{Silence: s.ID, By: s.By, Reason: s.Reason, Until: s.Ends, Cap: s.Cap}
}

// check says what is wrong with a silence that somebody asks for at a time; the error names the field and the fix.
func (s Silence) check(now time.Time) error {
	switch {
	case len(s.Match) == 0:
		return errors.New("match is empty: name what to silence, such as target=gw-eu; target='*' is everything")
	case len(s.Match) > maxMatchers:
		return fmt.Errorf("match has %d matchers, over %d: write several silences", len(s.Match), maxMatchers)
	case strings.TrimSpace(s.Reason) == "":
		return errors.New("reason is missing: say why, for those who see the silence")
	case s.By == "":
		return errors.New("by is missing: say who silences")
	case !s.Ends.After(now):
		return fmt.Errorf("ends (%s) has passed: give a later end", s.Ends.Format(time.RFC3339))
	case !s.Ends.After(s.Starts):
		return fmt.Errorf("ends (%s) is not after starts (%s): give a later end", s.Ends.Format(time.RFC3339), s.Starts.Format(time.RFC3339))
	case s.Ends.Sub(now) > maxSilenceFor:
		return errors.New("ends is over a year ahead: what is to be silent for so long is better taken out of the config")
	case s.Cap != "" && s.Cap != Info && s.Cap != Warning:
		return fmt.Errorf("cap %q is unknown: warning (told as no more than that), info (nobody is told), or leave it out", s.Cap)
	}
	return nil
}

// tidy makes what a person wrote one line, and instants comparable.
func (s Silence) tidy(now time.Time) Silence {
	s.Reason, s.By = oneLine(s.Reason, MaxReason), oneLine(s.By, maxBy)
	if s.Starts.Before(now) { // nobody was silent before
		s.Starts = now
	}
	s.Starts, s.Ends, s.Created = asStored(s.Starts), asStored(s.Ends), asStored(now)
	return s
}

// asStored is an instant that is equal to itself after it has been stored.
func asStored(t time.Time) time.Time { return t.Round(0).UTC() }

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
