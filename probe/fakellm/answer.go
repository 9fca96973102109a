package fakellm

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answer is what one request gets.
type answer struct {
	id       string
	created  int64
	model    string
	input    int      // tokens
	thoughts []string // reasoning tokens
	tokens   []string // visible tokens
	cut      bool     // by max_tokens
	usage    bool     // asked for (streams)
}

// dialect is one protocol.
type dialect interface {
	// parse reads a request's body; problem says what is wrong with it.
	parse(body []byte) (a *ask, problem string)
	// mediaType is the content type of a stream.
	mediaType() string
	// check returns what is wrong with a request; "" = nothing.
	check(a *ask) string
	// failure returns an error body in the protocol's shape.
	failure(status int, code, message string) []byte
	// broken returns an error event inside a stream.
	broken() []byte
	// stream returns the events of a whole stream; token i of thoughts and tokens together is due at plan[i].
	stream(a *answer, plan []time.Duration) []frame
	// whole returns the answer in one piece.
	whole(a *answer) []byte
	// requestID names the header that carries the request's id.
	requestID() string
}

// eventStream is the content type of server-sent events.
const eventStream = "text/event-stream; charset=utf-8"

// dialectOf returns the protocol that lives at a URL; nil = none.
func dialectOf(u *url.URL) dialect {
	switch u.Path {
	case "/v1/chat/completions":
		return chat{}
	case "/v1/messages":
		return messages{}
	case "/v1/responses":
		return responses{}
	case "/api/chat":
		return ollama{}
	}
	if d, ok := azureOf(u); ok {
		return d
	}
	if d, ok := geminiOf(u); ok {
		return d
	}
	return nil
}

func (s *Server) serveAnswer(x *exchange, body []byte) {
	a, problem := x.d.parse(body)
	if problem == "" {
		x.asked(body, a)
		problem = x.d.check(a)
	}
	if problem != "" {
		x.refuse(http.StatusBadRequest, "invalid_request_error", problem)
		return
	}
	if !s.serves(a.Model) {
		x.refuse(http.StatusNotFound, "model_not_found", fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", a.Model))
		return
	}
	b, random, nth := s.begin(a.Model)
	x.w.Header().Set(x.d.requestID(), fmt.Sprintf("req-%s-%d", a.Model, nth))
	if !s.enter(a.Model, b.MaxInFlight) {
		x.refuse(http.StatusTooManyRequests, "rate_limit_exceeded", "Too many requests at once.")
		return
	}
	defer s.leave(a.Model)
	if b.Script != nil {
		x.w.Header().Del(x.d.requestID()) // a script says all headers itself
		x.play(frames(b.Script))
		return
	}
	if !x.early(b.Fault) {
		x.speak(a, b, random, nth)
	}
}

// speak gives a real answer, spoilt where the fault lies inside it.
func (x *exchange) speak(a *ask, b Behaviour, random *rand.Rand, nth int) {
	total, reasoning, cut := b.lengths(a.limit())
	if b.Fault.Kind == Empty {
		total, reasoning, cut = 0, 0, false
	}
	text := words(random, a.wide, total)
	out := &answer{id: fmt.Sprintf("fake-%d", nth), created: x.arrived.Unix(), model: a.Model, input: a.input,
		thoughts: text[:reasoning], tokens: text[reasoning:], cut: cut, usage: a.Options.Usage}
	plan := b.Plan(random, x.arrived, a.input, total)
	if !a.Stream {
		x.serveWhole(out, plan, b.Fault)
		return
	}
	open(x.w, x.d.mediaType())
	x.play(spoil(x.d.stream(out, plan), b.Fault, x.d.broken()))
}

// early does the faults that come before any stream.
func (x *exchange) early(f Fault) bool {
	switch f.Kind {
	case Hang:
		<-x.r.Context().Done()
		panic(http.ErrAbortHandler) // returning would send a head after all
	case HTML:
		x.send(http.StatusOK, "text/html; charset=utf-8", []byte("<!doctype html><title>Gateway</title><h1>Please sign in</h1>\n"), WroteOther)
	case RateLimit:
		f.Status = http.StatusTooManyRequests
		fallthrough
	case Status:
		if f.Status == 0 {
			f.Status = http.StatusInternalServerError
		}
		if f.RetryAfter > 0 {
			x.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
		}
		body := []byte(f.Body)
		if f.Body == "" {
			body = x.d.failure(f.Status, codeOf(f.Status), strings.ToLower(http.StatusText(f.Status))+" (made up by the fake)")
		}
		x.send(f.Status, "application/json", body, WroteError)
	default:
		return false
	}
	return true
}

// codeOf returns an error code for a made-up status.
func codeOf(status int) string {
	switch status {
	case http.StatusTooManyRequests:
		return "rate_limit_exceeded"
	case http.StatusServiceUnavailable, 529:
		return "overloaded_error"
	case http.StatusUnauthorized, http.StatusForbidden:
		return "invalid_api_key"
	case http.StatusPaymentRequired:
		return "insufficient_quota"
	}
	if status < 500 {
		return "invalid_request_error"
	}
	return "server_error"
}

// serveWhole answers a request that asked for no stream, when its last token is due.
func (x *exchange) serveWhole(a *answer, plan []time.Duration, f Fault) {
	done := frame{what: WroteAll, data: x.d.whole(a)}
	if len(plan) > 0 {
		done.at = plan[len(plan)-1]
	}
	steps := []frame{done}
	switch f.Kind {
	case Stall:
		steps[0].do = actHang
	case Cut:
		steps = []frame{{at: done.at, what: WroteAll, data: done.data[:len(done.data)/2]}, {at: done.at, do: actAbort}}
	case Reset:
		steps[0].do = actReset
	case Error:
		steps[0].data = x.d.failure(http.StatusInternalServerError, "server_error", "made up by the fake")
	}
	open(x.w, "application/json")
	x.play(steps)
}

// refuse sends an error in the shape of the protocol; without one, in OpenAI's.
func (x *exchange) refuse(status int, code, message string) {
	d := x.d
	if d == nil {
		d = chat{}
	}
	x.send(status, "application/json", d.failure(status, code, message), WroteError)
}

func (x *exchange) send(status int, kind string, body []byte, what string) {
	x.w.Header().Set("Content-Type", kind)
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.status(status)
	x.w.WriteHeader(status)
	x.write(frame{what: what, data: body})
}

func open(w http.ResponseWriter, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Accel-Buffering", "no")
}

func (s *Server) serveModels(x *exchange) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list", Data: []model{}}
	for _, id := range s.models() {
		list.Data = append(list.Data, model{ID: id, Object: "model", Created: 1767225600, OwnedBy: "fakellm"})
	}
	if name := strings.TrimPrefix(strings.TrimPrefix(x.r.URL.Path, "/v1/models"), "/"); name != "" {
		if i := slices.IndexFunc(list.Data, func(m model) bool { return m.ID == name }); i >= 0 {
			x.send(http.StatusOK, "application/json", encode(list.Data[i]), WroteOther)
			return
		}
		x.refuse(http.StatusNotFound, "model_not_found", "The model `"+html.EscapeString(name)+"` does not exist.")
		return
	}
	x.send(http.StatusOK, "application/json", encode(list), WroteOther)
}

// encode returns v as JSON; everything given to it is made of strings and numbers, which always encode.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// words returns n tokens of plausible prose, Chinese where the prompt is.
func words(r *rand.Rand, wide bool, n int) []string {
	source := english()
	if wide {
		source = chinese()
	}
	list := make([]string, 0, n)
	for len(list) < n {
		sentence := source[r.IntN(len(source))]
		list = append(list, sentence[:min(len(sentence), n-len(list))]...)
	}
	if n > 0 {
		list[0] = strings.TrimPrefix(list[0], " ")
	}
	return list
}
