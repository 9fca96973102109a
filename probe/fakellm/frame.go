package fakellm

import (
	"net/http"
	"slices"
	"time"
)

// What names one write in a Record.
const (
	WroteRole      = "role" // what opens the stream
	WroteToken     = "token"
	WroteReasoning = "reasoning"
	WroteFinish    = "finish"
	WroteUsage     = "usage"
	WroteDone      = "done"
	WroteError     = "error"
	WroteOther     = "other"
	WroteAll       = "all" // several of them at once
)

// frame is one thing to do at one time.
type frame struct {
	at   time.Duration // from the request's arrival
	what string
	data []byte
	do   action
	code int         // of actHead
	head http.Header // of actHead
}

// action is what a frame does.
type action int

const (
	actWrite action = iota
	actHead         // send the response's head, before any write
	actHang         // nothing more, until the client leaves
	actReset
	actAbort   // end the connection without the end of the response
	actNothing // only wait
)

// generated reports whether the frame carries a token.
func (f frame) generated() bool { return f.what == WroteToken || f.what == WroteReasoning }

// spoil returns frames as fault leaves them; broken is the protocol's error event.
func spoil(frames []frame, fault Fault, broken []byte) []frame {
	switch fault.Kind {
	case Stall:
		kept, at := upTo(frames, fault.After)
		return append(kept, frame{at: at, do: actHang})
	case Cut:
		kept, _ := upTo(frames, fault.After)
		return kept
	case Reset:
		kept, at := upTo(frames, fault.After)
		return append(kept, frame{at: at, do: actReset})
	case Error:
		kept, at := upTo(frames, fault.After)
		return append(kept, frame{at: at, what: WroteError, data: broken})
	case Buffer:
		return []frame{atOnce(frames)}
	}
	return frames
}

// upTo returns the frames before the token that follows tokens others, and when the last of them is due.
func upTo(frames []frame, tokens int) ([]frame, time.Duration) {
	n, last := 0, time.Duration(0)
	for i, f := range frames {
		if f.generated() {
			if n++; n > tokens {
				return slices.Clip(frames[:i]), last
			}
		}
		if f.what == WroteFinish { // a shorter answer: the fault comes before its end
			return slices.Clip(frames[:i]), last
		}
		last = f.at
	}
	return slices.Clip(frames), last
}

// atOnce joins all frames into one at the time of the last.
func atOnce(frames []frame) frame {
	all := frame{what: WroteAll}
	for _, f := range frames {
		all.at = max(all.at, f.at)
		all.data = append(all.data, f.data...)
	}
	return all
}
