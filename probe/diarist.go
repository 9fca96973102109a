package probe

import (
	"crypto/x509"
	"time"

	"serin/probe/wire"
)

// write notes one event in the diary.
func (r *run) write(p *wire.Piece, rd reading) {
	d := r.shot.Diary
	if d == nil || len(d.Events) == maxDiaryEvents {
		return
	}
	d.Events = append(d.Events, DiaryEvent{At: rd.at.Sub(r.t0), Lag: rd.lag, Read: rd.seq, Kind: kindOf(p)})
}

// kindOf names what an event was for.
func kindOf(p *wire.Piece) string {
	switch {
	case p.Fault != nil:
		return "error"
	case p.Kind != 0:
		return p.Kind.Label()
	case p.Terminal == wire.Done:
		return "done"
	case p.Finish != "":
		return "finish"
	case p.Usage.Any():
		return "usage"
	case p.Skipped:
		return "skipped"
	case p.Structure:
		return "structure"
	}
	return "ping"
}

// snippet keeps the beginning of a body that is no stream.
func (r *run) snippet(body []byte) {
	if d := r.shot.Diary; d != nil {
		d.Snippet = r.short(stripTags(string(clipBytes(body, longField))))
	}
}

func (r *run) tellFault(f *wire.Fault) {
	d := r.shot.Diary
	if d == nil {
		return
	}
	d.Fault = r.short(f.Code)
	if f.Type != "" && f.Type != f.Code {
		d.Fault = r.short(f.Code + " " + f.Type)
	}
}

// fillDiary ends the diary.
func (r *run) fillDiary(s *Sample) {
	d := r.shot.Diary
	if d == nil {
		return
	}
	d.Took = time.Since(r.t0)
	t := &r.timeline
	t.mu.Lock()
	d.SendTook, d.FirstShared = t.sending, r.fold.firstRead.tokens > 1
	d.TLSDaysLeft, d.HiddenRetries = t.days, max(0, t.conns-1)
	t.mu.Unlock()
	d.Proxy, d.RemoteAddr = s.ProxyUsed, s.RemoteAddr
	d.Cause = r.cause
	d.Cause.Detail = r.short(d.Cause.Detail)
	if d.WantText {
		d.Text = r.p.redact(printable(string(r.answer), "\n\t\u0085\u2028\u2029"))
	}
}

// noteCertificate returns what notes the first of a chain.
func (r *run) noteCertificate(chain []*x509.Certificate) func(time.Time) {
	return func(now time.Time) { r.timeline.certificate(chain, now) }
}
