package alert

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"serin/baseline"
	"serin/baseline/level"
)

// text is JSON under construction. It writes what encoding/json would for the types below, without what is zero, at a
// tenth of the cost: every sample rewrites the votes of its canary.
type text []byte

// key begins a field of an object, or with "" an element of an array.
func (t text) key(name string) text {
	if c := t[len(t)-1]; c != '{' && c != '[' {
		t = append(t, ',')
	}
	if name == "" {
		return t
	}
	t = append(t, '"')
	t = append(t, name...)
	return append(t, '"', ':')
}

func (t text) str(name, v string) text {
	if v == "" {
		return t
	}
	return t.key(name).quoted(v)
}

func (t text) quoted(v string) text {
	for i := range len(v) {
		if c := v[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			body, _ := json.Marshal(v) // a string always can be
			return append(t, body...)
		}
	}
	t = append(t, '"')
	t = append(t, v...)
	return append(t, '"')
}

func (t text) num(name string, v float64) text {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return t
	}
	return strconv.AppendFloat(t.key(name), v, 'g', -1, 64)
}

func (t text) int(name string, v int) text {
	if v == 0 {
		return t
	}
	return strconv.AppendInt(t.key(name), int64(v), 10)
}

func (t text) flag(name string, v bool) text {
	if !v {
		return t
	}
	return append(t.key(name), "true"...)
}

func (t text) time(name string, v time.Time) text {
	if v.IsZero() {
		return t
	}
	t = append(t.key(name), '"')
	return append(v.AppendFormat(t, time.RFC3339Nano), '"')
}

func (t text) times(name string, list []time.Time) text {
	if len(list) == 0 {
		return t
	}
	t = append(t.key(name), '[')
	for _, v := range list {
		t = append(t.key(""), '"')
		t = append(v.AppendFormat(t, time.RFC3339Nano), '"')
	}
	return append(t, ']')
}

// any writes what is seldom there.
func (t text) any(name string, v any) (text, error) {
	body, err := json.Marshal(v)
	return append(t.key(name), body...), err
}

func (t text) votes(name string, list []Vote) text {
	if len(list) == 0 {
		return t
	}
	t = append(t.key(name), '[')
	for i := range list {
		t = append(t.key(""), '{')
		v := &list[i]
		t = t.time("at", v.At).str("trigger", string(v.Trigger)).verdict("verdict", &v.Verdict).str("outcome", string(v.Outcome)).
			said("said", v.Said)
		t = append(t, '}')
	}
	return append(t, ']')
}

func (t text) verdict(name string, v *baseline.Ruling) text {
	t = append(t.key(name), '{')
	t = t.str("call", string(v.Call)).str("why", v.Why).num("value", v.Value).num("mean", v.Mean).num("limit", v.Limit).num("z", v.Z).
		num("ratio", v.Ratio)
	return append(t, '}')
}

func (t text) evidence(name string, v *Evidence) text {
	if *v == (Evidence{}) {
		return t
	}
	t = append(t.key(name), '{')
	t = t.time("at", v.At).num("value", v.Value).num("mean", v.Mean).num("low", v.Low).num("limit", v.Limit).num("ratio", v.Ratio).num("z", v.Z).
		int("canaries", v.Canaries).str("outcome", string(v.Outcome)).str("reason", v.Reason).str("request_id", v.RequestID)
	return append(t, '}')
}

func (t text) said(name string, list []Said) text {
	if len(list) == 0 {
		return t
	}
	t = append(t.key(name), '[')
	for _, x := range list {
		t = append(t.key(""), '{')
		t = append(t.int("who", int(x.Who)).short("e", x.E).short("sw", x.SW), '}')
	}
	return append(t, ']')
}

func (t text) short(name string, v float32) text {
	if f := float64(v); v == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return t
	}
	return strconv.AppendFloat(t.key(name), float64(v), 'g', -1, 32)
}

func (t text) track(name string, v *level.KalmanState) text {
	if v == nil {
		return t
	}
	t = append(t.key(name), '{')
	return append(t.time("at", v.At).nums("mean", v.Mean[:]).nums("cov", v.Cov[:]), '}')
}

func (t text) fit(name string, v *Fit) text {
	if v == nil {
		return t
	}
	t = append(t.key(name), '{')
	t = t.num("score", v.Score).int("of", v.Of).num("fires", v.Fires).int("votes", v.Votes).int("checks", v.Checks).num("ratio", v.Ratio).num("before", v.Before).
		num("hours", v.Hours).num("reach", v.Reach).flag("away", v.Away)
	if v.LevelModel != (level.Model{}) {
		t = t.nums("wander", v.LevelModel[:])
	}
	return append(t, '}')
}

func (t text) nums(name string, list []float64) text {
	t = append(t.key(name), '[')
	for _, v := range list {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = 0
		}
		t = strconv.AppendFloat(t.key(""), v, 'g', -1, 64)
	}
	return append(t, ']')
}

// alert writes one alert; name as in key.
func (t text) alert(name string, a *Alert) (text, error) {
	t = append(t.key(name), '{')
	t = t.str("id", a.ID).str("series", a.Series).str("kind", string(a.Kind)).str("state", string(a.State)).str("severity", string(a.Severity)).
		time("since", a.Since).time("first_breach", a.FirstBreach).time("fired", a.Fired).time("resolved", a.Resolved).str("reason", a.Reason).
		flag("fixed", a.Fixed).str("learned", a.Learned).num("accepted", a.Accepted).flag("unasked", a.Unasked).str("undo", a.Undo).times("cycles", a.Cycles).
		votes("votes", a.Votes).times("calm", a.Calm).votes("decided", a.Decided).evidence("last", &a.Last).evidence("worst", &a.Worst).
		int("probes", a.Probes).int("timeouts", a.Timeouts).int("errors", a.Errors).str("incident", a.Incident).str("threshold", a.Threshold).
		str("config", a.Config).str("suppressed", a.Suppressed).time("steep", a.Steep).flag("excluding", a.Excluding).flag("announced", a.Announced)
	var err error
	if a.Mute != (Mute{}) {
		t, err = t.any("mute", a.Mute)
	}
	t = t.track("track", a.KalmanState).fit("fit", a.Fit)
	return append(t, '}'), err
}

// size is about how long a quiet alert's text is.
func (a *Alert) size() int {
	n := 512 + 192*len(a.Votes)
	for i := range a.Votes {
		n += 42 * len(a.Votes[i].Said)
	}
	return n
}

// body writes a memo with its idle alerts.
func (m memo) body() (text, error) {
	rest := m
	rest.Idle = nil
	t, err := json.Marshal(rest)
	if err != nil || len(m.Idle) == 0 {
		return t, err
	}
	size := 0
	for i := range m.Idle {
		size += m.Idle[i].size()
	}
	return text(slices.Grow(t[:len(t)-1], size)).alerts("idle", m.Idle)
}

// alerts ends the object that t is in with a list of alerts.
func (t text) alerts(name string, list []Alert) (out text, err error) {
	t = append(t.key(name), '[')
	for i := range list {
		if t, err = t.alert("", &list[i]); err != nil {
			return nil, err
		}
	}
	return append(t, ']', '}'), nil
}

// body writes a pool's memo.
func (m poolMemo) body() (text, error) {
	rest := m
	rest.Alert = nil
	t, err := json.Marshal(rest)
	if err != nil || m.Alert == nil {
		return t, err
	}
	t, err = text(slices.Grow(t[:len(t)-1], m.Alert.size())).alert("alert", m.Alert)
	return append(t, '}'), err
}

// body writes the rounds that are under way.
func (m roundsMemo) body() (t text, err error) {
	t = append(text(`{"round":{`).int("of", int(m.Round.Of)).spoken("shares", m.Round.Shares), '}')
	if len(m.Again) > 0 {
		t, err = t.any("again", m.Again)
	}
	return append(t, '}'), err
}

func (t text) spoken(name string, shares map[string]spoken) text {
	if len(shares) == 0 {
		return t
	}
	t = append(t.key(name), '{')
	for _, canary := range slices.Sorted(maps.Keys(shares)) {
		x := shares[canary]
		t = append(t.key(canary), '{')
		t = append(t.time("at", x.At).key("share"), '{')
		t = append(t.num("e", x.Share.E).num("sw", x.Share.SW), '}').flag("known", x.Known)
		t = append(t, '}')
	}
	return append(t, '}')
}
