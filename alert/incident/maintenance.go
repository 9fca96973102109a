package incident

import (
	"slices"
	"time"

	"serin/alert"
)

// window is a maintenance as incidents follow it, with its running or next interval.
type window struct {
	alert.Maintenance
	from, to time.Time // to is not in it
	asked    time.Time // when Next was asked for them
}

func (w *window) covers(at time.Time) bool { return !at.Before(w.from) && at.Before(w.to) }

func (w *window) mute() alert.Mute {
	return alert.Mute{Maintenance: w.Name, Until: alert.AsStored(w.to), Cap: w.Cap}
}

// turn brings the window's interval to a time.
func (w *window) turn(now time.Time) {
	if w.to.After(now) && !now.Before(w.asked) {
		return
	}
	w.asked = now
	from, to, ok := w.Next(now)
	if !ok {
		from, to = time.Time{}, time.Time{}
	}
	w.from, w.to = from, to
}

// useWindows puts maintenance windows in force, in the place of all earlier ones.
func (i *Incidents) useWindows(list []alert.Maintenance) {
	i.windows = nil
	for _, m := range list {
		w := &window{Maintenance: m}
		if !i.now.IsZero() {
			w.turn(i.now)
		}
		i.windows = append(i.windows, w)
	}
}

// running lists the windows that run, as they mute.
func (i *Incidents) running() (list []alert.Mute) {
	for _, w := range i.windows {
		if w.covers(i.now) {
			list = append(list, w.mute())
		}
	}
	return slices.Clip(list)
}
