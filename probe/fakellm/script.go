package fakellm

import (
	"fmt"
	"net/http"
	"time"
)

// Step is one step of a script: what a server sends, byte by byte. Make steps with the functions below.
type Step struct {
	wait  time.Duration
	frame frame
}

// Sleep waits. Times add up from the request's arrival, so that a slow write shifts nothing after it.
func Sleep(d time.Duration) Step { return Step{wait: d} }

// Head sends the response's head at once; without it the head goes with the first write, as status 200 with
// Content-Type text/event-stream. pairs are header names and values in turn; a value of "" removes a default header.
func Head(status int, pairs ...string) Step {
	h := http.Header{"Content-Type": {"text/event-stream"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			h[http.CanonicalHeaderKey(pairs[i])] = nil // nil keeps net/http from guessing one
		}
	}
	return Step{frame: frame{do: actHead, code: status, head: h}}
}

// Raw writes bytes as they are and flushes.
func Raw(b string) Step { return wrote(WroteOther, b) }

// E writes data: x and a blank line.
func E(x string) Step { return wrote(WroteOther, "data: "+x+"\n\n") }

// Tok writes a chat chunk with delta.content = s.
func Tok(s string) Step { return delta(WroteToken, "content", s) }

// Think writes a chat chunk with delta.reasoning_content = s.
func Think(s string) Step { return delta(WroteReasoning, "reasoning_content", s) }

// Role writes a chat chunk with the role and an empty content.
func Role() Step {
	return wrote(WroteRole, `data: {"id":"c1","object":"chat.completion.chunk","model":"fake","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`+"\n\n")
}

// Fin writes a chat chunk with an empty delta and finish_reason = reason.
func Fin(reason string) Step {
	return wrote(WroteFinish, fmt.Sprintf(`data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":%s}]}`+"\n\n", encode(reason)))
}

// Usage writes a chat chunk without choices and completion_tokens = n.
func Usage(n int) Step {
	return wrote(WroteUsage, fmt.Sprintf(`data: {"id":"c1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", n, n+9))
}

// Done writes [DONE].
func Done() Step { return wrote(WroteDone, "data: [DONE]\n\n") }

// Close ends the response cleanly; so does the end of the script.
func Close() Step { return Step{frame: frame{what: closing}} }

// Abort ends the connection in the middle of the response, without a reset.
func Abort() Step { return Step{frame: frame{do: actAbort}} }

// Rst resets the connection.
func Rst() Step { return Step{frame: frame{do: actReset}} }

// Silence sends nothing more and keeps the connection open until the client leaves.
func Silence() Step { return Step{frame: frame{do: actHang}} }

// Normal returns the script that every other is a variation of: role, first token after 50 ms, nine more 10 ms apart, finish,
// usage of 10, [DONE].
func Normal() []Step {
	steps := []Step{Role(), Sleep(50 * time.Millisecond), Tok("a")}
	for range 9 {
		steps = append(steps, Sleep(10*time.Millisecond), Tok("b"))
	}
	return append(steps, Fin("stop"), Usage(10), Done(), Close())
}

// closing marks the frame at which a script ends.
const closing = "close"

func wrote(what, data string) Step { return Step{frame: frame{what: what, data: []byte(data)}} }

func delta(what, field, text string) Step {
	return wrote(what, fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","model":"fake","choices":[{"index":0,"delta":{"%s":%s},"finish_reason":null}]}`+"\n\n", field, encode(text)))
}

// frames gives every step its time.
func frames(script []Step) []frame {
	var list []frame
	at, headed := time.Duration(0), false
	for _, s := range script {
		at += s.wait
		f := s.frame
		f.at = at
		switch {
		case f.what == closing:
			return append(list, frame{at: at, do: actNothing})
		case f.do == actWrite && f.data == nil:
			continue // a sleep alone
		case f.do == actWrite && !headed:
			head := Head(http.StatusOK).frame
			head.at = at
			list = append(list, head)
			headed = true
		case f.do == actHead:
			headed = true
		}
		list = append(list, f)
	}
	return append(list, frame{at: at, do: actNothing})
}
