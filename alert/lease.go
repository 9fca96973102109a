package alert

import "context"

// Lease says which of the daemons that share one store sends its notices: one at a time.
//
// Acquire waits until this process may send. held ends when it may not any more: the holder then stops at once, and what
// it had under way counts as sent without an answer. release gives the lease back; it is called once, also after held
// ended. The error is that of ctx.
type Lease interface {
	Acquire(ctx context.Context) (held context.Context, release func(), err error)
}

// SoleSender is the lease of a store that only one daemon can open: it is always held.
type SoleSender struct{}

var _ Lease = SoleSender{}

// Acquire returns ctx itself.
func (SoleSender) Acquire(ctx context.Context) (held context.Context, release func(), err error) {
	return ctx, func() {}, ctx.Err()
}
