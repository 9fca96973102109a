package alert

import (
	"fmt"
	"slices"
	"time"

	"serin/baseline"
)

// An alert that opens and closes so often stays open, as one, until it has been calm for long.
const (
	flapCycles = 4
	flapWithin = 6 * time.Hour
	flapCalm   = 2 * time.Hour
)

// after returns the blank alert that follows an ended one: it knows how often its like has ended lately.
func (a Alert) after(ended Alert) Alert {
	a.Cycles = slices.DeleteFunc(append(slices.Clone(ended.Cycles), ended.Resolved), func(t time.Time) bool {
		return ended.Resolved.Sub(t).Abs() > flapWithin
	})
	if ended.Reason != endNewNormal {
		a.KalmanState = ended.KalmanState
	}
	return a
}

// flaps reports whether an alert that would end now has ended too often for that. Literal alerts never do: their rule is
// taken word for word.
func (a Alert) flaps(q Quorum, now time.Time) bool {
	n := 1
	for _, t := range a.Cycles {
		if now.Sub(t).Abs() <= flapWithin {
			n++
		}
	}
	return !q.Strict && n >= flapCycles
}

// flap makes an alert that would end stay open.
func (a Alert) flap(now time.Time, t turn) (Alert, turn) {
	a = a.to(StateFlapping, now)
	a.Calm, a.Votes = []time.Time{now}, nil
	t.Flaps, t.Why = true, fmt.Sprintf("opened and closed %d times in %s", len(a.Cycles)+1, elapsed(flapWithin))
	return a, t
}

// stepFlapping waits until nothing would have fired for long. Calm holds since when.
func stepFlapping(a Alert, q Quorum, o Observation, now time.Time, t turn) (Alert, turn) {
	_, fires := q.fires(&a, &o, q.sharp(&a, &o))
	switch {
	case fires, len(a.Calm) == 0, o.At.Before(a.Calm[0]):
		a.Calm = []time.Time{o.At}
	case o.Call == baseline.Calm && o.At.Sub(a.Calm[0]) >= flapCalm:
		a.Calm = []time.Time{o.At}
		return resolve(a, "calm for "+elapsed(flapCalm), now, t)
	}
	return a, t
}

// flapNews is what a turn of an alert adds to the thread.
func flapNews(a Alert, t turn) []News {
	if !t.Flaps || !a.Announced {
		return nil
	}
	return []News{{What: TurnFlapping, Alert: a.ID, Detail: t.Why}}
}
