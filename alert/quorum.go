package alert

import (
	"time"
)

// Why a value was not judged, as baseline says it.
const (
	whyLearning = "learning"
	whyMissing  = "missing"
)

// The votes of failures: resolve_n and resolve_for are for latency only.
const (
	failM, failN = 3, 4
	failCalm     = 2
)

const (
	fastInterval = time.Minute      // at this and less: 5 of the last 6, no re-probes
	slowInterval = 10 * time.Minute // slower: the first calm probe is followed by re-probes
	rareInterval = 15 * time.Minute // this and slower: one re-probe more, and no budget
)

// Votes returns how many of how many observations fire a latency alert of a canary that runs at an interval.
func (r Rule) Votes(interval time.Duration) (m, n int) {
	q := NewQuorum(r, KindTTFT, interval)
	return q.M, q.N
}

// sharpened is a quorum that the sharp rule decides.
func (q Quorum) sharpened(r Rule, s Scores) Quorum {
	q.Scores = s
	q.Sharp, q.MinRatio, q.OffsetCap, q.Span = true, r.MinRatio, r.OffsetCap, r.Window+sharpSlack
	q.Window = max(q.Window, q.Span)
	return q
}

// RoundQuorum brings a rule to the rounds of a target whose fastest schedule runs at an interval.
func RoundQuorum(r Rule, interval time.Duration) Quorum {
	q := Quorum{M: sharpLeast, N: sharpLeast, Window: max(r.Window, 6*interval), ResolveN: max(r.ResolveN, 1), ResolveFor: r.ResolveFor}
	return q.sharpened(r, roundScores())
}

// NewQuorum brings a rule to one kind of a canary that runs at an interval.
func NewQuorum(r Rule, k Kind, interval time.Duration) Quorum {
	q := Quorum{M: failM, N: failN, Window: max(r.Window, 6*interval), ResolveN: failCalm, Failures: true}
	if k.Metric() == "" {
		return q
	}
	q.Failures = false
	q.M, q.N, q.ResolveN, q.ResolveFor = max(r.M, 1), max(r.N, r.M, 1), max(r.ResolveN, 1), r.ResolveFor
	def := DefaultRule()
	if interval <= fastInterval && r.M == def.M && r.N == def.N {
		q.M, q.N = 5, 6
	}
	if r.Preset == "sharp" {
		q = q.sharpened(r, singleScores(interval))
	}
	if r.Literal() {
		q.M, q.N, q.Strict = 1, 1, true
	}
	return q
}
