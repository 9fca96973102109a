// Package message has the words: pure functions from what happened (Story) to what is sent (alert.Message). It decides nothing.
package message

import (
	"time"

	"serin/alert"
)

// Story is all that one message says. It has no clock, and nothing in it changes later.
//
// Act says which message: ActThread shows News, the others the whole incident. What is left zero is left out of the message.
type Story struct {
	Act      alert.Act
	Now      time.Time
	Incident alert.Incident // after the change; its members say what is muted or inhibited
	Alerts   []alert.Alert  // of its members, firing and ended ones, the leading one first
	News     []News
	Group    []string       // names of all targets of the incident's group, in trouble or not; of a credential: those that use it
	Targets  []alert.Target // all that this instance watches, by name
	// Recent reads a canary's last hour; since is when the trouble began. nil: nothing is known.
	Recent func(canary string, k alert.Kind, since time.Time) alert.Recent
	Marks  []alert.Mark   // around the trouble, oldest first
	Paused time.Time      // probing with the refused or exhausted key pauses until then; zero = it does not
	Zone   *time.Location // of times where no scene names one; nil = UTC

	Instance, Region string
	URL              string // [http] external_url; "" = none
}

// News is one thing that changed.
type News struct {
	What   What
	Alert  string // id of the alert it is about; "" = the incident, or all of Target
	Target string
	Detail string // NewsAcked: who, and why. Foreign text, not escaped
}

// What happened to an incident or to one of its alerts. A thread names what is wrong before what ended.
type What int

// The news.
const (
	NewsReminder        What = iota // it still fires
	NewsReopened                    // it fires again
	NewsEscalated                   // the incident's severity rose
	NewsTargetJoined                // Target has its first alert
	NewsSlower                      // Alert is slower still than its last 24 h
	NewsJoined                      // Alert joined, on a target that is in the incident already
	NewsAcked                       // by Detail
	NewsTargetRecovered             // no alert of Target fires any more, others of the group do
	NewsEnded                       // Alert ended, others go on
)
