package fakellm

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// play does frames at their times, counted from the request's arrival, each written and flushed by itself, until the client leaves.
// A late write shifts no later one.
func (x *exchange) play(frames []frame) {
	for _, f := range frames {
		if !sleepUntil(x.r.Context(), x.arrived.Add(f.at)) {
			return
		}
		switch f.do {
		case actHead:
			for name, values := range f.head {
				x.w.Header()[name] = values
			}
			x.status(f.code)
			x.w.WriteHeader(f.code)
			_ = http.NewResponseController(x.w).Flush() // a client that left is seen by its context
		case actHang:
			<-x.r.Context().Done()
			return
		case actReset:
			reset(x.w)
			return
		case actAbort:
			panic(http.ErrAbortHandler)
		case actWrite:
			if !x.write(f) {
				return
			}
		case actNothing:
		}
	}
}

func (x *exchange) write(f frame) bool {
	x.wrote(f.what, len(f.data)) // before the write: over a pipe it returns only after the client's read
	if _, err := x.w.Write(f.data); err != nil {
		return false
	}
	return http.NewResponseController(x.w).Flush() == nil
}

// sleepUntil returns false when ctx ended first.
func sleepUntil(ctx context.Context, t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// reset ends the connection with a TCP reset where it is TCP, abruptly elsewhere; over HTTP/2 it resets the stream.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	raw := conn
	if t, ok := conn.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	if t, ok := raw.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // what fails here ends the connection another way
	}
	_ = raw.Close()
}
