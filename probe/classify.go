package probe

import (
	"fmt"

	"serin/probe/wire"
)

// verdict is an outcome with its reason.
type verdict struct {
	outcome Outcome
	reason  string
}

// ofClass is the table from the error classes of wire to outcomes. http says whether the error was the HTTP response's
// own status; inside a stream what is not known better is a stream_error.
func ofClass(c wire.Class, http bool) (Outcome, bool) {
	switch c {
	case wire.ClassAuth:
		return Auth, true
	case wire.ClassNotFound:
		return NotFound, true
	case wire.ClassBad:
		return BadRequest, true
	case wire.ClassLimited:
		return RateLimited, true
	case wire.ClassQuota:
		return Quota, true
	case wire.ClassOverload:
		return Overloaded, true
	case wire.ClassFilter:
		return ContentFilter, true
	case wire.ClassServer:
		return StreamError, !http
	}
	return "", false
}

// ofStatus returns the outcome of an HTTP status that is not 2xx. What a machine-readable word says beats the status, but for
// words that only say that something is wrong.
func ofStatus(status int, class wire.Class) Outcome {
	if status >= 300 && status < 400 {
		return Redirect
	}
	if o, ok := ofClass(class, true); ok && class != wire.ClassBad {
		return o
	}
	switch {
	case status == 402:
		return Quota
	case status == 401 || status == 403:
		return Auth
	case status == 404:
		return NotFound
	case status == 400 || status == 422:
		return BadRequest
	case status == 429:
		return RateLimited
	case status == 529:
		return Overloaded
	case status >= 500:
		return HTTP5xx
	}
	return HTTP4xx
}

// ofFault returns the outcome of an error inside a 2xx stream.
func ofFault(f *wire.Fault) Outcome {
	if o, ok := ofClass(f.Class, false); ok {
		return o
	}
	return StreamError
}

// ofEnding returns the outcome of an answer by its finish reason; an unknown one is taken for a success, and flagged.
func ofEnding(e wire.Ending) Outcome {
	switch e {
	case wire.EndLength:
		return OKLength
	case wire.EndFiltered:
		return ContentFilter
	case wire.EndRefused:
		return Refused
	case wire.EndFailed:
		return StreamError
	case wire.EndOverloaded:
		return Overloaded
	}
	return OK
}

// complete judges a stream that said it was complete.
func (f *fold) complete() verdict {
	o := ofEnding(f.ending)
	switch {
	case !o.Success():
		return verdict{o, "finish_reason " + f.finish}
	case f.whole:
		return verdict{NotSSE, "one JSON body where a stream was due: the endpoint ignores stream=true"}
	case f.chunks > 0:
		return verdict{outcome: o}
	case o == OKLength:
		return verdict{Empty, ReasonBudgetEaten}
	}
	return verdict{Empty, "the answer ended without a token"}
}

// cut judges a stream that ended without saying so. broken says why the body did not end cleanly, "" = it did.
func (f *fold) cut(broken string) verdict {
	switch {
	case f.chunks > 0 && broken != "":
		return verdict{Truncated, fmt.Sprintf("%s after %d token events", broken, f.chunks)}
	case f.chunks > 0:
		return verdict{Truncated, fmt.Sprintf("the stream ended without a terminal marker after %d token events", f.chunks)}
	case broken != "":
		return verdict{Reset, broken}
	case f.events > 0:
		return verdict{Truncated, "no_tokens"}
	}
	return verdict{Truncated, "no_events"}
}

// expired judges a probe whose deadline p passed.
func (f *fold) expired(p phase) verdict {
	switch p {
	case phaseConnect:
		return verdict{TimeoutConnect, "connect_timeout"}
	case phaseFirstToken:
		if f.events > 0 {
			return verdict{TimeoutFirstToken, fmt.Sprintf("%d events, but no token", f.events)}
		}
		return verdict{TimeoutFirstToken, "no event"}
	case phaseIdle:
		return verdict{TimeoutStall, fmt.Sprintf("idle: no byte after %d token events", f.chunks)}
	case phaseProgress:
		return verdict{TimeoutStall, fmt.Sprintf("no_progress: bytes, but no event of substance after %d token events", f.chunks)}
	case phaseTotal:
		if f.ended() {
			return f.complete()
		}
		return verdict{TimeoutTotal, fmt.Sprintf("total_timeout after %d token events", f.chunks)}
	}
	return f.complete()
}
