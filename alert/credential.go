package alert

import (
	"fmt"

	"serin/probe"
)

// credential names what shares a refusal: the provider and where its key comes from.
func (c *watch) credential() string {
	return c.Canary.Target.Provider + "\x00" + c.Canary.Target.APIKey.Label()
}

// lockedOut reports whether an outcome is about the credential and not about the endpoint.
func lockedOut(o probe.Outcome) bool { return o == probe.Auth || o == probe.Quota }

// sharing lists the other targets that have a canary's credential, by name.
func (e *Engine) sharing(c *watch) []string {
	var list []string
	for _, t := range e.order {
		if t.name != c.Canary.Target.Name && len(t.canaries) > 0 && t.canaries[0].credential() == c.credential() {
			list = append(list, t.name)
		}
	}
	return list
}

// lockOut makes one alert a credential that people are told: the first. Later ones have their full state and are held
// back behind it.
func (e *Engine) lockOut(c *watch, a Alert) Alert {
	if a.Kind != KindError || !lockedOut(a.Last.Outcome) {
		return a
	}
	key := c.credential()
	if first := e.watches[e.locked[key]]; first != nil && first != c && first.alerts[KindError].Open() {
		a.Suppressed = fmt.Sprintf("%s of %s, which has the same credential", a.Last.Outcome, first.key)
		return a
	}
	e.locked[key] = c.key
	return a
}

// unlock ends what was held back behind a canary's alert: its credential works again.
func (e *Engine) unlock(c *watch) {
	key := c.credential()
	if e.locked[key] != c.key {
		return
	}
	delete(e.locked, key)
	e.eachBehind(key, func(x *watch, a Alert) {
		a, t := resolve(a, "the credential works again", e.now, turn{From: a.State})
		e.take(x, KindError, a, t)
	})
}

// handOver tells the next of a credential's alerts in place of one whose canary left.
func (e *Engine) handOver(c *watch) {
	key := c.credential()
	if e.locked[key] != c.key {
		return
	}
	delete(e.locked, key)
	e.eachBehind(key, func(x *watch, a Alert) {
		if x == c {
			return
		}
		a.Suppressed = ""
		a = e.lockOut(x, a)
		x.alerts[KindError] = a
		e.tx.alert(a)
		e.tx.touch(x)
		e.tx.tell(e.targets[x.Canary.Target.Name])
	})
}

// eachBehind visits the alerts that are held back behind another of the same credential.
func (e *Engine) eachBehind(key string, f func(*watch, Alert)) {
	for _, t := range e.order {
		for _, x := range t.canaries {
			a := x.alerts[KindError]
			if a.Open() && a.Suppressed != "" && lockedOut(a.Last.Outcome) && x.credential() == key {
				f(x, a)
			}
		}
	}
}

// yield lets another canary tell that a credential is refused where the one that would is muted and the other is not.
func (e *Engine) yield(c *watch) {
	a, key := c.alerts[KindError], c.credential()
	if !a.Open() || !a.Muted() || a.Announced || e.locked[key] != c.key {
		return
	}
	e.eachBehind(key, func(x *watch, b Alert) {
		of := e.targets[x.Canary.Target.Name]
		if e.locked[key] != c.key || x == c || e.muteOf(e.fact(b)).full() {
			return
		}
		e.locked[key], b.Suppressed = x.key, ""
		x.alerts[KindError] = b
		e.tx.alert(b)
		e.tx.touch(x)
		e.tx.tell(of)
		a.Suppressed = fmt.Sprintf("%s of %s, which has the same credential", a.Last.Outcome, x.key)
		c.alerts[KindError] = a
		e.tx.alert(a)
		e.tx.touch(c)
	})
}
