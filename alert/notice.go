package alert

import (
	"strings"
	"time"
)

// Act is what a notice asks of a channel.
type Act string

// The acts. A channel that cannot edit sends a new message for ActResolve and nothing for ActUpdate and ActThread.
const (
	ActOpen    Act = "open"
	ActUpdate  Act = "update"  // edit the opening message
	ActThread  Act = "thread"  // add to its thread
	ActReopen  Act = "reopen"  // it fires again: edit the opening message, and a broadcast reply in its thread
	ActResolve Act = "resolve" // edit to RESOLVED, then a thread line
	ActTest    Act = "test"
	ActNote    Act = "note" // a message of its own, which opens nothing; nothing for a channel that keeps states
)

// NoticeState is where a notice stands.
type NoticeState string

// The notice states.
const (
	NoticePending NoticeState = "pending"
	NoticeSent    NoticeState = "sent"
	NoticeBlocked NoticeState = "blocked" // the channel refused for good: tried again after a restart or reload
	NoticeDropped NoticeState = "dropped" // given up, superseded, or for something never announced
)

// Notice is a message for a channel. Its key is (Incident, Channel, Revision).
type Notice struct {
	Incident  string      `json:"incident"`
	Channel   string      `json:"channel"`
	Revision  int         `json:"revision"`
	Act       Act         `json:"act"`
	Message   Message     `json:"message"`
	State     NoticeState `json:"state"`
	Created   time.Time   `json:"created"`
	NotBefore time.Time   `json:"not_before,omitzero"`
	Attempts  int         `json:"attempts,omitempty"`
	Sending   bool        `json:"sending,omitempty"` // an attempt began whose answer is not stored yet
	Sent      time.Time   `json:"sent,omitzero"`
	Receipt   Receipt     `json:"receipt,omitzero"`
	Error     string      `json:"error,omitempty"`   // redacted
	Limited   bool        `json:"limited,omitempty"` // the channel asked to wait: until NotBefore nothing goes to it
	Facts     Facts       `json:"facts,omitzero"`    // the same as data
	Pages     bool        `json:"pages,omitempty"`   // a channel that cannot edit sends it as a message of its own: opening, escalation, growth, reminder, firing again
}

// Receipt is what a channel returned for a message it accepted: enough to edit it and to answer in its thread.
type Receipt struct {
	Channel string `json:"channel,omitempty"` // Slack channel id
	TS      string `json:"ts,omitempty"`
}

// Message is a neutral message; each channel renders it. Foreign text in it is not escaped yet.
type Message struct {
	Severity Severity `json:"severity"`
	State    string   `json:"state"`    // one of the message states
	Headline string   `json:"headline"` // one line: who, what, how much, what is usual, the factor
	Lines    []Line   `json:"lines,omitempty"`
	Incident string   `json:"incident,omitempty"`
	Link     string   `json:"link,omitempty"` // "" = none; the explain command stands in its place
	Runbook  string   `json:"runbook,omitempty"`
	Footer   []string `json:"footer,omitempty"` // incident id, instance, region, request id, commands
	Mention  bool     `json:"mention,omitempty"`
	Thread   string   `json:"thread,omitempty"` // what a resolve or reopen adds to the thread; "" = the headline
}

// TestNotice returns the notice of a test message for a channel.
func TestNotice(channel string, m Message, now time.Time) Notice {
	return Notice{Channel: channel, Act: ActTest, Created: now, Message: m}
}

// Alone returns the message as a channel sends it that can neither edit nor answer in a thread: times are plain, and what a
// reopening adds to the thread is its headline.
func (n Notice) Alone() Message {
	m := n.Message.Plain()
	if n.Act == ActReopen && m.Thread != "" {
		m.Headline = m.Thread
	}
	return m
}

// Calls reports whether the notice may mention people: an edit and an end never do.
func (n Notice) Calls() bool {
	return n.Message.Mention && (n.Act == ActOpen || n.Act == ActThread || n.Act == ActReopen)
}

// SkipsUnpaged reports whether a channel that cannot edit leaves the notice out: an edit, or a thread line that pages nobody.
func (n Notice) SkipsUnpaged() bool { return n.Act == ActUpdate || n.Act == ActThread && !n.Pages }

// The message states.
const (
	MessageFiring   = "firing"
	MessageUpdate   = "update"
	MessageReminder = "reminder"
	MessageEased    = "eased"    // an update: part of it is over, the rest goes on
	MessageResolved = "resolved" // the checks are good again
	MessageClosed   = "closed"   // over, but nothing recovered: accepted, removed from the config, …
	MessageDigest   = "digest"
	MessageTest     = "test"
)

// Badge returns the emoji (a Slack short code) and the word that stand before a headline: the severity while it fires,
// else the state. Never the colour alone.
func (m Message) Badge() (emoji, word string) {
	switch m.State {
	case MessageResolved:
		return ":large_green_circle:", "RESOLVED"
	case MessageEased:
		return ":large_green_circle:", "RECOVERED"
	case MessageClosed, MessageDigest, MessageTest:
		return ":large_blue_circle:", strings.ToUpper(m.State)
	}
	switch m.Severity {
	case Critical:
		return ":red_circle:", "CRITICAL"
	case Warning:
		return ":large_orange_circle:", "WARNING"
	}
	return ":large_blue_circle:", "INFO"
}

// Line is one line of a message's body; Role lets a channel drop detail last-first.
type Line struct {
	Role string `json:"role"` // scope, spark, hint, do, counts, detail
	Text string `json:"text"`
}
