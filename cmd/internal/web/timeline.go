package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"serin/alert"
)

// Timeline is what people put beside what was measured. Lists come by time; Query.Canary is not used. Silences are those
// in force at some time in [Since, Until), where a zero Until is no bound.
type Timeline interface {
	Silences(ctx context.Context, q Query) ([]alert.Silence, error)
	Marks(ctx context.Context, q Query) ([]alert.Mark, error)
}

// Writer puts silences and marks on the time line. Its errors are about what was asked: they name the field and the fix.
// Silence returns the canaries that it is about now beside it; Expire returns ErrNotFound for an id that is not in force.
type Writer interface {
	Silence(ctx context.Context, s alert.Silence) (alert.Silence, []string, error)
	Expire(ctx context.Context, id, who string) (alert.Silence, error)
	Mark(ctx context.Context, m alert.Mark) (alert.Mark, error)
}

// Silenced is a silence as the API shows it.
type Silenced struct {
	alert.Silence
	State    string   `json:"state"`              // pending, active, expired
	Canaries []string `json:"canaries,omitempty"` // that it is about; of a new one only
}

// timelineRoutes are silences and marks.
func (s *Server) timelineRoutes() []route {
	return []route{
		{"GET /api/v1/silences", "silences in force, planned, or over since a week, by beginning (since, until, limit)", s.silences},
		{"POST /api/v1/silences", `mute what is told: {"match": ["target=gw-*"], "for": "2h" or "ends", "starts", "reason", "by", "cap"}`, s.silence},
		{"DELETE /api/v1/silences/{id}", "end a silence now (by)", s.expire},
		{"GET /api/v1/marks", "events on the time line, by time (since, until, limit)", s.marks},
		{"POST /api/v1/marks", `put an event on the time line: {"text": "vllm 0.13", "at", "targets": ["gw-*"], "by"}`, s.mark},
	}
}

func (s *Server) silences(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	q, err := timelineQuery(r.URL.Query(), now)
	if err != nil {
		s.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	list, err := s.opt.Timeline.Silences(r.Context(), q)
	if err != nil {
		s.broken(w, r, err)
		return
	}
	shown := make([]*Silenced, len(list))
	for i, x := range list {
		shown[i] = &Silenced{Silence: x, State: x.State(now)}
	}
	sendArray(s, w, r, shown)
}

func (s *Server) marks(w http.ResponseWriter, r *http.Request) {
	q, err := timelineQuery(r.URL.Query(), time.Now())
	if err != nil {
		s.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	list, err := s.opt.Timeline.Marks(r.Context(), q)
	if err != nil {
		s.broken(w, r, err)
		return
	}
	shown := make([]*alert.Mark, len(list))
	for i := range list {
		shown[i] = &list[i]
	}
	sendArray(s, w, r, shown)
}

// timelineQuery reads since, until and limit; what lies ahead is in the list unless until says otherwise.
func timelineQuery(v url.Values, now time.Time) (Query, error) {
	if err := knownOnce(v, "since", "until", "limit"); err != nil {
		return Query{}, err
	}
	q, err := parseQuery(v, now, decidedAge)
	if v.Get("until") == "" {
		q.Until = time.Time{}
	}
	return q, err
}

// silenceBody is what POST /api/v1/silences takes.
type silenceBody struct {
	Match  alert.Matchers `json:"match"`
	Starts time.Time      `json:"starts"`
	Ends   time.Time      `json:"ends"`
	For    string         `json:"for"`
	Reason string         `json:"reason"`
	By     string         `json:"by"`
	Cap    alert.Severity `json:"cap"`
}

func (s *Server) silence(w http.ResponseWriter, r *http.Request) {
	var b silenceBody
	if !s.body(w, r, &b) {
		return
	}
	if err := b.end(time.Now()); err != nil {
		s.fail(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	made, canaries, err := s.opt.Writer.Silence(r.Context(), alert.Silence{Match: b.Match, Starts: b.Starts, Ends: b.Ends, Reason: b.Reason,
		By: author(r, b.By), Cap: b.Cap})
	if err != nil {
		s.fail(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	if canaries == nil {
		canaries = []string{}
	}
	s.object(w, r, Silenced{Silence: made, State: made.State(time.Now()), Canaries: canaries})
}

// end turns for into ends.
func (b *silenceBody) end(now time.Time) error {
	switch {
	case b.For == "" && b.Ends.IsZero():
		return errors.New(`ends is missing: give "for", such as "2h", or "ends" in RFC 3339`)
	case b.For == "":
		return nil
	case !b.Ends.IsZero():
		return errors.New("for stands beside ends: give one of the two")
	}
	d, err := parseAge(b.For)
	if err != nil || d <= 0 {
		return fmt.Errorf("for=%q is no time to be silent: write a duration such as 30m, 2h or 3d", oneLine(b.For))
	}
	if b.Ends = now.Add(d); !b.Starts.IsZero() {
		b.Ends = b.Starts.Add(d)
	}
	return nil
}

func (s *Server) expire(w http.ResponseWriter, r *http.Request) {
	if err := knownOnce(r.URL.Query(), "by"); err != nil {
		s.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	ended, err := s.opt.Writer.Expire(r.Context(), r.PathValue("id"), author(r, r.URL.Query().Get("by")))
	switch {
	case errors.Is(err, ErrNotFound):
		s.fail(w, http.StatusNotFound, err.Error())
	case err != nil:
		s.fail(w, http.StatusUnprocessableEntity, err.Error())
	default:
		s.object(w, r, Silenced{Silence: ended, State: ended.State(time.Now())})
	}
}

// markBody is what POST /api/v1/marks takes.
type markBody struct {
	At      time.Time `json:"at"`
	Text    string    `json:"text"`
	Targets []string  `json:"targets"`
	By      string    `json:"by"`
}

func (s *Server) mark(w http.ResponseWriter, r *http.Request) {
	var b markBody
	if !s.body(w, r, &b) {
		return
	}
	made, err := s.opt.Writer.Mark(r.Context(), alert.Mark{At: b.At, Text: b.Text, Targets: b.Targets, By: author(r, b.By)})
	if err != nil {
		s.fail(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	s.object(w, r, made)
}

// body reads the one JSON object of a request; on a mistake it answers and returns false.
func (s *Server) body(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := knownOnce(r.URL.Query()); err != nil {
		s.fail(w, http.StatusBadRequest, err.Error()+": write it into the JSON body")
		return false
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one JSON value")
		}
	}
	switch {
	case err == nil:
		return true
	case isTooLarge(err):
		s.fail(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has over %d bytes", maxBody))
	case errors.Is(err, io.EOF):
		s.fail(w, http.StatusBadRequest, "the body is empty: send one JSON object")
	default:
		s.fail(w, http.StatusBadRequest, "the body is not understood: "+fieldError(err)+knownFields(err, into))
	}
	return false
}

func isTooLarge(err error) bool {
	_, ok := errors.AsType[*http.MaxBytesError](err)
	return ok
}

// knownFields lists the fields of a body where an unknown one is what is wrong with it.
func knownFields(err error, body any) string {
	if !strings.Contains(err.Error(), "unknown field") {
		return ""
	}
	var names []string
	for f := range reflect.TypeOf(body).Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return "; there are: " + strings.Join(names, ", ")
}

// fieldError says what is wrong with a body, and in which field.
func fieldError(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s is a JSON %s, which is not what belongs there", t.Field, t.Value)
	}
	if p, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Sprintf("%s is not a time: write RFC 3339 such as \"2026-03-01T22:00:00+01:00\"", oneLine(p.Value))
	}
	return strings.TrimPrefix(oneLine(err.Error()), "json: ")
}
