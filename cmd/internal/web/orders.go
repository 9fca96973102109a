package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Order is a change that a person asks of the running daemon.
type Order struct {
	Do      string // accept, undo, reset, ack
	Pattern string // a glob over canaries, or the id of an incident; of ack the id
	Who     string
	Why     string
	Until   time.Time // of ack: when reminders begin again; zero = not while the incident is open
}

// Names of orders.
const (
	OrderAccept = "accept"
	OrderUndo   = "undo"
	OrderReset  = "reset"
	OrderAck    = "ack"
)

// maxWhy bounds what a person may write, bytes.
const maxWhy = 500

// orderRoutes are the changes; each takes pattern, why and who in its query.
func (s *Server) orderRoutes() []route {
	return []route{
		{"POST /api/v1/accept", "make the level of what fires the new normal (pattern, why, who)", s.order(OrderAccept)},
		{"POST /api/v1/ack", "say that somebody has taken an incident: its reminders stop (pattern = its id, who; why and for, such as 4h, may be left out)", s.order(OrderAck)},
		{"POST /api/v1/accept/undo", "take acceptances of the last 7 days back (pattern, why, who)", s.order(OrderUndo)},
		{"POST /api/v1/baseline/reset", "forget the history of canaries: they learn anew (pattern, why, who)", s.order(OrderReset)},
	}
}

// order carries out one order and answers with the series that it changed.
func (s *Server) order(do string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		o := Order{Do: do, Pattern: q.Get("pattern"), Who: author(r, q.Get("who")), Why: oneLine(q.Get("why"))}
		switch {
		case o.Pattern == "":
			s.fail(w, http.StatusBadRequest, "pattern is missing: target/scene/size, with * for any, or the id of an incident")
			return
		case o.Why == "" && do != OrderAck:
			s.fail(w, http.StatusBadRequest, "why is missing: it goes into the history, beside who")
			return
		case do == OrderAck && q.Get("for") != "":
			d, err := parseAge(q.Get("for"))
			if err != nil || d <= 0 || d > maxAge {
				s.fail(w, http.StatusBadRequest, fmt.Sprintf("for=%q is no time: write how long reminders rest, such as 90m, 4h or 2d", oneLine(q.Get("for"))))
				return
			}
			o.Until = time.Now().Add(d)
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(reloadWithin + writeWithin)) // only a recorder cannot
		done, err := s.opt.Order(r.Context(), o)
		s.opt.Log.Info("order", "do", o.Do, "pattern", o.Pattern, "who", o.Who, "why", o.Why, "changed", len(done))
		if err != nil {
			s.fail(w, http.StatusUnprocessableEntity, err.Error())
			return
		}
		s.object(w, r, map[string]any{"changed": done})
	}
}

// oneLine bounds what a person wrote and takes control characters out.
func oneLine(text string) string {
	text = strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, text))
	if len(text) > maxWhy {
		text = strings.ToValidUTF8(text[:maxWhy], "") + "…"
	}
	return text
}
