package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"serin/cmd/internal/human"
)

// Limits of what serin watches about itself.
const (
	watchEvery   = 15 * time.Second
	outboxOld    = 10 * time.Minute // a message that waits longer is told of
	clockJump    = time.Minute      // between wall and monotonic clock, from one look to the next
	clockSteady  = 10 * time.Minute // without a jump, after which the alert ends
	outboxHeader = "serin cannot deliver messages"
)

// newSelfAlert returns an alert about this process on every channel.
func (d *Daemon) newSelfAlert(name string) *selfAlert {
	return &selfAlert{name: name, tell: d.tellOutbox, names: d.channelNames, by: []string{"probed from " + d.opt.Config.Instance.Name}}
}

// selfWatch looks at what would otherwise fail in silence: delivery, clock and schedule.
type selfWatch struct {
	d        *Daemon
	outbox   *selfAlert
	clock    *selfAlert
	schedule *selfAlert
	seen     clockWatch
}

func newSelfWatch(d *Daemon) *selfWatch {
	w := &selfWatch{d: d, outbox: d.newSelfAlert("outbox"), clock: d.newSelfAlert("step"), schedule: d.newSelfAlert("schedule")}
	w.outbox.names = func() []string { // those that still take messages
		stuck := d.outbox.Stuck(time.Now(), outboxOld)
		return slices.DeleteFunc(slices.Clone(d.channelNames()), func(name string) bool { return slices.Contains(stuck, name) })
	}
	return w
}

// run looks until ctx ends.
func (w *selfWatch) run(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	w.seen.look(time.Now())
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.look(time.Now())
		}
	}
}

func (w *selfWatch) look(now time.Time) {
	w.lookAtOutbox(now)
	w.lookAtClock(now)
	w.lookAtSchedule(api{w.d}.alive())
}

// lookAtSchedule tells of a scheduler that does not turn.
func (w *selfWatch) lookAtSchedule(stuck error) {
	if stuck == nil {
		w.schedule.end("serin's schedule runs again")
		return
	}
	if w.schedule.begin("serin's schedule is stuck: no probe is sent", stuck.Error(), "restart serin, and keep its log") {
		w.d.log.Error("schedule is stuck", "error", stuck)
	}
}

// lookAtOutbox tells the channels that work of those that take nothing.
func (w *selfWatch) lookAtOutbox(now time.Time) {
	stuck := w.d.outbox.Stuck(now, outboxOld)
	if len(stuck) == 0 {
		w.outbox.end("serin delivers its messages again")
		return
	}
	for _, name := range stuck {
		lines := fmt.Sprintf("channel %s has taken nothing for over %s", name, human.Duration(outboxOld))
		if w.outbox.begin(outboxHeader+" to "+name, lines, "serin outbox shows what is owed and why; serin notify-test tries the channel") {
			w.d.log.Error("messages are not delivered", "channels", stuck, "older_than", outboxOld)
		}
	}
}

// lookAtClock tells of a clock that was set, and of a machine that slept, which looks the same.
func (w *selfWatch) lookAtClock(now time.Time) {
	jump, steady := w.seen.look(now)
	switch {
	case jump.Abs() >= clockJump:
		way := "forward (or this machine slept)"
		if jump < 0 {
			way = "back"
		}
		w.d.log.Error("clock stepped", "by", jump)
		w.clock.begin(fmt.Sprintf("serin's clock went %s by %s", way, human.Duration(jump.Abs())), "runs in between were not made up for; times of samples before and after do not fit together",
			"look at this machine's time synchronisation")
	case steady:
		w.clock.end(fmt.Sprintf("serin's clock has been steady for %s", human.Duration(clockSteady)))
	}
}

// clockWatch holds the wall clock against the monotonic one.
type clockWatch struct {
	last   time.Time
	jumped time.Time // the newest jump; zero = none
}

// look returns how far the wall clock ran away since the last look, and whether it has been steady since long. now must
// carry a monotonic reading.
func (c *clockWatch) look(now time.Time) (jump time.Duration, steady bool) {
	if !c.last.IsZero() {
		jump = drift(now.Round(0).Sub(c.last.Round(0)), now.Sub(c.last))
	}
	c.last = now
	if jump != 0 {
		c.jumped = now
	}
	return jump, now.Sub(c.jumped) >= clockSteady
}

// drift returns by how much more the wall clock advanced than the monotonic one; 0 below clockJump.
func drift(wall, monotonic time.Duration) time.Duration {
	if by := wall - monotonic; by.Abs() >= clockJump {
		return by
	}
	return 0
}
