package message

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"serin/alert"
)

// view is a story with its alerts in the order of weight and by target.
type view struct {
	Story
	members map[string]alert.Member // by alert id
	alerts  []alert.Alert           // the leading one first
	now     []trouble               // targets on which an alert fires, the leading one first
	over    []trouble               // targets all of whose alerts ended
	zone    *time.Location
}

// trouble is one target of an incident with its alerts, the leading one first: those that fire; where none does, the ended ones.
type trouble struct {
	name   string
	target alert.Target // without a probe.Target where it left the config
	alerts []alert.Alert
}

func newView(s Story) view {
	v := view{Story: s, alerts: Order(s.Alerts, s.Incident.Members), members: map[string]alert.Member{}, zone: cmp.Or(s.Zone, time.UTC)}
	for _, m := range s.Incident.Members {
		v.members[m.Alert] = m
	}
	for _, a := range v.alerts {
		if v.at(v.now, a.Target()) >= 0 || v.at(v.over, a.Target()) >= 0 {
			continue
		}
		if t := v.trouble(a.Target()); a.IsFiring() {
			v.now = append(v.now, t)
		} else {
			v.over = append(v.over, t)
		}
	}
	if lead, ok := v.lead(); ok {
		if c := v.canary(lead); c != nil && c.Scene.Zone != nil {
			v.zone = c.Scene.Zone
		}
	}
	return v
}

func (v view) at(list []trouble, name string) int {
	return slices.IndexFunc(list, func(t trouble) bool { return t.name == name })
}

// trouble gathers the alerts of one target: those that people hear of where there are any, else all of them.
func (v view) trouble(name string) trouble {
	t := trouble{name: name, target: v.targetOf(name)}
	for _, keep := range []func(alert.Alert) bool{
		func(a alert.Alert) bool { return a.IsFiring() && v.isTold(a) }, alert.Alert.IsFiring, func(alert.Alert) bool { return true },
	} {
		for _, a := range v.alerts {
			if a.Target() == name && keep(a) {
				t.alerts = append(t.alerts, a)
			}
		}
		if t.alerts != nil {
			return t
		}
	}
	return t
}

func (v view) targetOf(name string) alert.Target {
	for _, t := range v.Targets {
		if t.Target != nil && t.Name == name {
			return t
		}
	}
	return alert.Target{}
}

// lead returns the target that a message is about first.
func (v view) lead() (trouble, bool) {
	for _, list := range [][]trouble{v.now, v.over} {
		if len(list) > 0 {
			return list[0], true
		}
	}
	return trouble{}, false
}

// canary returns the canary of a target's leading alert; of an alert of the whole target that with the worst reading, else
// the first. nil: it left the config.
func (v view) canary(t trouble) *alert.CanaryStatus {
	key := t.alerts[0].Series
	if t.alerts[0].WholeTarget() {
		if list := v.readings(t, t.alerts[0].Kind); len(list) > 0 {
			key = list[0].key
		}
	}
	for i := range t.target.Canaries {
		if t.target.Canaries[i].Key() == key {
			return &t.target.Canaries[i]
		}
	}
	if len(t.target.Canaries) > 0 {
		return &t.target.Canaries[0]
	}
	return nil
}

// isTold reports whether people are to hear of an alert.
func (v view) isTold(a alert.Alert) bool {
	m := v.members[a.ID]
	return m.Inhibited == "" && !m.Mute.IsFull()
}

// Order sorts the alerts of an incident, the leading one first: firing before ended, told before muted or inhibited, firing
// before recovering, critical first, down before slow.
func Order(alerts []alert.Alert, members []alert.Member) []alert.Alert {
	by := map[string]alert.Member{}
	for _, m := range members {
		by[m.Alert] = m
	}
	return slices.SortedStableFunc(slices.Values(alerts), func(a, b alert.Alert) int {
		return cmp.Or(cmp.Compare(weight(b, by[b.ID]), weight(a, by[a.ID])), cmp.Compare(b.Worst.Ratio, a.Worst.Ratio),
			a.Fired.Compare(b.Fired), cmp.Compare(a.ID, b.ID))
	})
}

func weight(a alert.Alert, m alert.Member) int {
	w := 0
	for i, heavier := range []bool{a.Kind.Metric() == "" && a.Kind != alert.KindLimit, m.Mute.Lower(a.Severity) == alert.Critical,
		a.State != alert.StateRecovering, m.Inhibited == "" && !m.Mute.IsFull(), a.IsFiring()} {
		if heavier {
			w |= 1 << i
		}
	}
	return w
}

// began returns when the trouble of alerts began.
func began(alerts []alert.Alert) time.Time {
	var first time.Time
	for _, a := range alerts {
		if t := a.Began(); first.IsZero() || t.Before(first) {
			first = t
		}
	}
	return first
}

// isRecovering reports whether all of the target's alerts recover.
func (t trouble) isRecovering() bool {
	return !slices.ContainsFunc(t.alerts, func(a alert.Alert) bool { return a.State != alert.StateRecovering })
}

// of returns the alerts of a kind.
func (t trouble) of(k alert.Kind) []alert.Alert {
	return slices.DeleteFunc(slices.Clone(t.alerts), func(a alert.Alert) bool { return a.Kind != k })
}

// isSlow reports whether the target is slow, and nothing worse.
func (t trouble) isSlow() bool { return t.alerts[0].Kind.Metric() != "" }

// label names a canary within its target: its size, with the scene where the target has several.
func (t trouble) label(c alert.CanaryStatus) string {
	if slices.ContainsFunc(t.target.Canaries, func(o alert.CanaryStatus) bool { return o.Scene.Name != c.Scene.Name }) {
		return c.Scene.Name + "/" + string(c.Size)
	}
	return string(c.Size)
}

// groupKind is provider, host, target or credential.
func (v view) groupKind() string {
	kind, _, _ := strings.Cut(v.Incident.Group, "/")
	return kind
}

// credential returns the provider and the key that an incident is about; ok is false where it is about no credential.
func (v view) credential() (provider, key string, ok bool) {
	parts := strings.SplitN(v.Incident.Group, "/", 3)
	if len(parts) < 3 || parts[0] != "credential" {
		return "", "", false
	}
	return parts[1], parts[2], true
}
