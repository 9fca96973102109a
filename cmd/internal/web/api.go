package web

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// How far back a list goes when since is not given.
const (
	measuredAge = 24 * time.Hour
	decidedAge  = 7 * 24 * time.Hour
)

// reloadWithin bounds one reload: it reads files and looks up nothing.
const reloadWithin = 60 * time.Second

// route is one line of the index: what is there, and for whom.
type route struct {
	pattern string
	about   string
	handle  http.HandlerFunc
}

// routes is the table of all that is served.
func (s *Server) routes() []route {
	return append(slices.Concat(s.scrapeRoutes(), s.orderRoutes(), s.timelineRoutes()), []route{
		{"POST /-/reload", "read the config again; answers what is wrong with it and keeps the old one", s.reload},
		{"GET /api/v1/status", "this process and how each canary stands", s.status},
		{"GET /api/v1/samples", "what was measured, newest first (since, until, canary, limit)", s.samples},
		{"GET /api/v1/bands", "what is normal, newest slot first (since, until, canary, limit)", s.bands},
		{"GET /api/v1/alerts", "alerts, newest first (since, until, canary, limit)", s.alerts},
		{"GET /api/v1/alerts/history", "changes of state and events, newest first (since, until, canary, kind, incident, limit)", s.history},
		{"GET /api/v1/incidents", "incidents, newest first (since, until, canary, limit)", s.incidents},
		{"GET /api/v1/incidents/{id}", "one incident with its explanation", s.incident},
	}...)
}

// scrapeRoutes is what metrics_listen serves.
func (s *Server) scrapeRoutes() []route {
	return []route{
		{"GET /metrics", "Prometheus text", s.metrics},
		{"GET /healthz", "alive: the scheduler turns", s.health(s.opt.Alive)},
		{"GET /readyz", "ready: the store is open, the schedules run", s.health(s.opt.Ready)},
	}
}

// isHealth reports whether a path is open to everybody.
func isHealth(path string) bool { return path == "/healthz" || path == "/readyz" }

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.opt.Metrics(w)
}

func (s *Server) health(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := check(); err != nil {
			s.text(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		s.text(w, http.StatusOK, "ok")
	}
}

func (s *Server) reload(w http.ResponseWriter, r *http.Request) {
	// The answer must still be sendable when the reload took its time.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(reloadWithin + writeWithin)) // only a recorder cannot
	s.opt.Log.Info("reload asked for", "by", r.RemoteAddr)
	if err := s.opt.Reload(r.Context()); err != nil {
		s.text(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	s.text(w, http.StatusOK, "reloaded")
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	if err := knownOnce(r.URL.Query()); err != nil {
		s.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	st, err := s.opt.Status(r.Context())
	if err != nil {
		s.broken(w, r, err)
		return
	}
	s.object(w, r, st)
}

func (s *Server) samples(w http.ResponseWriter, r *http.Request) {
	answer(s, w, r, measuredAge, listing[probe.Sample]{
		key:     (*probe.Sample).Key,
		at:      func(p *probe.Sample) time.Time { return p.Time },
		overlap: func(p *probe.Sample) (time.Time, time.Time) { return p.Time, p.Time },
		points:  true,
	}, s.opt.Measurements.Samples)
}

func (s *Server) bands(w http.ResponseWriter, r *http.Request) {
	answer(s, w, r, measuredAge, listing[baseline.Band]{
		key:     func(b *baseline.Band) string { return b.Canary },
		at:      func(b *baseline.Band) time.Time { return b.Slot },
		overlap: func(b *baseline.Band) (time.Time, time.Time) { return b.Slot, b.Slot },
		points:  true,
	}, s.opt.Measurements.Bands)
}

func (s *Server) alerts(w http.ResponseWriter, r *http.Request) {
	answer(s, w, r, decidedAge, listing[alert.Alert]{
		key: func(a *alert.Alert) string { return a.Series },
		at:  func(a *alert.Alert) time.Time { return a.Since },
		overlap: func(a *alert.Alert) (time.Time, time.Time) {
			if a.FirstBreach.IsZero() {
				return a.Since, a.Resolved
			}
			return a.FirstBreach, a.Resolved
		},
	}, s.opt.Alerts.Alerts)
}

// history lists changes of state. Besides what all lists take it takes kind and incident.
func (s *Server) history(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	own := url.Values{}
	for _, name := range []string{"kind", "incident"} {
		if list, ok := v[name]; ok {
			own[name] = list
			v.Del(name)
		}
	}
	if err := knownOnce(own, "kind", "incident"); err != nil {
		s.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	rest := r.Clone(r.Context())
	rest.URL.RawQuery = v.Encode()
	answer(s, w, rest, decidedAge, listing[transition]{
		key:     func(t *transition) string { return t.Series },
		at:      func(t *transition) time.Time { return t.At },
		overlap: func(t *transition) (time.Time, time.Time) { return t.At, t.At },
		points:  true,
	}, func(ctx context.Context, q Query) iter.Seq2[transition, error] {
		return s.transitions(ctx, q, own.Get("kind"), own.Get("incident"))
	})
}

// transitions yields the history of a kind and an incident; "" is any.
func (s *Server) transitions(ctx context.Context, q Query, kind, incident string) iter.Seq2[transition, error] {
	return func(yield func(transition, error) bool) {
		for t, err := range s.opt.Alerts.History(ctx, q, incident) {
			if err == nil && kind != "" && string(t.Kind) != kind {
				continue
			}
			if !yield(transitionOf(t), err) {
				return
			}
		}
	}
}

func (s *Server) incidents(w http.ResponseWriter, r *http.Request) {
	answer(s, w, r, decidedAge, listing[alert.Incident]{
		key:     func(i *alert.Incident) string { return i.Scope },
		also:    func(i *alert.Incident) []string { return i.Targets() },
		at:      func(i *alert.Incident) time.Time { return i.Opened },
		overlap: func(i *alert.Incident) (time.Time, time.Time) { return i.Opened, i.Closed },
	}, s.opt.Alerts.Incidents)
}

func (s *Server) incident(w http.ResponseWriter, r *http.Request) {
	if err := knownOnce(r.URL.Query()); err != nil {
		s.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	d, err := s.opt.Alerts.Incident(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, ErrNotFound):
		s.fail(w, http.StatusNotFound, "no incident "+r.PathValue("id")+": /api/v1/incidents lists those of the last 7 days, with since=40d older ones")
	case err != nil:
		s.broken(w, r, err)
	default:
		s.object(w, r, explained(d))
	}
}

// unknown answers a path or a method that is not there.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	var paths, methods []string
	for _, rt := range s.routes() {
		method, p, _ := strings.Cut(rt.pattern, " ")
		if !strings.HasPrefix(p, "/api/") {
			continue
		}
		if !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
		if base, id, has := strings.Cut(p, "{"); p == r.URL.Path || has && id != "" && strings.HasPrefix(r.URL.Path, base) && r.URL.Path != base {
			methods = append(methods, method)
		}
	}
	if len(methods) > 0 {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		s.fail(w, http.StatusMethodNotAllowed, r.Method+" is not possible here: use "+strings.Join(methods, " or "))
		return
	}
	s.fail(w, http.StatusNotFound, "no "+r.URL.Path+" here: there are "+strings.Join(paths, ", "))
}
