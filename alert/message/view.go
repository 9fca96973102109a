package message

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"serin/alert"
)

// view is a story by target.
type view struct {
	Story
	now  []trouble // targets on which an alert fires, the leading one first
	over []trouble // targets all of whose alerts ended
	zone *time.Location
}

// trouble is one target of an incident with its alerts, the leading one first: those that fire; where none does, the ended ones.
type trouble struct {
	name   string
	target alert.Target // without a probe.Target where it left the config
	alerts []alert.Alert
}

func newView(s Story) view {
	v := view{Story: s, zone: cmp.Or(s.Zone, time.UTC)}
	for _, a := range s.Alerts {
		if v.at(v.now, a.Target()) >= 0 || v.at(v.over, a.Target()) >= 0 {
			continue
		}
		if t := v.trouble(a.Target()); t.alerts[0].IsFiring() {
			v.now = append(v.now, t)
		} else {
			v.over = append(v.over, t)
		}
	}
	if c := v.leadCanary(); c != nil && c.Scene.Zone != nil {
		v.zone = c.Scene.Zone
	}
	return v
}

func (v view) at(list []trouble, name string) int {
	return slices.IndexFunc(list, func(t trouble) bool { return t.name == name })
}

// trouble gathers the alerts of one target: those that people hear of where there are any, else those that fire, else all.
func (v view) trouble(name string) trouble {
	t := trouble{name: name, target: v.targetOf(name)}
	for _, keep := range []func(alert.Alert) bool{
		func(a alert.Alert) bool { return a.IsFiring() && v.isTold(a) }, alert.Alert.IsFiring, func(alert.Alert) bool { return true },
	} {
		for _, a := range v.Alerts {
			if a.Target() == name && keep(a) {
				t.alerts = append(t.alerts, a)
			}
		}
		if t.alerts != nil {
			break
		}
	}
	return t
}

// targetOf returns a target with its canaries by size; one without a probe.Target where it left the config.
func (v view) targetOf(name string) alert.Target {
	for _, t := range v.Targets {
		if t.Name == name {
			t.Canaries = slices.SortedStableFunc(slices.Values(t.Canaries), func(a, b alert.CanaryStatus) int {
				return cmp.Or(cmp.Compare(a.Scene.Name, b.Scene.Name), sizeRank(a)-sizeRank(b))
			})
			return t
		}
	}
	return alert.Target{}
}

func sizeRank(c alert.CanaryStatus) int {
	return slices.Index([]string{"short", "medium", "long"}, string(c.Size))
}

// lead returns the target that a message is about first; ok is false where it is about none.
func (v view) lead() (t trouble, ok bool) {
	for _, t := range slices.Concat(v.now, v.over) {
		return t, true
	}
	return t, false
}

// leadCanary returns the canary that a message is about first, nil where it is about none.
func (v view) leadCanary() *alert.CanaryStatus {
	if t, ok := v.lead(); ok {
		return v.canary(t)
	}
	return nil
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
	m := v.Incident.Member(a.ID)
	return m.Inhibited == "" && !m.Mute.IsFull()
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

// credential returns the provider and the key that an incident is about; ok is false where it is about no credential.
func (v view) credential() (provider, key string, ok bool) {
	parts := strings.SplitN(v.Incident.Group, "/", 3)
	if len(parts) < 3 || parts[0] != "credential" {
		return "", "", false
	}
	return alert.OneLine(parts[1], 80), alert.OneLine(strings.TrimPrefix(parts[2], "environment variable "), 80), true
}
