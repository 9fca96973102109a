package app

import (
	"fmt"
	"strings"
	"time"

	"serin/cmd/internal/daemon"
	"serin/configs"
	"serin/probe"
	"serin/probe/secret"
)

// sayCost says on stderr what probing every canary costs, before it is done.
func (c *checkCmd) sayCost(o Options, runs []configs.Run) {
	in, out := 0, 0
	cost, unpriced := 0.0, 0
	for _, r := range runs {
		x := r.Canary
		in += c.N * x.InputTokens
		most := x.MaxTokens
		if x.Target.MaxTokens > 0 {
			most = x.Target.MaxTokens
		}
		out += c.N * most
		p := x.Target.PriceAt(time.Now())
		if p == nil || !p.Input.Known || !p.Output.Known {
			unpriced++
			continue
		}
		cost += float64(c.N) * (float64(x.InputTokens)*p.Input.V + float64(most)*p.Output.V) / 1e6
	}
	_, _ = fmt.Fprintf(o.Stderr, "%d probes, about %d input tokens, at most %d output tokens", c.N*len(runs), in, out)
	if unpriced < len(runs) {
		_, _ = fmt.Fprintf(o.Stderr, ", at most %.4f USD", cost)
	}
	if unpriced > 0 {
		_, _ = fmt.Fprintf(o.Stderr, " (%d canaries without a price)", unpriced)
	}
	_, _ = fmt.Fprintln(o.Stderr)
}

// curl prints the requests for curl, with the key as a variable.
func (c *checkCmd) curl(o Options, runs []configs.Run, redactor *secret.Redactor) error {
	p := probe.New(probe.Options{Version: daemon.Version, Redactor: redactor})
	defer p.Close()
	for _, r := range runs {
		name := c.APIKeyEnv
		if name == "" {
			name = keyVariable(r.Canary.Target.APIKey.Label())
		}
		req, err := p.Render(r.Canary, "$"+name)
		if err != nil {
			return fail(ExitUsage, err)
		}
		_, _ = fmt.Fprintf(o.Stdout, "# %s\ncurl -sN -X %s '%s'", r.Canary.Key(), req.Method, shellQuoted(req.URL))
		for _, h := range req.Header {
			_, _ = fmt.Fprintf(o.Stdout, " \\\n  -H %s", doubleQuoted(h[0]+": "+h[1]))
		}
		_, _ = fmt.Fprintf(o.Stdout, " \\\n  --data-binary '%s'\n", shellQuoted(string(req.Body)))
	}
	return nil
}

// keyVariable returns the environment variable that a secret's label names, API_KEY where it comes from elsewhere.
func keyVariable(label string) string {
	if name, ok := strings.CutPrefix(label, "environment variable "); ok {
		return name
	}
	return "API_KEY"
}

// shellQuoted escapes s for the inside of single quotes.
func shellQuoted(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }

// doubleQuoted quotes s so that only $VAR is expanded.
func doubleQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`").Replace(s) + `"`
}
