package probe

import "time"

// outcomeWords say each failed outcome as a person would. Of a timeout they say what did not come in time.
var outcomeWords = map[Outcome]string{
	TimeoutConnect: "no connection", TimeoutFirstToken: "no first token", TimeoutStall: "no further token",
	TimeoutTotal: "no complete answer", DNS: "host name not found", Connect: "no connection", TLS: "TLS handshake failed",
	Reset: "connection cut", HTTP4xx: "HTTP 4xx", Auth: "key refused", NotFound: "not found", BadRequest: "request refused",
	RateLimited: "rate-limited", Quota: "quota used up", Overloaded: "overloaded", HTTP5xx: "server error",
	NotSSE: "answer is not a stream", Protocol: "stream not understood", Redirect: "redirected, not followed",
	Empty: "empty answer", Truncated: "answer cut off", StreamError: "error inside the stream",
	ContentFilter: "content filter", Refused: "answer refused",
	Skipped: "earlier checks still hang", // the only skip that is an observation
}

// Words says the outcome as a person would.
func (o Outcome) Words() string {
	if w, ok := outcomeWords[o]; ok {
		return w
	}
	return string(o)
}

// advice says for each failed outcome what to do, for any endpoint; check adds what the probe itself shows.
var advice = map[Outcome]string{
	TimeoutConnect:    "look for a firewall that drops packets, a wrong port, or a host that is down",
	TimeoutFirstToken: "the server queues or prefills too long, or holds the stream back: look at its queue (raise first_token_timeout where long prompts need it)",
	TimeoutStall:      "the engine or a proxy hangs in the middle of an answer: look at their logs",
	TimeoutTotal:      "the answer is slower than total_timeout allows: look at the server's load",
	DNS:               "check the host of base_url for a typing error, and the name server of this machine",
	Connect:           "check that the server is up, and host and port of base_url",
	TLS:               "check the server's certificate (dates, name, authority) and ca_file",
	Reset:             "look for a proxy or load balancer that cuts connections, or a server that died",
	HTTP4xx:           "the endpoint refuses the request as it is: serin check --curl prints it, to try by hand",
	Auth:              "check that the key is this endpoint's, is not revoked, and may use this model",
	NotFound:          "the endpoint does not know the path or the model: check base_url and model",
	BadRequest:        "the endpoint refuses the request as it is: serin check --curl prints it, to try by hand",
	RateLimited:       "wait, probe less often, or ask the provider for a higher limit",
	Quota:             "waiting does not help: see the provider's billing page",
	Overloaded:        "the server is overloaded or broken: its log knows more",
	HTTP5xx:           "the server is overloaded or broken: its log knows more",
	NotSSE:            "the server or a gateway ignores \"stream\": true, or base_url points at a web page",
	Protocol:          "the answer is not what this protocol sends: check protocol and base_url",
	Redirect:          "put the final URL into base_url: serin does not follow, since the key would go along",
	Empty:             "the model sent no token: raise max_tokens where thinking uses up the output cap, else look at the server's log",
	Truncated:         "look for a proxy or load balancer that cuts long answers, or a server that died",
	StreamError:       "the server failed in the middle of an answer: its log knows more",
	ContentFilter:     "a filter refuses a harmless prompt: look at its settings",
	Refused:           "the model refuses a harmless prompt: look at the filter's settings",
	Skipped:           "earlier checks are still open: the engine or a proxy hangs, look at their logs",
}

// Advice says what to do about a failed outcome; "" = nothing.
func (o Outcome) Advice() string { return advice[o] }

// TimeoutOf returns the timeout that an outcome ran into; 0 = none.
func (t *Target) TimeoutOf(o Outcome, s Size) time.Duration {
	switch o {
	case TimeoutConnect:
		return t.ConnectTimeout
	case TimeoutFirstToken:
		return t.FirstToken(s)
	case TimeoutStall:
		return t.StallTimeout
	case TimeoutTotal:
		return t.TotalTimeout
	}
	return 0
}
