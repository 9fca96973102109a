package alert

import "context"

// Channel sends one notice.
//
// open is the receipt of the incident's opening message on this channel (zero when there is none): what an edit or a
// thread line refers to. Send returns the receipt of what it sent. An error is *SendError where the channel knows what
// should happen next; any other error is tried again with back-off.
type Channel interface {
	Name() string
	Send(ctx context.Context, n Notice, open Receipt) (Receipt, error)
}
