package probe

// Outcome is the one class that a probe ended in. The list is closed.
type Outcome string

// The outcomes; Family and Side say what follows from each.
const (
	OK                Outcome = "ok"
	OKLength          Outcome = "ok_length" // cut by max tokens, but with tokens
	ContentFilter     Outcome = "content_filter"
	Refused           Outcome = "refused"
	Empty             Outcome = "empty" // 2xx and terminal, no token
	Truncated         Outcome = "truncated"
	StreamError       Outcome = "stream_error" // error object inside a 2xx
	TimeoutConnect    Outcome = "timeout_connect"
	TimeoutFirstToken Outcome = "timeout_first_token"
	TimeoutStall      Outcome = "timeout_stall"
	TimeoutTotal      Outcome = "timeout_total"
	DNS               Outcome = "dns"
	Connect           Outcome = "connect"
	TLS               Outcome = "tls"
	Reset             Outcome = "reset"
	HTTP4xx           Outcome = "http_4xx"
	Auth              Outcome = "auth" // 401, 403
	NotFound          Outcome = "not_found"
	BadRequest        Outcome = "bad_request"
	RateLimited       Outcome = "rate_limited"
	Quota             Outcome = "quota" // waiting does not cure it
	Overloaded        Outcome = "overloaded"
	HTTP5xx           Outcome = "http_5xx"
	NotSSE            Outcome = "not_sse"
	Protocol          Outcome = "protocol" // undecodable event, or over a cap
	Redirect          Outcome = "redirect" // refused
	Client            Outcome = "client"   // our own fault
	Skipped           Outcome = "skipped"  // never sent
)

// Outcomes lists every outcome in the order of the documentation.
func Outcomes() []Outcome {
	return []Outcome{OK, OKLength, ContentFilter, Refused, Empty, Truncated, StreamError, TimeoutConnect, TimeoutFirstToken,
		TimeoutStall, TimeoutTotal, DNS, Connect, TLS, Reset, HTTP4xx, Auth, NotFound, BadRequest, RateLimited, Quota,
		Overloaded, HTTP5xx, NotSSE, Protocol, Redirect, Client, Skipped}
}

// Family groups outcomes by how they vote.
type Family string

// The families: FamilyNone votes nothing and is in no error counter.
const (
	FamilyOK      Family = "ok"
	FamilyTimeout Family = "timeout"
	FamilyLimit   Family = "limit"
	FamilyNone    Family = "none"
	FamilyError   Family = "error"
)

// Side says whose trouble an outcome is; only server and network move availability.
type Side string

// The sides.
const (
	SideServer  Side = "server"
	SideNetwork Side = "network"
	SideConfig  Side = "config"
	SideBudget  Side = "budget"
	SideClient  Side = "client"
)

// Reasons that other packages decide by; most reasons are free text for people.
const (
	ReasonLearningParameter = "learning_parameter"        // a bad_request that votes nothing; attempt 2 follows
	ReasonBudgetEaten       = "budget_eaten_by_reasoning" // an empty on the config side
	ReasonInFlight          = "in_flight"                 // skipped: no room in max_in_flight; it excuses no missing data
	ReasonOverlap           = "overlap"                   // skipped: earlier runs of the same canary hang, beyond first_token_timeout; a timeout observation
	ReasonRetryAfter        = "retry_after"               // skipped: the endpoint asked to wait
	ReasonMaintenance       = "maintenance"               // skipped: a planned window in which nothing is probed
	ReasonBudget            = "budget"                    // skipped: the day's budget is spent
	ReasonOwnResources      = "own resources"             // begins the reason of a client outcome: this machine lacks something
	ReasonMissed            = "missed"                    // counted, never sent: suspend or clock step
)

// Family returns the family of o.
func (o Outcome) Family() Family {
	switch o {
	case OK, OKLength:
		return FamilyOK
	case TimeoutConnect, TimeoutFirstToken, TimeoutStall, TimeoutTotal:
		return FamilyTimeout
	case RateLimited:
		return FamilyLimit
	case Skipped, Client:
		return FamilyNone
	}
	return FamilyError
}

// Side returns the side of o; reason matters for Empty and Skipped only.
func (o Outcome) Side(reason string) Side {
	switch o {
	case DNS, Connect, TLS, Reset, TimeoutConnect:
		return SideNetwork
	case Auth, NotFound, BadRequest, HTTP4xx, Quota, Redirect, NotSSE, ContentFilter, Refused:
		return SideConfig
	case RateLimited:
		return SideBudget
	case Client:
		return SideClient
	case Empty:
		if reason == ReasonBudgetEaten {
			return SideConfig
		}
	case Skipped:
		if reason == ReasonBudget {
			return SideBudget
		}
		return SideClient
	}
	return SideServer
}

// Success reports whether the probe may give latency samples.
func (o Outcome) Success() bool { return o.Family() == FamilyOK }

// Incurable reports whether waiting does not cure o: such a fault fires at once and resolves at the first good probe.
func (o Outcome) Incurable() bool {
	switch o {
	case Auth, Quota, NotFound, BadRequest, Redirect:
		return true
	}
	return false
}
