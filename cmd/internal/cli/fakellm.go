package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"serin/probe/fakellm"
)

type fakeLLMCmd struct {
	Listen       string        `default:"127.0.0.1:8000" help:"Address to listen on."`
	Model        []string      `placeholder:"NAME" help:"Models to serve (repeatable); others get 404. Default: every name."`
	Key          string        `env:"FAKE_LLM_KEY" placeholder:"KEY" help:"Key that callers must show. Default: none."`
	TTFT         time.Duration `name:"ttft" default:"200ms" help:"Time to first token of an empty prompt."`
	PerToken     time.Duration `default:"50us" help:"Prefill time for each input token, added to the TTFT."`
	TPOT         time.Duration `name:"tpot" default:"20ms" help:"Time per output token."`
	Jitter       float64       `default:"0.05" help:"Sigma of the lognormal factor on TTFT and on every gap."`
	OutputTokens int           `default:"160" help:"Tokens of an answer."`
	Fault        []string      `placeholder:"SPEC" help:"What goes wrong (repeatable): slow-ttft=3 slow-tpot=2 status=503 rate-limit=30s hang stall=10 cut=10 reset=10 buffer html empty error=10 reasoning=50 max-in-flight=2; rate=0.1 or every=5 say how often."`
	Seed         uint64        `default:"1" help:"Seed of all randomness."`
}

// Help shows an example.
func (fakeLLMCmd) Help() string {
	return "Example: serin fake-llm --ttft 300ms --tpot 25ms --fault status=503,rate=0.1\n\nSpeaks OpenAI chat completions (/v1/chat/completions) and Responses (/v1/responses), Anthropic Messages (/v1/messages), Gemini (/v1beta/models/…), Ollama (/api/chat), Azure OpenAI (/openai/…) and their lists of models."
}

// Run serves until a signal ends it.
func (c *fakeLLMCmd) Run(ctx context.Context, o Options) error {
	b := fakellm.Behaviour{TTFT: c.TTFT, PerInputToken: c.PerToken, TPOT: c.TPOT, Jitter: c.Jitter, OutputTokens: c.OutputTokens}
	if err := fakellm.ParseFaults(&b, c.Fault...); err != nil {
		return fail(ExitUsage, fmt.Errorf("--fault: %w", err))
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("--listen %s: %w", c.Listen, err))
	}
	srv := &http.Server{Handler: fakellm.New(fakellm.Options{Models: c.Model, Key: c.Key, Default: b, Seed: c.Seed, Keep: -1}), ReadHeaderTimeout: 10 * time.Second}
	_, _ = fmt.Fprintf(o.Stderr, "fake LLM on http://%s/v1 (OpenAI) and http://%s (Anthropic, Gemini, Ollama, Azure); Ctrl-C ends it\n", l.Addr(), l.Addr())
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() }) // its answers are worth nothing
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
