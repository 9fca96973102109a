package message

import (
	"fmt"
	"net/url"
	"slices"

	"serin/alert"
)

// What must have moved before a hint rests on it.
const (
	connectRatio = 1.5  // connect this much slower …
	connectAbs   = 0.02 // … and by this many seconds
	cacheLost    = 0.5  // cached tokens below this share of usual
	ownSide      = 2    // other targets, at least, and all of them in trouble
)

// hint says what the numbers suggest, "" where the samples do not support any of it, and what to do.
func (v view) hint(t trouble) (looks, do string) {
	switch all := len(v.now) > 1 && len(v.now) == len(v.Group); {
	case t.isRecovering():
		return "", ""
	case v.everywhere() && !all:
		return "looks like our own side: every target is in trouble", "check network, proxy and load of " + v.host()
	case v.everywhere():
		looks = "looks like " + v.behind(t) + " itself, the way there, or our own side: every target is in trouble"
	case all:
		looks = "looks like " + v.behind(t) + " itself or the way there: every target of it is in trouble"
	case t.isSlow():
		looks, do = v.slowHint(t)
	}
	if do != "" {
		return looks, do
	}
	if !t.isSlow() {
		return looks, v.failureAdvice(t.alerts[0])
	}
	return looks, "look at queue and load of " + v.behind(t)
}

// failureAdvice is check's advice for the outcome.
func (v view) failureAdvice(a alert.Alert) string {
	if a.Kind == alert.KindNoData {
		return "look at serin's own log on " + v.host() + ": it has not started these probes"
	}
	return a.Last.Outcome.Advice()
}

// host names the machine that probes.
func (v view) host() string {
	if v.Instance == "" {
		return "this instance"
	}
	return alert.OneLine(v.Instance, 100)
}

// behind names what serves a target: its provider, else the host of its base_url.
func (v view) behind(t trouble) string {
	p := t.target.Target
	if p == nil {
		return t.name
	}
	if p.Provider != "" && p.Provider != t.name {
		return alert.OneLine(p.Provider, 80)
	}
	if u, err := url.Parse(p.BaseURL); err == nil && u.Host != "" {
		return alert.OneLine(u.Host, 80)
	}
	return t.name
}

// slowHint reads the numbers of a slow target.
func (v view) slowHint(t trouble) (looks, do string) {
	c := v.canary(t)
	if c == nil || v.Recent == nil {
		return "", ""
	}
	slow := func(k alert.Kind) bool { return len(t.of(k)) > 0 }
	normal := func(k alert.Kind) bool { return c.States[k] == alert.StateOK }
	r := v.Recent(c.Key(), t.alerts[0].Kind, t.alerts[0].Began())
	switch {
	case slow(alert.KindTTFT) && r.Buffered:
		return "looks like a proxy that buffers the stream: the first token comes with the end of the answer",
			"switch buffering off for this path (nginx: proxy_buffering off)"
	case slow(alert.KindTTFT) && r.Cached.Before > 0 && r.Cached.After < cacheLost*r.Cached.Before:
		return fmt.Sprintf("looks like a lost prefix cache: %.0f cached tokens, usually %.0f", r.Cached.After, r.Cached.Before),
			"look whether the engine restarted or its prefix cache is off"
	case slow(alert.KindTTFT) && normal(alert.KindTPOT) && connectSlow(r.Connect):
		return fmt.Sprintf("looks like network or gateway: time per token is normal, connect takes %s, usually %s", seconds(r.Connect.After), seconds(r.Connect.Before)),
			"check the way to " + v.behind(t) + " (load balancer, VPN, DNS)"
	case t.longOnly():
		return "looks like prefill: only long prompts are slow", "look at queue and prefill load of " + v.behind(t)
	case slow(alert.KindTPOT) && !slow(alert.KindTTFT) && normal(alert.KindTTFT):
		return "looks like decoding: time per token is up, the first token comes as usual", "look at batch size and KV cache of " + v.behind(t)
	}
	return "", ""
}

func connectSlow(c alert.BeforeAfter) bool {
	return c.Before > 0 && c.After > connectRatio*c.Before && c.After-c.Before > connectAbs
}

// everywhere reports whether all that is watched is in trouble, and that is enough to mean something.
func (v view) everywhere() bool {
	n := 0
	for _, t := range v.Targets {
		if v.at(v.now, t.Name) >= 0 {
			continue
		}
		if !slices.ContainsFunc(t.Canaries, func(c alert.CanaryStatus) bool { return standing(c, false) == affected }) {
			return false
		}
		n++
	}
	return n+len(v.now) > ownSide
}

// longOnly reports whether only long prompts are slow, in the first token, and every other size is fine.
func (t trouble) longOnly() bool {
	others := 0
	for _, c := range t.target.Canaries {
		state := c.States[alert.KindTTFT]
		switch {
		case c.Size != "long" && state != alert.StateOK, c.Size == "long" && !state.IsFiring():
			return false
		case c.Size != "long":
			others++
		}
	}
	return others > 0 && len(t.of(alert.KindTTFT)) > 0 && len(t.of(alert.KindTPOT)) == 0
}
