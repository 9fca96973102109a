package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// systemd tells the service manager how the daemon stands; without one every call does nothing.
type systemd struct{ log *slog.Logger }

func (s systemd) tell(state string) {
	if _, err := sd.SdNotify(false, state); err != nil {
		s.log.Warn("notify systemd", "error", err)
	}
}

func (s systemd) ready()    { s.tell(sd.SdNotifyReady) }
func (s systemd) stopping() { s.tell(sd.SdNotifyStopping) }

// reloading must carry the monotonic clock, or systemd takes the READY that follows for an old one.
func (s systemd) reloading() {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		s.log.Warn("read monotonic clock", "error", err)
		return
	}
	s.tell(fmt.Sprintf("%s\nMONOTONIC_USEC=%d", sd.SdNotifyReloading, ts.Nano()/1000))
}

// watchdog pets systemd's watchdog at half its period while alive says so, until ctx ends.
func (s systemd) watchdog(ctx context.Context, alive func() error) {
	period, err := sd.SdWatchdogEnabled(false)
	if err != nil || period <= 0 {
		return
	}
	tick := time.NewTicker(period / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := alive(); err != nil {
				s.log.Error("not healthy, watchdog not fed", "error", err)
				continue
			}
			s.tell(sd.SdNotifyWatchdog)
		}
	}
}
