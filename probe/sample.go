package probe

import "time"

// Metric names one latency measure of a Sample that a band can be kept for.
type Metric string

// The metrics.
const (
	TTFT Metric = "ttft" // t_tok1 − t0: first generated token of any kind
	TTFA Metric = "ttfa" // t_ans1 − t0: first visible answer token
	TPOT Metric = "tpot" // (t_tokN − t_tok1) / (N − 1)
	E2E  Metric = "e2e"  // t_tokN − t0
)

// Trigger says why a probe was sent.
type Trigger string

// The triggers; only Schedule enters bands.
const (
	Schedule Trigger = "schedule"
	Reprobe  Trigger = "reprobe"
	Check    Trigger = "check"
)

// Flag marks a sample; the list is closed.
type Flag string

// The flags.
const (
	BufferedSuspect Flag = "buffered_suspect"
	ClientSuspect   Flag = "client_suspect" // our own delay may have spoiled it: votes nothing, enters no band
	NoDone          Flag = "no_done"
	NoFinish        Flag = "no_finish"
	FinishUnknown   Flag = "finish_unknown" // the finish reason is in no table: taken for a success
	Unterminated    Flag = "unterminated"
	SkippedEvents   Flag = "skipped_events"
	UsageOdd        Flag = "usage_odd"
	Gzip            Flag = "gzip"
	CacheHit        Flag = "cache_hit"
	SameAnswer      Flag = "same_answer"
	ModelChanged    Flag = "model_changed" // the returned model or the fingerprint is none of the latest ones
	UsageGone       Flag = "usage_gone"    // no token counts, although the last answer had some
	ColdStart       Flag = "cold_start"
	Downgraded      Flag = "downgraded"
	InMaintenance   Flag = "maintenance" // within a planned window: enters no band
)

// Flags returns all flags, a new slice.
func Flags() []Flag {
	return []Flag{BufferedSuspect, ClientSuspect, NoDone, NoFinish, FinishUnknown, Unterminated, SkippedEvents, UsageOdd, Gzip, CacheHit, SameAnswer,
		ModelChanged, UsageGone, ColdStart, Downgraded, InMaintenance}
}

// Sample is what one probe saw. It is immutable once made. Time is the wall clock at t0, for labelling only; every
// duration was taken on the monotonic clock. What is not known is absent, never 0 and never −1.
type Sample struct {
	Time     time.Time `json:"time"`
	Target   string    `json:"target"`
	Scene    string    `json:"scene"`
	Size     Size      `json:"size"`
	Trigger  Trigger   `json:"trigger,omitempty"` // absent = schedule
	Attempt  int       `json:"attempt,omitempty"` // absent = 1
	Spec     string    `json:"spec,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Region   string    `json:"region,omitempty"`

	Outcome           Outcome `json:"outcome"`
	Family            Family  `json:"family,omitempty"`
	Side              Side    `json:"side,omitempty"`
	Reason            string  `json:"reason,omitempty"`
	HTTPStatus        int     `json:"http_status,omitempty"`
	FinishReason      string  `json:"finish_reason,omitempty"`
	ReturnedModel     string  `json:"returned_model,omitempty"`
	SystemFingerprint string  `json:"system_fingerprint,omitempty"`
	RequestID         string  `json:"request_id,omitempty"`
	TraceID           string  `json:"trace_id,omitempty"`
	First             bool    `json:"first,omitempty"` // first probe of this canary since start: kept out of the band
	Conn              string  `json:"conn,omitempty"`  // new, reused
	Proto             string  `json:"proto,omitempty"` // HTTP/1.1, HTTP/2.0

	TTFT        Span   `json:"ttft_ms,omitzero"`
	TTFA        Span   `json:"ttfa_ms,omitzero"`
	TTFE        Span   `json:"ttfe_ms,omitzero"`
	TTFTWarm    Span   `json:"ttft_warm_ms,omitzero"`
	TPOT        Span   `json:"tpot_ms,omitzero"`
	TPOTReason  string `json:"tpot_reason,omitempty"` // why TPOT is absent: hidden_reasoning, buffered, unseen_tail, no_usage, one_token, one_read, choices
	E2E         Span   `json:"e2e_ms,omitzero"`
	StreamTotal Span   `json:"stream_total_ms,omitzero"`
	Trailer     Span   `json:"trailer_ms,omitzero"`
	MaxGap      Span   `json:"max_gap_ms,omitzero"`
	SchedLag    Span   `json:"sched_lag_ms,omitzero"`
	DNS         Span   `json:"dns_ms,omitzero"`
	Connect     Span   `json:"connect_ms,omitzero"`
	TLS         Span   `json:"tls_ms,omitzero"`
	RTT         Span   `json:"rtt_ms,omitzero"`  // round trip of the TCP handshake; new connections without a proxy only
	Sent        Span   `json:"sent_ms,omitzero"` // t_sent − t0; ttft − sent is what a packet capture shows
	TTFB        Span   `json:"ttfb_ms,omitzero"`
	Load        Span   `json:"load_ms,omitzero"`           // that the server says it took to load the model
	Stamp       string `json:"stamp,omitempty"`            // kernel, read
	Lag         Span   `json:"lag_ms,omitzero"`            // the client's largest own delay in this stream
	FirstKind   string `json:"first_token_kind,omitempty"` // text, refusal, reasoning, tool, redacted

	InputTokens       Count  `json:"input_tokens,omitzero"`
	CachedInputTokens Count  `json:"cached_input_tokens,omitzero"`
	CacheWriteTokens  Count  `json:"cache_write_tokens,omitzero"`
	OutputTokens      Count  `json:"output_tokens,omitzero"`
	ReasoningTokens   Count  `json:"reasoning_tokens,omitzero"`
	TokensSource      string `json:"tokens_source,omitempty"` // usage, none
	Chunks            int    `json:"chunks,omitempty"`        // events with generated material; never promoted to tokens
	CostUSD           Money  `json:"cost_usd,omitzero"`

	Check string `json:"check,omitempty"` // pass, fail; absent = no check asked or not a success
	Flags []Flag `json:"flags,omitempty"`

	// Changes are the ways in which the answer differs from those before; in memory only.
	Changes []Change `json:"-"`
	// RetryAfter is how long the endpoint asked to wait; in memory only.
	RetryAfter time.Duration `json:"-"`
	// RateLimit holds the rate-limit headers as sent; in memory only, for check.
	RateLimit map[string]string `json:"-"`
	// RemoteAddr and ProxyUsed are for check.
	RemoteAddr string `json:"remote_addr,omitempty"`
	ProxyUsed  string `json:"proxy,omitempty"`
	// CertDays is how many whole days the server's certificate is still valid; negative = expired.
	CertDays Count `json:"cert_days,omitzero"`
}

// Key returns the canary's key, target/scene/size.
func (s *Sample) Key() string { return s.Target + "/" + s.Scene + "/" + string(s.Size) }

// Regular reports whether the sample was scheduled: only such samples enter bands.
func (s *Sample) Regular() bool { return s.Trigger == "" || s.Trigger == Schedule }

// Has reports whether the sample carries flag f.
func (s *Sample) Has(f Flag) bool {
	for _, have := range s.Flags {
		if have == f {
			return true
		}
	}
	return false
}

// Measure returns the span of m; it is unknown unless the sample is a success.
func (s *Sample) Measure(m Metric) Span {
	if !s.Outcome.Success() {
		return Span{}
	}
	switch m {
	case TTFT:
		return s.TTFT
	case TTFA:
		return s.TTFA
	case TPOT:
		return s.TPOT
	case E2E:
		return s.E2E
	}
	return Span{}
}
