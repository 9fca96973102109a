package message

import (
	"fmt"
	"strings"

	"serin/baseline"
	"serin/probe"
)

// outcomeWords says each failed outcome as a person would.
func outcomeWords(o probe.Outcome) string {
	words := map[probe.Outcome]string{
		probe.TimeoutConnect: "no connection in time", probe.TimeoutFirstToken: "no first token in time",
		probe.TimeoutStall: "stream stalled", probe.TimeoutTotal: "answer not finished in time",
		probe.DNS: "host name not found", probe.Connect: "no connection", probe.TLS: "TLS handshake failed",
		probe.Reset: "connection cut", probe.HTTP4xx: "HTTP 4xx", probe.Auth: "key not accepted",
		probe.NotFound: "not found", probe.BadRequest: "request refused as bad", probe.RateLimited: "rate limited",
		probe.Quota: "quota used up", probe.Overloaded: "overloaded", probe.HTTP5xx: "server error",
		probe.NotSSE: "answer is not a stream", probe.Protocol: "stream not understood", probe.Redirect: "redirected, not followed",
		probe.Empty: "empty answer", probe.Truncated: "answer cut off", probe.StreamError: "error inside the stream",
		probe.ContentFilter: "content filter", probe.Refused: "answer refused",
		probe.Skipped: "earlier checks still hang", // the only skip that is an observation
	}
	if w, ok := words[o]; ok {
		return w
	}
	return string(o)
}

// subject names what a kind is about.
func subject(k Kind) string {
	switch k {
	case KindTimeout:
		return "timeouts"
	case KindError:
		return "errors"
	case KindLimit:
		return "rate limit"
	case KindNoData:
		return "no data"
	}
	return strings.ToUpper(string(k))
}

func latency(k Kind) bool {
	return k == KindTTFT || k == KindTPOT || k == KindTTFA || k == KindE2E
}

// thing names the series, target first, with its title where it has one: EU gateway (gw-eu) / chat / long.
func thing(s Story, a Alert) string {
	parts := strings.Split(a.Series, "/")
	if s.Title != "" && s.Title != parts[0] && len(s.Alerts) > 0 && parts[0] == targetOf(s.Alerts[0]) {
		parts[0] = oneLine(s.Title, 60) + " (" + parts[0] + ")"
	}
	return strings.Join(parts, " / ")
}

// leadTrouble is the trouble of the leading alert.
func leadTrouble(s Story) string {
	if len(s.Alerts) == 0 {
		return s.Incident.Scope + ": trouble"
	}
	if s.group() {
		return providerTrouble(s)
	}
	return troubleOf(s, s.Alerts[0])
}

// troubleOf says one alert in one line: the thing, the number, the normal range, the ratio, and whether it gets better.
func troubleOf(s Story, a Alert) string {
	if a.State == StateRecovering {
		return faultOf(s, a) + ", recovering"
	}
	return faultOf(s, a)
}

func faultOf(s Story, a Alert) string {
	head := thing(s, a) + ": "
	switch {
	case latency(a.Kind):
		return head + subject(a.Kind) + " " + slowness(a)
	case a.Kind == KindNoData:
		text := head + "no data, no probe has started for " + elapsed(s.Now.Sub(start(a)))
		if strings.HasPrefix(a.Last.Reason, noRoom) {
			text += " (" + oneLine(a.Last.Reason, 200) + ")"
		}
		return text
	case a.Kind == KindLimit:
		return head + "rate limited, our own budget there is used up" + tallied(s, a)
	case a.Last.Outcome.Incurable():
		return head + outcomeWords(a.Last.Outcome) + reason(a.Last)
	}
	return head + subject(a.Kind) + tallied(s, a) + cause(a.Last)
}

// lately is the newest observation of a latency alert, or the worst so far where the newest was not slow: a headline of
// trouble names no normal value.
func lately(a Alert) (e Evidence, upTo string) {
	n := len(a.Votes)
	if n == 0 || a.Votes[n-1].Verdict.Call == baseline.Breach || a.Worst.Ratio <= 0 {
		return a.Last, ""
	}
	e = a.Worst
	if e.Low == 0 && e.Limit == a.Last.Limit {
		e.Low = a.Last.Low
	}
	return e, "up to "
}

// slowness is the number with what it is held against.
func slowness(a Alert) string {
	e, upTo := lately(a)
	number := upTo + seconds(e.Value)
	switch {
	case e.Value <= 0 && e.Outcome.Family() == probe.FamilyTimeout:
		number = "beyond the timeout"
	case e.Value <= 0 && e.Ratio > 0: // a round of several canaries has no value of its own
		return upTo + times(e.Ratio) + " of normal, " + pooledOver(e)
	case e.Value <= 0 && a.Worst.Value > 0:
		e = a.Worst
		number = "up to " + seconds(e.Value)
	}
	switch {
	case a.Fixed && e.Limit > 0:
		number += ", fixed limit " + seconds(e.Limit)
	case e.Limit > 0:
		number += ", normal " + between(e.Low, e.Limit)
	}
	switch {
	case e.Ratio > 0 && a.Fixed:
		number += " (" + times(e.Ratio) + " of it)"
	case e.Ratio > 0:
		number += " (" + times(e.Ratio) + ")"
	}
	return number
}

// pooledOver says what the ratio of a round is of.
func pooledOver(e Evidence) string {
	if e.Canaries == 0 {
		return "over all its canaries"
	}
	return fmt.Sprintf("the median of %d canaries", e.Canaries)
}

// tallied is ", 3 of the last 4 checks", "" where there are no votes.
func tallied(s Story, a Alert) string {
	if t := tally(a, s.N); t != "" {
		return ", " + t
	}
	return ""
}

// tally says how many of the last n votes were against it.
func tally(a Alert, n int) string {
	votes := a.Votes
	if len(votes) == 0 && !strings.Contains(a.Series, "/") {
		return share(a)
	}
	if n > 0 && len(votes) > n {
		votes = votes[len(votes)-n:]
	}
	bad := 0
	for _, v := range votes {
		if against(a.Kind, v) {
			bad++
		}
	}
	switch {
	case bad == 0, len(votes) == 1:
		return ""
	}
	return fmt.Sprintf("%d of the last %s", bad, count(len(votes), observation(a)))
}

// share is how much of the last hour's checks of a whole target failed: the rate path has no votes.
func share(a Alert) string {
	bad := a.Errors
	if a.Kind == KindTimeout {
		bad = a.Timeouts
	}
	if bad == 0 || a.Probes == 0 {
		return ""
	}
	return fmt.Sprintf("%d of the last %s (%d %%)", bad, count(a.Probes, "check"), (100*bad+a.Probes/2)/a.Probes)
}

// observation names what votes: a check, or a round over a whole target.
func observation(a Alert) string {
	if latency(a.Kind) && !strings.Contains(a.Series, "/") {
		return "round"
	}
	return "check"
}

// against reports whether a vote speaks for trouble of kind k. Rounds fire by what they agree on: of them all count that
// are not calm.
func against(k Kind, v Vote) bool {
	switch k {
	case KindTimeout:
		return timedOut(v.Outcome)
	case KindError:
		return v.Outcome.Family() == probe.FamilyError && v.Outcome != ""
	case KindLimit:
		return v.Outcome.Family() == probe.FamilyLimit
	}
	return v.Verdict.Call == baseline.Breach || v.pooled() && v.Verdict.Call == baseline.Neither
}

// cause is " (server error: upstream gone)": the outcome in words and the endpoint's reason.
func cause(e Evidence) string {
	if e.Outcome == "" || e.Outcome.Success() {
		return ""
	}
	text := outcomeWords(e.Outcome)
	if e.Reason != "" && e.Outcome != probe.Skipped {
		text += ": " + oneLine(e.Reason, 100)
	}
	return " (" + text + ")"
}

// reason is " (HTTP 401: no such key)", "" where the endpoint gave none.
func reason(e Evidence) string {
	if e.Reason == "" {
		return ""
	}
	return " (" + oneLine(e.Reason, 100) + ")"
}
