// Package message has the words: pure functions from what happened (Story) to what is sent (alert.Message). It decides nothing.
package message

import (
	"time"

	"serin/alert"
)

// Story is all that one message says. It has no clock, and nothing in it changes later.
//
// Act says which message: ActOpen, ActUpdate and ActResolve show the whole incident, ActReopen too, with News in its thread;
// ActThread shows News alone. What is left zero is left out of the message.
type Story struct {
	Act      alert.Act
	Now      time.Time
	Incident alert.Incident // after the change; its members say what is muted or inhibited
	Alerts   []alert.Alert  // of its members, firing and ended ones, in any order
	News     []News
	Group    []string       // names of all targets of the incident's group, in trouble or not; of a credential: those that use it
	Targets  []alert.Target // all that this instance watches, by name
	// Recent reads a canary's last hour; since is when the trouble began. nil: nothing is known.
	Recent func(canary string, k alert.Kind, since time.Time) alert.Recent
	Marks  []alert.Mark   // around the trouble, oldest first
	Paused time.Time      // probing with the refused or exhausted key pauses until then; zero = it does not
	Unsent bool           // ActResolve: the opening was never delivered
	Zone   *time.Location // of times where no scene names one; nil = UTC

	Instance, Region string
	URL              string // [http] external_url; "" = none
}

// News is one thing that changed.
type News struct {
	What   What   `json:"what"`
	Alert  string `json:"alert,omitempty"`  // id of the alert it is about; "" = the incident, or all of Target
	Target string `json:"target,omitempty"` // NewsTargetJoined, NewsTargetRecovered
	Detail string `json:"detail,omitempty"` // who acked and why; by what it is muted or inhibited. Foreign text, not escaped
}

// What happened to an incident or to one of its alerts.
type What string

// The news, those that page first.
const (
	NewsTargetJoined    What = "target_joined"    // a target of the group has its first alert
	NewsEscalated       What = "escalated"        // the incident's severity rose
	NewsReopened        What = "reopened"         // Alert fires again
	NewsReminder        What = "reminder"         // it still fires
	NewsSlower          What = "slower"           // Alert is slower still than its last 24 h
	NewsJoined          What = "joined"           // Alert joined, on a target that is in the incident already
	NewsTargetRecovered What = "target_recovered" // no alert of Target fires any more, others of the group do
	NewsEnded           What = "ended"            // Alert ended, others go on
	NewsRecovering      What = "recovering"       // the first calm check of Alert
	NewsAcked           What = "acked"            // by Detail
	NewsAckEnded        What = "ack_ended"        // reminders begin again
	NewsMuted           What = "muted"            // Alert ("" = all), by its member's mute
	NewsUnmuted         What = "unmuted"
	NewsInhibited       What = "inhibited" // Alert, by Detail
	NewsPaused          What = "paused"    // probing, until Story.Paused
)

// Pages reports whether a channel that cannot edit sends such news as a message of its own.
func (w What) Pages() bool {
	switch w {
	case NewsTargetJoined, NewsEscalated, NewsReopened, NewsReminder, NewsSlower:
		return true
	}
	return false
}
