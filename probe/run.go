package probe

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptrace"
	"time"

	"serin/probe/wire"
)

// run is one probe under way.
type run struct {
	p      *Prober
	parent context.Context
	shot   Shot
	c      *Canary
	proto  wire.Protocol

	ctx      context.Context // ends with the probe; its cause tells which deadline passed
	watch    *watch
	timeline timeline
	fold     fold
	t0       time.Time
	eof      time.Time
	ask      wire.Ask
	prompt   string // ID of the prompt that is sent
	traceID  string
	first    bool
	answer   []byte // visible text, where someone wants it
	splitter wire.Splitter
	piece    wire.Piece
	sniffed  bool
	doc      *document // set when the body is no stream
	status   int
	sample   Sample
	cause    Cause
	over     bool // verdict is set: read no further
	verdict  verdict
}

// do sends the probe and returns its sample.
func (r *run) do() Sample {
	ctx, cancel := context.WithCancelCause(context.WithValue(r.parent, runKey{}, r))
	r.watch = newWatch(cancel)
	r.timeline.watch, r.timeline.meter = r.watch, &r.p.meter
	r.ctx = httptrace.WithClientTrace(ctx, r.timeline.trace())
	req, err := r.prepare()
	if err != nil {
		r.end(verdict{Client, err.Error()})
		r.cause = Cause{Phase: "client", Kind: "other", Detail: err.Error()}
		r.t0 = time.Now()
	} else {
		r.exchange(req.WithContext(r.ctx))
	}
	r.watch.stop()
	cancel(errClosed)
	r.timeline.settle()
	return r.finish()
}

// prepare builds the request: all that can be done before the clock starts.
func (r *run) prepare() (*http.Request, error) {
	t := r.c.Target
	url, err := r.proto.URL(t.BaseURL, t.Model)
	if err != nil {
		return nil, err
	}
	h, err := r.p.header(t, &r.proto)
	if err != nil {
		return nil, err
	}
	if t.Traceparent {
		r.traceID = randomHex(16)
		h.Set("Traceparent", "00-"+r.traceID+"-"+randomHex(8)+"-01")
	}
	turn := 0
	r.p.remember(r.c, func(m *memory) {
		turn = m.turns
		m.turns++
		r.first = !m.warmed
		m.warmed = true
	})
	sent := r.c.Prompts[turn%len(r.c.Prompts)]
	r.prompt = sent.ID
	r.ask = r.p.ask(r.c, sent.Turns(r.p.nonce(r.c)))
	body, err := json.Marshal(r.proto.Body(r.ask))
	if err != nil {
		return nil, err
	}
	if d := r.shot.Diary; d != nil {
		d.Method, d.URL = http.MethodPost, r.clean(url)
	}
	return newRequest(url, h, body)
}

// exchange sends the request and reads the answer.
func (r *run) exchange(req *http.Request) {
	t := r.c.Target
	tr, own, err := r.p.transport(t, r.shot.FreshConn)
	if err != nil {
		r.t0 = time.Now()
		r.end(verdict{Client, err.Error()})
		return
	}
	r.t0 = time.Now()
	r.limit(phaseConnect, r.t0, t.ConnectTimeout)
	r.limit(phaseFirstToken, r.t0, t.FirstToken(r.c.Size))
	r.limit(phaseTotal, r.t0, t.TotalTimeout)
	resp, err := tr.RoundTrip(req)
	if err != nil {
		v, cause := r.failed(err)
		r.end(v)
		r.cause = cause
	} else {
		r.timeline.answered()
		r.respond(resp)
		_ = resp.Body.Close() // nothing more is wanted of it
	}
	if own || !r.verdict.outcome.Success() {
		r.timeline.hangUp()
	}
	if o := r.verdict.outcome; own {
		tr.CloseIdleConnections()
	} else if o.Family() == FamilyTimeout || o.Side("") == SideNetwork || o == Truncated {
		r.p.redial(t.Name, tr)
	}
}

// limit sets the deadline of p, d after from; no d is no deadline.
func (r *run) limit(p phase, from time.Time, d time.Duration) {
	if d > 0 {
		r.watch.set(p, from.Add(d))
	}
}

// respond judges the response by its status.
func (r *run) respond(resp *http.Response) {
	r.status = resp.StatusCode
	r.note(resp)
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		r.p.prove(r.c.Target)
		r.stream(resp)
		return
	}
	r.refused(resp)
}

// end sets the verdict; the first one counts.
func (r *run) end(v verdict) {
	if !r.over {
		r.over, r.verdict = true, v
	}
}

// clean makes a text that may leave the prober: one line, valid UTF-8, and then no secret, so that what was taken out
// cannot join the halves of one.
func (r *run) clean(text string) string { return r.p.redact(oneLine(text)) }

// short is clean, cut to what fits a field.
func (r *run) short(text string) string { return clip(r.clean(clip(text, longField)), maxSnippet) }

// finish makes the sample.
func (r *run) finish() Sample {
	s := &r.sample
	r.identity(s)
	s.Outcome, s.Reason = r.verdict.outcome, r.short(r.verdict.reason)
	s.Family, s.Side = s.Outcome.Family(), s.Outcome.Side(s.Reason)
	r.network(s)
	if r.status >= 200 && r.status < 300 {
		r.measured(s)
	}
	r.history(s)
	r.fillDiary(s)
	r.log(s)
	return *s
}

// log says how the probe went; what is unknown is left out.
func (r *run) log(s *Sample) {
	attrs := []any{"canary", r.c.Key(), "outcome", s.Outcome}
	if s.Reason != "" {
		attrs = append(attrs, "reason", s.Reason)
	}
	if s.TTFT.Known {
		attrs = append(attrs, "ttft_ms", s.TTFT.Millis())
	}
	r.p.o.Log.Debug("probe done", attrs...)
}

// identity fills who was probed and why.
func (r *run) identity(s *Sample) {
	s.Time = r.t0.UTC().Round(0) // a label: the monotonic reading ends here
	s.Target, s.Scene, s.Size = r.c.Target.Name, r.c.Scene.Name, r.c.Size
	s.Trigger, s.Attempt, s.Spec = r.shot.Trigger, max(1, r.shot.Attempt), r.shot.Spec
	s.Instance, s.Region = r.p.o.Instance, r.p.o.Region
	s.HTTPStatus, s.TraceID, s.First = r.status, r.traceID, r.first
	if !r.shot.Sched.IsZero() {
		s.SchedLag = Known(r.t0.Sub(r.shot.Sched))
	}
	if r.ask.NoStreamOptions {
		s.flag(Downgraded)
	}
}

// network fills what the timeline saw.
func (r *run) network(s *Sample) {
	t := &r.timeline
	t.mu.Lock()
	defer t.mu.Unlock()
	s.DNS, s.Connect, s.TLS = t.dns.length(), t.connect.length(), t.tls.length()
	s.RTT = t.roundTrip()
	if t.days.Known {
		s.CertDays = Some(int64(math.Floor(t.days.V)))
	}
	s.Sent, s.TTFB = since(r.t0, t.sent), since(r.t0, t.firstByte)
	s.RemoteAddr, s.ProxyUsed = t.remote, t.proxy
	if !t.gotConn.IsZero() {
		s.Conn = "new"
		if t.reused {
			s.Conn = "reused"
		}
	}
}

// measured fills what the stream gave.
func (r *run) measured(s *Sample) {
	f := &r.fold
	u := f.usage
	if u.Any() {
		u = r.proto.Normalise(u)
	}
	f.counts(s, u, r.c)
	end := f.markerAt
	if end.IsZero() {
		if end = f.finishAt; !r.eof.IsZero() {
			end = r.eof
		}
	}
	f.measure(s, r.t0, &r.timeline, r.c, end)
	f.stampOf(s, &r.p.meter)
	if r.first && r.c.Size == Short && !r.c.Target.Reasoning && s.TTFT.D >= coldFirst && !s.Has(ColdStart) {
		s.flag(ColdStart)
	}
	if f.ended() && f.fault == nil {
		s.CostUSD = cost(s, r.c.Target.PriceAt(r.t0))
	}
	s.FinishReason, s.ReturnedModel = r.short(f.finish), r.short(f.model)
	s.SystemFingerprint = r.short(f.fingerprint)
	if s.RequestID == "" {
		s.RequestID = r.short(f.requestID)
	}
	r.marks(s)
	if e := r.c.Expect; e != nil && s.Outcome.Success() {
		s.Check = "fail"
		if e.Check(string(r.answer)) {
			s.Check = "pass"
		}
	}
}

// marks sets the flags about how the stream ended and what was odd in it.
func (r *run) marks(s *Sample) {
	f := &r.fold
	if f.finish != "" && f.markerAt.IsZero() && r.proto.Marker && f.fault == nil {
		s.flag(NoDone)
	}
	if f.finish == "" && !f.markerAt.IsZero() {
		s.flag(NoFinish)
	}
	if f.finish != "" && f.ending == wire.EndUnknown {
		s.flag(FinishUnknown)
	}
	if f.unterminated {
		s.flag(Unterminated)
	}
	if f.skipped > 0 {
		s.flag(SkippedEvents)
	}
}
