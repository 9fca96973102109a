package alert

import (
	"errors"
	"fmt"
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
	MaxBy         = 100
	maxMatchers   = 20
	MaxSilences   = 1000
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

// Mute is what the silence does to an alert that it holds for.
func (s Silence) Mute() Mute {
	return Mute{Silence: s.ID, By: s.By, Reason: s.Reason, Until: s.Ends, Cap: s.Cap}
}

// Check says what is wrong with a silence that somebody asks for at a time; the error names the field and the fix.
func (s Silence) Check(now time.Time) error {
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

// Tidy makes what a person wrote one line, and instants comparable.
func (s Silence) Tidy(now time.Time) Silence {
	s.Reason, s.By = OneLine(s.Reason, MaxReason), OneLine(s.By, MaxBy)
	if s.Starts.Before(now) { // nobody was silent before
		s.Starts = now
	}
	s.Starts, s.Ends, s.Created = AsStored(s.Starts), AsStored(s.Ends), AsStored(now)
	return s
}

// AsStored is an instant that is equal to itself after it has been stored.
func AsStored(t time.Time) time.Time { return t.Round(0).UTC() }
