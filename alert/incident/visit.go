package incident

import "strings"

// targetOf returns the name of the target that an alert is about.
func targetOf(a Alert) string {
	name, _, _ := strings.Cut(a.Series, "/")
	return name
}

// eachIn visits every open alert of an incident, by target, and stores what f changed.
func (e *Engine) eachIn(inc *incident, f func(Alert) Alert) {
	for _, t := range inc.in {
		e.eachOpen(t, func(a Alert) Alert {
			if a.Incident != inc.ID {
				return a
			}
			return f(a)
		})
	}
}

// eachOpen visits every open alert of a target, canaries first, and stores what f changed.
func (e *Engine) eachOpen(t *target, f func(Alert) Alert) {
	for _, c := range t.canaries {
		for _, k := range c.kinds() {
			if c.alerts[k].State.open() {
				a := c.alerts[k]
				c.alerts[k] = e.store(a, f(a), c)
			}
		}
	}
	for _, k := range rateKinds() {
		if t.rates[k].State.open() {
			a := t.rates[k]
			t.rates[k] = e.store(a, f(a), nil)
		}
	}
	for _, m := range ringMetrics() {
		if p := t.pools[m]; p != nil && p.alert.State.open() {
			p.alert = e.store(p.alert, f(p.alert), nil)
		}
	}
}

// hasOpen reports whether one of a target's open alerts is of a sort.
func (e *Engine) hasOpen(t *target, is func(Alert) bool) (found bool) {
	e.eachOpen(t, func(a Alert) Alert {
		found = found || is(a)
		return a
	})
	return found
}

// store puts an alert whose incident or announcement changed into the change.
func (e *Engine) store(old, a Alert, c *watch) Alert {
	if old.Incident == a.Incident && old.Announced == a.Announced && old.Mute == a.Mute {
		return a
	}
	e.tx.alert(a)
	if c != nil {
		e.tx.touch(c)
	}
	return a
}
