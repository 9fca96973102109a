package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"serin/probe/wire"
)

// A server was cold that says it took longer to load the model, or that took longer for the first token of the first short
// prompt since start: what nobody says is told from nothing else.
const (
	coldLoad  = time.Second
	coldFirst = 10 * time.Second
)

// How long is read on after an answer is complete.
const (
	drainTime   = 250 * time.Millisecond // after the last marker
	trailerWait = 5 * time.Second        // after a finish reason, for the marker
)

// note takes what the response's head says.
func (r *run) note(resp *http.Response) {
	s := &r.sample
	s.Proto = resp.Proto
	s.RequestID = r.short(requestID(resp.Header))
	for name, v := range limitHeaders(resp.Header) {
		if s.RateLimit == nil {
			s.RateLimit = map[string]string{}
		}
		s.RateLimit[r.short(name)] = r.short(v)
	}
	encoding := strings.ToLower(resp.Header.Get("Content-Encoding"))
	if encoding != "" && encoding != "identity" {
		s.flag(Gzip)
	}
	if d := r.shot.Diary; d != nil {
		d.Status, d.Proto, d.Encoding = resp.StatusCode, resp.Proto, r.short(encoding)
		d.ContentType = r.short(resp.Header.Get("Content-Type"))
		d.Headers = map[string]string{}
		for name, v := range headersOfInterest(resp.Header) {
			d.Headers[r.short(name)] = r.short(v)
		}
	}
}

// stream reads a 2xx body to its end.
func (r *run) stream(resp *http.Response) {
	buf := r.p.buffers.Get().(*[readBuffer]byte)
	defer r.p.buffers.Put(buf)
	r.splitter.Lines = r.proto.Lines
	for !r.over {
		n, err := resp.Body.Read(buf[:])
		rd := r.timeline.reading(time.Now())
		if n > 0 {
			r.take(buf[:n], rd)
		}
		if err != nil && !r.over {
			r.bodyEnded(err, rd.back, resp)
		}
	}
	if r.doc != nil {
		r.judgeDocument()
	}
}

// take handles the bytes of one read, unless a deadline had passed when they came.
func (r *run) take(piece []byte, rd reading) {
	if p, late := r.watch.late(rd.at); late {
		r.end(r.fold.expired(p))
		return
	}
	r.fold.lagged(rd)
	if piece = r.sniff(piece); len(piece) == 0 {
		return
	}
	if r.doc != nil {
		if r.doc.add(piece) {
			r.end(verdict{})
		}
		return
	}
	if err := r.splitter.Feed(piece); err != nil {
		r.undecodable(err.Error())
		return
	}
	first := r.fold.chunks == 0
	r.events(rd)
	r.stall(rd.at)
	if first && r.fold.chunks > 0 && rd.kernel {
		r.timeline.unmeter() // from here on each read's own lag tells enough
	}
}

// sniff looks at the first byte that is no white space: no stream begins with one of { [ <, but for one of JSON lines.
func (r *run) sniff(piece []byte) []byte {
	if r.sniffed {
		return piece
	}
	for i, c := range piece {
		if strings.IndexByte(" \t\r\n\xEF\xBB\xBF", c) >= 0 {
			continue
		}
		r.sniffed = true
		if c == '{' && !r.proto.Lines || c == '[' || c == '<' {
			r.doc = &document{}
			return piece[i:]
		}
		break
	}
	return piece
}

// events takes the events that one read completed.
func (r *run) events(rd reading) {
	for !r.over {
		ev, ok, err := r.splitter.Next()
		if err != nil {
			r.undecodable(err.Error())
			return
		}
		if !ok {
			return
		}
		r.event(ev, rd)
	}
}

// undecodable judges bytes that are no stream of the protocol; behind the last marker they harm nothing.
func (r *run) undecodable(why string) {
	if !r.fold.markerAt.IsZero() {
		r.end(r.fold.complete())
		return
	}
	r.end(verdict{Protocol, why})
}

func (r *run) event(ev wire.Event, rd reading) {
	p := &r.piece
	if err := r.proto.Read(ev, p); err != nil {
		if ev.Unterminated {
			return // cut in the middle: the end of the body says what it was
		}
		r.undecodable(fmt.Sprintf("event %d is not JSON: %v: %s", r.fold.events+1, err, string(clipBytes(ev.Data, longField))))
		return
	}
	if p.Whole && r.fold.chunks > 0 {
		p.Kind, p.Text = 0, p.Text[:0]
	}
	if !r.fold.markerAt.IsZero() { // the answer is over: only its usage may still come
		p.Kind, p.Text, p.Finish, p.Fault = 0, p.Text[:0], "", nil
	}
	if p.Finish != "" && p.Finish != r.fold.finish {
		r.fold.ending = r.proto.EndingOf(p.Finish)
	}
	if r.fold.add(p, rd, ev.Unterminated); r.fold.last.Equal(rd.at) {
		r.shot.Progress.came(rd.at)
	}
	r.loaded(p.Load)
	if p.Kind&wire.Text != 0 && !ev.Unterminated {
		r.answer = append(r.answer, clipBytes(p.Text, maxAnswer-len(r.answer))...)
	}
	r.write(p, rd)
	r.pace(p, rd.at)
}

// loaded notes how long the server says it took to load the model.
func (r *run) loaded(d time.Duration) {
	if d <= 0 || r.sample.Load.Known {
		return
	}
	r.sample.Load = Known(d)
	if d > coldLoad {
		r.sample.flag(ColdStart)
	}
}

// pace moves the deadlines: progress, the wait for the marker, the drain after it.
func (r *run) pace(p *wire.Piece, at time.Time) {
	f := &r.fold
	switch {
	case f.fault != nil:
		r.end(r.broken(f.fault))
	case p.Terminal == wire.Done:
		r.watch.clear(phaseFirstToken, phaseIdle, phaseProgress, phaseTotal, phaseTrailer)
		r.watch.set(phaseDrain, at.Add(drainTime))
	case f.ended():
		if p.Terminal == wire.Finish && f.markerAt.IsZero() {
			r.awaitEnd(p, at)
		}
	case p.Kind != 0: // before the first token first_token_timeout holds alone
		r.watch.clear(phaseFirstToken, phaseTrailer)
		r.limit(phaseProgress, at, 2*r.c.Target.StallTimeout)
	}
}

// awaitEnd sets how long is read on after a finish reason. An answer without a token is not over, unless the reason says why
// there is none; where no marker follows, or finish reasons were seen to come early, only silence tells the end.
func (r *run) awaitEnd(p *wire.Piece, at time.Time) {
	f := &r.fold
	if f.chunks == 0 && ofEnding(f.ending) == OK {
		return
	}
	wait := trailerWait
	if f.early && p.Kind != 0 || !r.proto.Marker {
		wait = max(wait, r.c.Target.StallTimeout)
	}
	r.watch.clear(phaseFirstToken, phaseIdle, phaseProgress)
	r.watch.set(phaseTrailer, at.Add(wait))
}

// stall moves the deadline of silence with every byte, and that of progress with the bytes of an unfinished field.
func (r *run) stall(at time.Time) {
	if r.over || r.fold.chunks == 0 || r.fold.ended() {
		return
	}
	d := r.c.Target.StallTimeout
	r.limit(phaseIdle, at, d)
	if r.splitter.Growing() {
		r.limit(phaseProgress, at, 2*d)
	}
}

// bodyEnded judges the end of a 2xx body.
func (r *run) bodyEnded(err error, at time.Time, resp *http.Response) {
	if p, ok := errors.AsType[phase](context.Cause(r.ctx)); ok {
		r.end(r.fold.expired(p))
		return
	}
	if r.parent.Err() != nil && !r.fold.ended() {
		r.end(verdict{Client, "shutdown"})
		return
	}
	r.eof = at
	if r.doc != nil {
		r.end(verdict{})
		return
	}
	if ev, ok := r.splitter.Finish(); ok {
		r.event(ev, reading{at: at, back: at})
	}
	broken := ""
	if err != io.EOF {
		r.cause = Cause{Phase: "stream", Kind: socketKind(err), Detail: plain(err)}
		broken = plain(err)
	}
	r.end(r.closed(broken, resp))
}

// closed judges a body that ended by itself.
func (r *run) closed(broken string, resp *http.Response) verdict {
	switch {
	case r.fold.ended() || r.fold.finish != "" && broken == "":
		return r.fold.complete()
	case r.fold.events == 0 && r.sample.Has(Gzip):
		return verdict{NotSSE, "the body is compressed although identity was asked for"}
	case broken == "" && r.fold.events == 0 && !r.isStream(resp):
		return verdict{NotSSE, "an empty body where a stream was due"}
	}
	return r.fold.cut(broken)
}

// isStream reports whether the response's content type is that of the protocol's streams.
func (r *run) isStream(resp *http.Response) bool {
	kind := strings.ToLower(resp.Header.Get("Content-Type"))
	if r.proto.Lines {
		return strings.HasPrefix(kind, "application/x-ndjson") || strings.HasPrefix(kind, "application/ndjson")
	}
	return strings.HasPrefix(kind, "text/event-stream")
}

// broken judges an error that came inside the stream.
func (r *run) broken(f *wire.Fault) verdict {
	o := ofFault(f)
	wait, _ := retryAfter(http.Header{}, f.RetryDelay, time.Now())
	r.sample.RetryAfter = min(wait, maxRetryAfter)
	if o == RateLimited && wait > maxRetryAfter {
		o = Quota
	}
	r.tellFault(f)
	text := faultText(f)
	if text == "" {
		text = "an error without a word about it"
	}
	return verdict{o, text}
}

// faultText is an error for people: code or type, and message.
func faultText(f *wire.Fault) string {
	word := f.Word()
	text := stripTags(clip(f.Message, longField))
	switch {
	case word == "":
		return text
	case text == "":
		return word
	}
	return word + ": " + text
}
