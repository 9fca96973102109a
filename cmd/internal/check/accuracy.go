package check

import (
	"fmt"
	"io"
	"slices"

	"serin/cmd/internal/human"
	"serin/probe"
)

// accuracy gathers from probes how wrong their figures can be on this machine.
//
// With the kernel's stamps the instant of a token is that of its arrival: how late this process read it is not in the
// figures. What is left is the start: the request left at some instant within its last write, so that a TTFT from the
// send is too long by at most that write; and a first token that shares its read with later ones may have come before the
// newest of them. Without the kernel's stamps all of the process's own delay is in the figures.
type accuracy struct {
	kernel, read int
	shared       int
	send, lag    []float64 // seconds, one a probe
	pace         []float64 // share of the window in which TPOT is taken
}

// add takes in one probe whose tokens were seen.
func (a *accuracy) add(s *probe.Sample, d *probe.Diary) {
	if s.Stamp == "" || !s.TTFT.Known {
		return
	}
	late := s.Lag.Seconds()
	a.lag = append(a.lag, late)
	if s.Stamp == "kernel" {
		a.kernel++
		late = 0
	} else {
		a.read++
	}
	if d.FirstShared {
		a.shared++
	}
	if d.SendTook.Known {
		a.send = append(a.send, d.SendTook.Seconds()+late)
	}
	if window := s.E2E.Seconds() - s.TTFT.Seconds(); s.TPOT.Known && window > 0 {
		a.pace = append(a.pace, late/window)
	}
}

// print says what can be vouched for.
func (a *accuracy) print(w io.Writer) {
	n := a.kernel + a.read
	if n == 0 {
		return
	}
	slices.Sort(a.send)
	slices.Sort(a.lag)
	slices.Sort(a.pace)
	_, _ = fmt.Fprintf(w, "measuring error on this machine, from %s\n", human.Plural(n, "probe"))
	if a.kernel == n {
		_, _ = fmt.Fprintf(w, "  tokens are stamped by the kernel as they arrive; that serin read them up to %s later is in no figure\n", human.Seconds(a.lag[len(a.lag)-1]))
	} else {
		_, _ = fmt.Fprintf(w, "  %d of %d by read stamps: tokens were stamped up to %s late\n", a.read, n, human.Seconds(a.lag[len(a.lag)-1]))
	}
	if len(a.send) > 0 {
		_, _ = fmt.Fprintf(w, "  TTFT from the send: too long by at most %s (p50), %s (worst)\n", human.Seconds(quantile(a.send, .5)), human.Seconds(a.send[len(a.send)-1]))
	}
	if len(a.pace) > 0 && a.read > 0 {
		_, _ = fmt.Fprintf(w, "  TPOT: within %.3f %% (worst)\n", 100*a.pace[len(a.pace)-1])
	}
	if a.shared > 0 {
		_, _ = fmt.Fprintf(w, "  in %d of them the first token came together with later ones: it may have been there before its stamp\n", a.shared)
	}
}
