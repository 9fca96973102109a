package fakellm

import (
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options are a Server's fixed settings.
type Options struct {
	Models  []string  // what /v1/models lists; other names get 404; none = every name is served, and "fake" listed
	Key     string    // required as Bearer, x-api-key, api-key or x-goog-api-key; "" = no check
	Default Behaviour // of models that Set was not called for
	Seed    uint64    // of all randomness: same seed, same order of requests, same answers and timing
	Keep    int       // how many requests Records remembers; 0 = 256, negative = none
}

// Server is the fake. It is an http.Handler; run it with an http.Server on any listener. Make one with New.
type Server struct {
	options Options

	mu         sync.Mutex
	behaviours map[string]Behaviour
	perModel   map[string]int // requests so far
	inFlight   map[string]int // by model
	requests   int
	kept       []*exchange
}

var _ http.Handler = (*Server)(nil)

// New returns a Server.
func New(o Options) *Server {
	if o.Keep == 0 {
		o.Keep = defaultKeep
	}
	return &Server{options: o, behaviours: map[string]Behaviour{}, perModel: map[string]int{}, inFlight: map[string]int{}}
}

// Set changes how a model answers, from its next request on; "" is every model without a behaviour of its own.
func (s *Server) Set(model string, b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if model == "" {
		s.options.Default = b
		return
	}
	s.behaviours[model] = b
}

// Behaviour returns how a model answers now.
func (s *Server) Behaviour(model string) Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.behaviours[model]; ok {
		return b
	}
	return s.options.Default
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.arrive(w, r)
	defer func() { x.w, x.r = nil, nil }() // what is remembered must not keep the connection's buffers
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		x.refuse(http.StatusRequestEntityTooLarge, "request_too_large", "request body cannot be read: "+err.Error())
		return
	}
	x.asked(body, nil)
	switch {
	case !s.authorised(r):
		x.refuse(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
	case r.URL.Path == "/v1/models" || strings.HasPrefix(r.URL.Path, "/v1/models/"):
		s.serveModels(x)
	case r.URL.Path == "/v1beta/models":
		x.send(http.StatusOK, "application/json", geminiModels(s.models()), WroteOther)
	case r.URL.Path == "/api/tags":
		x.send(http.StatusOK, "application/json", ollamaModels(s.models()), WroteOther)
	case x.d == nil:
		x.refuse(http.StatusNotFound, "not_found", "Invalid URL ("+r.Method+" "+r.URL.Path+")")
	case r.Method != http.MethodPost:
		x.refuse(http.StatusMethodNotAllowed, "method_not_allowed", "Use POST.")
	default:
		s.serveAnswer(x, body)
	}
}

func (s *Server) arrive(w http.ResponseWriter, r *http.Request) *exchange {
	now := time.Now()
	x := &exchange{w: w, r: r, d: dialectOf(r.URL), arrived: now,
		record: Record{Arrived: now, Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone()}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.options.Keep > 0 {
		if len(s.kept) >= s.options.Keep {
			s.kept = slices.Delete(s.kept, 0, len(s.kept)-s.options.Keep+1)
		}
		s.kept = append(s.kept, x)
	}
	return x
}

func (s *Server) authorised(r *http.Request) bool {
	key := s.options.Key
	if key == "" || r.Header.Get("Authorization") == "Bearer "+key {
		return true
	}
	for _, name := range []string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		if r.Header.Get(name) == key {
			return true
		}
	}
	return false
}

// models lists the names served.
func (s *Server) models() []string {
	if len(s.options.Models) > 0 {
		return s.options.Models
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.behaviours) == 0 {
		return []string{"fake"}
	}
	return slices.Sorted(maps.Keys(s.behaviours))
}

// begin counts a request of model and returns its behaviour, with the fault only where it hits, and its randomness.
func (s *Server) begin(model string) (b Behaviour, r *rand.Rand, nth int) {
	b = s.Behaviour(model)
	s.mu.Lock()
	s.perModel[model]++
	nth = s.perModel[model]
	s.mu.Unlock()
	var name uint64
	for _, c := range []byte(model) {
		name = name*31 + uint64(c)
	}
	r = rand.New(rand.NewPCG(s.options.Seed^name, uint64(nth)))
	hit := b.Fault.Rate == 0 || r.Float64() < b.Fault.Rate
	if !hit || (b.Fault.Every > 0 && nth%b.Fault.Every != 0) {
		b.Fault = Fault{}
	}
	return b, r, nth
}

func (s *Server) serves(model string) bool {
	return len(s.options.Models) == 0 || slices.Contains(s.options.Models, model)
}

// enter takes one of most places of model (0 = no bound); leave gives it back.
func (s *Server) enter(model string, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if most > 0 && s.inFlight[model] >= most {
		return false
	}
	s.inFlight[model]++
	return true
}

func (s *Server) leave(model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight[model]--
}
