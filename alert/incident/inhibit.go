package incident

import "fmt"

// inhibit weighs what a target's failures mean for the rest: timeouts or errors on at least half of its canaries are
// critical, and what is down holds back what is slow or silent. The held-back alerts keep their full state.
func (e *Engine) inhibit(name string) {
	t := e.targets[name]
	down := 0
	for _, c := range t.canaries {
		if c.down() {
			down++
		}
	}
	most := down > 0 && 2*down >= len(t.canaries)
	e.holdPools(t, most, down)
	for _, c := range t.canaries {
		by := c.heldBackBy(most, down, len(t.canaries))
		for _, k := range c.kinds() {
			if !c.alerts[k].State.open() {
				continue
			}
			switch a := c.alerts[k]; {
			case k == KindTimeout || k == KindError:
				e.weigh(c, k, a, most)
			case k != KindLimit && a.Suppressed != by:
				e.hold(t, c, k, a, by)
			}
		}
	}
}

func (c *watch) heldBackBy(most bool, down, all int) string {
	switch {
	case c.alerts[KindTimeout].State.open():
		return "timeouts of " + c.key
	case c.alerts[KindError].State.open():
		return "errors of " + c.key
	case most:
		return fmt.Sprintf("timeouts or errors on %d of %d canaries", down, all)
	}
	return ""
}

// weigh makes a failure that most of the target shares critical.
func (e *Engine) weigh(c *watch, k Kind, a Alert, most bool) {
	if !most || a.Severity == Critical {
		return
	}
	a.Severity = Critical
	c.alerts[k] = a
	e.tx.alert(a)
	e.tx.touch(c)
}

// hold holds an alert back, or lets it go when by is empty.
func (e *Engine) hold(t *target, c *watch, k Kind, a Alert, by string) {
	fresh := a.Suppressed == "" && a.Announced
	a.Suppressed = by
	c.alerts[k] = a
	e.tx.alert(a)
	e.tx.touch(c)
	what := "alert held back"
	if by == "" {
		what = "alert let go"
	}
	e.log.Info(what, "series", a.Series, "kind", string(k), "reason", by, "alert", a.ID)
	if fresh {
		e.tx.tell(t, News{What: TurnSuppressed, Alert: a.ID, Detail: by})
	}
}
