package probe

import (
	"time"

	"serin/probe/wire"
)

// fold is what the events of one stream add up to. It reads no clock: every instant is that of a read.
type fold struct {
	events  int // of any kind
	chunks  int // with generated material
	skipped int

	first, token, answer, visible, last time.Time // event 1, token 1, answer 1, token 1 that is no reasoning, token N

	firstKind wire.Kind
	firstRead burst // the read that brought the first token
	lastRead  burst // the read that brought the latest
	most      int   // token events of the fullest read
	reads     int   // reads that brought tokens
	stamps    int   // distinct instants among them
	maxGap    time.Duration
	lag       time.Duration // the longest of any read
	near      time.Duration // the longest of the reads around the first token

	finish             string
	ending             wire.Ending // what finish means
	early, open        bool        // tokens came after a finish reason; the last one did
	finishAt, markerAt time.Time
	usage              wire.Usage
	fault              *wire.Fault
	choices            int
	model, fingerprint string
	requestID          string
	unterminated       bool
	sealed, paraphrase bool // reasoning that was not to be seen
	thought            bool // reasoning that was
	redacted           bool
	whole              bool // the last event is the first with generated material: no stream
}

// burst is one read with the token events that it completed.
type burst struct {
	reading
	tokens int
}

// add takes in one event. An unterminated one may end the stream or report an error, but never stamps a token.
func (f *fold) add(p *wire.Piece, rd reading, unterminated bool) {
	f.events++
	if f.first.IsZero() && !unterminated {
		f.first = rd.at
	}
	if p.Skipped {
		f.skipped++
	}
	f.unterminated = f.unterminated || unterminated
	f.usage.Merge(p.Usage)
	f.choices = max(f.choices, p.Choices)
	keep(&f.model, p.Model)
	keep(&f.fingerprint, p.Fingerprint)
	keep(&f.requestID, p.RequestID)
	if p.Fault != nil && f.fault == nil {
		f.fault = p.Fault
	}
	f.sealed = f.sealed || p.Sealed
	switch {
	case p.Kind == 0:
	case p.Terminal == wire.Done && f.chunks == 0:
		f.whole = true
	case !unterminated:
		f.generated(p.Kind, rd)
	}
	if f.finish != "" && p.Kind != 0 && !unterminated {
		f.early, f.open = true, true
	}
	f.end(p, rd.at)
}

func keep(have *string, later string) {
	if later != "" {
		*have = later
	}
}

func (f *fold) end(p *wire.Piece, at time.Time) {
	if p.Finish != "" {
		f.finish, f.finishAt, f.open = p.Finish, at, false
	}
	if p.Terminal == wire.Done && f.markerAt.IsZero() {
		f.markerAt = at
	}
}

// lagged notes how late a read was.
func (f *fold) lagged(rd reading) {
	f.lag = max(f.lag, rd.lag)
	if f.token.IsZero() || rd.at.Sub(f.token) < suspectNear {
		f.near = max(f.near, rd.lag)
	}
}

// generated takes in an event with generated material.
func (f *fold) generated(kind wire.Kind, rd reading) {
	f.chunks++
	f.thought = f.thought || kind&wire.Reasoning != 0
	f.paraphrase = f.paraphrase || kind&wire.Summary != 0
	f.redacted = f.redacted || kind&wire.Redacted != 0
	if f.chunks == 1 {
		f.token, f.firstKind = rd.at, kind
	}
	if f.answer.IsZero() && kind&(wire.Text|wire.Refusal) != 0 {
		f.answer = rd.at
	}
	if f.visible.IsZero() && kind&(wire.Text|wire.Refusal|wire.Tool) != 0 {
		f.visible = rd.at
	}
	f.burst(rd)
	f.last = rd.at
}

func (f *fold) burst(rd reading) {
	if f.chunks == 1 || f.lastRead.seq != rd.seq {
		if f.chunks > 1 {
			f.maxGap = max(f.maxGap, rd.at.Sub(f.last))
		}
		if f.chunks == 1 || !rd.at.Equal(f.last) {
			f.stamps++
		}
		f.reads++
		f.lastRead = burst{reading: rd}
	}
	f.lastRead.tokens++
	f.most = max(f.most, f.lastRead.tokens)
	if f.reads == 1 {
		f.firstRead = f.lastRead
	}
}

// ended reports whether the stream said that it is complete. A finish reason that tokens came after meant nothing: some
// servers set one on early chunks, or on all.
func (f *fold) ended() bool { return f.finish != "" && !f.open || !f.markerAt.IsZero() }
