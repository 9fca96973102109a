// Package outbox delivers notices to channels: in order within an incident, at most one message a second a channel, again
// after a failure, and over restarts.
//
// A notice is in the journal before it comes here. An attempt is in the journal before the call and its answer after it: so
// after a crash nothing that a channel accepted is sent again, and what has no answer is sent once more. Waits that a channel
// asked for are in the journal too, so that a restart keeps to them.
package outbox
