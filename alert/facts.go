package alert

import "context"

// Facts is what a notice is about, as data: for channels that send more than text. Incident.ID is "" where no incident of
// the engine stands behind the notice (a test, serin's own health).
type Facts struct {
	Incident Incident `json:"incident"`
	Alerts   []Fact   `json:"alerts,omitempty"` // the leading one first, ended ones too
	More     int      `json:"more,omitempty"`   // alerts left out, beyond maxFacts
	Instance string   `json:"instance,omitempty"`
	Region   string   `json:"region,omitempty"`
}

// Fact is one alert without its votes, and what its series is. Scene and Size are "" where the whole target is meant.
type Fact struct {
	Alert  Alert             `json:"alert"`
	Target string            `json:"target"`
	Scene  string            `json:"scene,omitempty"`
	Size   string            `json:"size,omitempty"`
	Scenes []string          `json:"scenes,omitempty"` // of a whole target: those that watch it
	Labels map[string]string `json:"labels,omitempty"` // of the target

	Mute      Mute   `json:"mute,omitzero"`
	Inhibited string `json:"inhibited,omitempty"`
}

// maxFacts bounds the alerts of one notice: it is stored once a channel.
const maxFacts = 50

// Bounded returns at most maxFacts of the facts, the leading ones.
func (f Facts) Bounded() Facts {
	if n := len(f.Alerts); n > maxFacts {
		f.Alerts, f.More = f.Alerts[:maxFacts:maxFacts], n-maxFacts
	}
	return f
}

// StateChannel is a channel whose other side forgets: besides its notices it wants to hear regularly of all that fires.
//
// Refresh tells it so: firing are the announced, open incidents that go to this channel, as edits (ActUpdate) of now.
// What the channel told before and is not in firing is over. An error names what was not reached; the next call makes up
// for it. Refresh may run beside Send and keeps to ctx's deadline.
type StateChannel interface {
	Channel
	Refresh(ctx context.Context, firing []Notice) error
}

// Illustrator is a channel that can show pictures below a message that it took.
//
// Pictures reports whether it is to, and whether dark ones. Illustrate adds one to the message of a receipt; it keeps to
// ctx's deadline and changes nothing about the message.
type Illustrator interface {
	Channel
	Pictures() (wanted, dark bool)
	Illustrate(ctx context.Context, at Receipt, name, title string, png []byte) error
}

// Finding is one thing that a test of a channel found: fine, or missing with the fix.
type Finding struct {
	OK   bool   `json:"ok"`
	What string `json:"what"`
	Fix  string `json:"fix,omitempty"`
}

// Tester is a channel that can try its whole way with a test message. Findings come in the order of trying; the channel
// works when all are OK. An error is ours: a secret that cannot be read.
type Tester interface {
	Test(ctx context.Context, m Message) ([]Finding, error)
}
