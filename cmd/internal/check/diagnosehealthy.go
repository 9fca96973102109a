package check

import (
	"fmt"
	"strings"
	"time"

	"serin/cmd/internal/human"
	"serin/probe"
)

// A first token is late from lateFirst after the request was sent. Prompts of longPrompt tokens and more are worth a
// prefill that one sees.
const (
	lateFirst  = 2 * time.Second
	longPrompt = 2000
)

// healthy says what a success hides.
func (f Findings) healthy() []string {
	var lines []string
	s := f.Sample
	if s.Has(probe.BufferedSuspect) {
		lines = append(lines, f.crowded())
	}
	if s.Has(probe.Gzip) {
		lines = append(lines, f.compressed())
	}
	if late := f.late(); late != "" {
		lines = append(lines, late)
	}
	if s.TPOTReason == "hidden_reasoning" {
		lines = append(lines, "the model thinks unseen and does not say how much, so TPOT cannot be told")
	}
	if s.TPOTReason == "unseen_tail" {
		lines = append(lines, "the server counted tokens long after the last text it sent (it holds text back, or its last tokens have none), so TPOT cannot be told")
	}
	if !s.OutputTokens.Known {
		lines = append(lines, "the endpoint sends no usage: no token counts, no cost and no TPOT; serin asks for it by stream_options.include_usage")
	}
	if s.Has(probe.NoDone) || s.Has(probe.NoFinish) {
		lines = append(lines, "the end of the stream is not marked as the protocol wants ("+strings.Trim(fmt.Sprint(s.Flags), "[]")+"); harmless for the numbers")
	}
	if days := f.Diary.TLSDaysLeft; days.Known && days.V < 14 {
		lines = append(lines, fmt.Sprintf("the server's certificate ends in %.0f days", days.V))
	}
	if s.Check == "fail" {
		lines = append(lines, "the answer does not hold what expect asks for")
	}
	return lines
}

// late says what a late first token waited for: the network answers within round trips, so that what is beyond a few of
// them passed in the server, before its first byte or after it.
func (f Findings) late() string {
	s := f.Sample
	wait := s.FirstScreen()
	if !wait.Known || wait.D < lateFirst || s.Has(probe.BufferedSuspect) || s.Load.Known && s.Load.D > wait.D/2 {
		return ""
	}
	if s.RTT.Known && s.RTT.D > wait.D/4 {
		return fmt.Sprintf("the first token came %s after the request was sent, at a round trip of %s: the network is slow", human.Span(wait), human.Span(s.RTT))
	}
	what := "a queue, or a server busy with others: the prompt is short"
	if s.InputTokens.V >= longPrompt {
		what = fmt.Sprintf("prefill of %d input tokens, or a queue", s.InputTokens.V)
	}
	where := ""
	if s.TTFB.Known && s.TTFT.D-s.TTFB.D > wait.D/2 {
		where = fmt.Sprintf(", %s of it after the response had begun", human.Span(probe.Known(s.TTFT.D-s.TTFB.D)))
	}
	trip := ""
	if s.RTT.Known {
		trip = fmt.Sprintf(" (one round trip takes %s)", human.Span(s.RTT))
	}
	return fmt.Sprintf("the first token came %s after the request was sent%s: %s; not the network%s", human.Span(wait), where, what, trip)
}

// compressed says who compresses, and how to stop it.
func (f Findings) compressed() string {
	return fmt.Sprintf("the answer came compressed (Content-Encoding: %s) although serin asked for identity: a proxy or CDN compresses regardless, which holds tokens back; switch it off for this path (nginx: gzip off; Envoy, Caddy, Cloudflare: leave text/event-stream out of compression)", f.Diary.Encoding)
}

// crowded says what a stream looked like whose tokens came crowded together. In one piece at the end it was a buffer; where
// few pieces came early and the stream went on long after them, the server had nothing it could show.
func (f Findings) crowded() string {
	s := f.Sample
	after := s.Trailer.D
	if s.Trailer.Known && after > s.TTFT.D/2 && after > time.Second {
		return fmt.Sprintf("only %s came, the last at %s, and the stream went on for %s without another: the server held back the rest or its text was empty (one that makes no valid text holds it back), so TPOT is withheld",
			human.Plural(s.Chunks, "piece"), human.Span(s.E2E), human.Span(s.Trailer))
	}
	if s.MaxGap.Known && s.MaxGap.D > s.TTFT.D {
		return fmt.Sprintf("most of the answer came in one piece, within a stream that stood still for up to %s: a proxy passes it on in blocks (nginx: proxy_buffering off), so TPOT is withheld", human.Span(s.MaxGap))
	}
	return "the answer came in one piece: a proxy buffers the stream (nginx: proxy_buffering off; gateways: response streaming), so TTFT is the time of the whole answer and TPOT is withheld"
}
