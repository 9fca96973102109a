package probe

// What a person at the place of the probe sees, from the figures of one sample. Published formulas put them as
//
//	first screen       = TTFT + RTT
//	perceived latency  = TTFT + (N−1)·TPOT + 2·RTT
//
// with the TTFT of the server: from the request's arrival to the first token's leaving. The TTFT of a Sample begins at
// the client, so it holds the connection's set-up (DNS, the TCP handshake's round trip, TLS) and the round trip of request
// and first token. Here each term is counted once: ttft − sent is the server's TTFT with exactly one round trip, and e2e −
// ttft is (N−1)·TPOT. Neither DNS nor TLS is in the formulas; E2E has all of it for this very connection.

// ServerTTFT returns the server's own share of TTFT: ttft − sent − rtt. It holds queue, prefill and whatever stands in
// front of the server; it is unknown where RTT is.
func (s *Sample) ServerTTFT() Span {
	if !s.TTFT.Known || !s.Sent.Known || !s.RTT.Known {
		return Span{}
	}
	return Known(max(0, s.TTFT.D-s.Sent.D-s.RTT.D))
}

// FirstScreen returns the server's TTFT with one round trip: ttft − sent, as a connection that stands already gives it.
func (s *Sample) FirstScreen() Span {
	if !s.TTFT.Known || !s.Sent.Known {
		return Span{}
	}
	return Known(s.TTFT.D - s.Sent.D)
}

// Perceived returns the server's TTFT, (N−1)·TPOT and two round trips, one for the TCP handshake and one for request and
// answer: e2e − sent + rtt. It is unknown where RTT is, and where the answer's pace is no pace.
func (s *Sample) Perceived() Span {
	if !s.E2E.Known || !s.TPOT.Known || !s.Sent.Known || !s.RTT.Known {
		return Span{}
	}
	return Known(s.E2E.D - s.Sent.D + s.RTT.D)
}
