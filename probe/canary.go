package probe

import (
	"time"

	"serin/probe/prompt"
	"serin/probe/secret"
)

// Size is the class of a canary prompt.
type Size string

// The sizes.
const (
	Short  Size = "short"
	Medium Size = "medium"
	Long   Size = "long"
)

// Sizes lists the sizes, shortest first.
func Sizes() []Size { return []Size{Short, Medium, Long} }

// Target is one model behind a provider, with the provider's and the defaults' values already merged in.
// The struct tags are the config keys.
type Target struct {
	Name        string            `koanf:"name"`
	Title       string            `koanf:"title"`
	Provider    string            `koanf:"provider"` // the unit of an outage; the target's own name where none is given
	Protocol    string            `koanf:"protocol"`
	BaseURL     string            `koanf:"base_url"`
	Model       string            `koanf:"model"`
	Labels      map[string]string `koanf:"labels"`
	APIKey      secret.Secret     `koanf:"-"`           // from api_key_env, api_key_file or api_key_credential
	Auth        string            `koanf:"auth"`        // "" = the protocol's own header, "bearer", "x-api-key", "api-key", "none"
	Headers     map[string]string `koanf:"headers"`     // sent as they are, after the protocol's own
	HeadersEnv  map[string]string `koanf:"headers_env"` // header name → environment variable with its value
	ExtraBody   map[string]any    `koanf:"extra_body"`  // merged into the request's JSON, last
	Proxy       string            `koanf:"proxy"`       // "" = from the environment, "none" = never, else a URL
	CAFile      string            `koanf:"ca_file"`     // PEM, added to the system's roots
	ClientCert  string            `koanf:"client_cert_file"`
	ClientKey   string            `koanf:"client_key_file"`
	Connection  string            `koanf:"connection"` // new, reuse
	MaxInFlight int               `koanf:"max_in_flight"`
	Cache       string            `koanf:"cache"` // bust, keep
	Reasoning   bool              `koanf:"reasoning"`

	ReasoningEffort string `koanf:"reasoning_effort"` // in the endpoint's own word; "" = not sent

	ContextLimit int `koanf:"context_limit"` // tokens, input and output; 0 = not known
	MaxTokens    int `koanf:"max_tokens"`    // output cap that overrides every size's; 0 = the size's

	ConnectTimeout    time.Duration `koanf:"connect_timeout"`
	FirstTokenTimeout time.Duration `koanf:"first_token_timeout"` // 0 = 30 s short, 60 s medium, 120 s long, 180 s reasoning
	StallTimeout      time.Duration `koanf:"stall_timeout"`
	TotalTimeout      time.Duration `koanf:"total_timeout"`
	Traceparent       bool          `koanf:"traceparent"`

	Prices []Price `koanf:"-"` // every [[price]] whose model glob matches, in the order of the file; see PriceAt
}

// DefaultTarget returns the defaults of every target.
func DefaultTarget() Target {
	return Target{Protocol: "openai-chat", Connection: "new", MaxInFlight: 4, Cache: "bust", ConnectTimeout: 10 * time.Second,
		StallTimeout: 60 * time.Second, TotalTimeout: 600 * time.Second}
}

// FirstToken returns the first-token timeout for one size, counted from t0.
func (t *Target) FirstToken(s Size) time.Duration {
	switch {
	case t.FirstTokenTimeout > 0:
		return t.FirstTokenTimeout
	case t.Reasoning:
		return 180 * time.Second
	case s == Long:
		return 120 * time.Second
	case s == Medium:
		return 60 * time.Second
	}
	return 30 * time.Second
}

// Price is in US dollars per million tokens; an unknown price is absent.
type Price struct {
	Model       string    `koanf:"model"` // glob
	From        time.Time `koanf:"from"`  // in force since; zero = always
	Input       Money     `koanf:"input"`
	CachedInput Money     `koanf:"cached_input"`
	CacheWrite  Money     `koanf:"cache_write"`
	Output      Money     `koanf:"output"`
}

// Scene is a business use: its own prompts, schedules, checks and baselines.
type Scene struct {
	Name     string         `koanf:"name"`
	Title    string         `koanf:"title"`
	Zone     *time.Location `koanf:"-"` // from timezone
	Language string         `koanf:"language"`
	Metrics  []Metric       `koanf:"metrics"`
	Runbook  string         `koanf:"runbook"`
}

// Canary is one (target, scene, size): what a schedule fires.
type Canary struct {
	Target *Target
	Scene  *Scene
	Size   Size

	InputTokens int             // aimed length of the prompt, tokens
	MaxTokens   int             // output cap, tokens
	Prompts     []prompt.Prompt // at least one; runs take them in turn
	Expect      *prompt.Expect  // nil = no answer check
	Interval    time.Duration   // the shortest gap between two runs of the schedule
	Region      string          // of this instance; part of the spec
}

// Key returns target/scene/size.
func (c *Canary) Key() string { return c.Target.Name + "/" + c.Scene.Name + "/" + string(c.Size) }
