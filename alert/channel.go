package alert

import (
	"context"
	"time"
)

// Channel sends one notice.
//
// open is the receipt of the incident's opening message on this channel (zero when there is none): what an edit or a
// thread line refers to. An ActResolve with a zero open is a message of its own. Send returns the receipt of what it
// sent. An error is *SendError where the channel knows what should happen next; any other error is taken for a lost
// answer and tried again with back-off. Send is called by one goroutine at a time and keeps to ctx's deadline.
type Channel interface {
	Name() string
	// Skips reports whether the channel never sends such a notice (one that cannot edit skips updates): it is dropped
	// without a call and takes no turn.
	Skips(n Notice) bool
	Send(ctx context.Context, n Notice, open Receipt) (Receipt, error)
}

// SendError says why a channel did not take a notice, and what should happen next. Its text holds no secret.
type SendError struct {
	Code       string        // the channel's own word for it: "channel_not_found", "http 503", "timeout"
	Fix        string        // what a person can do about it; "" = nothing
	Retryable  bool          // waiting may cure it; false: kept until a restart or reload
	Limited    bool          // the channel asked to wait RetryAfter: nothing goes to it until then
	RetryAfter time.Duration // with Limited; 0 = not said
	Lost       bool          // the answer never came: the message may have been taken
	Err        error         // the cause, may be nil
}

// Error returns the code, the cause and the fix.
func (e *SendError) Error() string {
	text := e.Code
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }
