package cli

import (
	"fmt"
	"strings"
	"time"

	"errors"
	"regexp"
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

// mistake returns what is wrong in the flags by themselves; nil when nothing is.
func (c *checkCmd) mistake() error {
	if c.N < 1 || c.N > 10_000 {
		return fmt.Errorf("-n is %d, it must lie between 1 and 10000", c.N)
	}
	if c.Config != "" && (c.BaseURL != "" || c.Model != "") {
		return errors.New("-c and --base-url (or --model) exclude each other: give -c to check what a config names, --base-url and --model for an endpoint without one")
	}
	if c.MaxTokens != nil && *c.MaxTokens < 1 {
		return fmt.Errorf("--max-tokens is %d, it must be 1 or more", *c.MaxTokens)
	}
	for _, f := range []struct {
		name string
		d    *time.Duration
	}{{"--first-token-timeout", c.FirstTokenTimeout}, {"--stall-timeout", c.StallTimeout}, {"--total-timeout", c.TotalTimeout}} {
		if f.d != nil && *f.d <= 0 {
			return fmt.Errorf("%s is %s, it must be longer than nothing, such as 30s", f.name, *f.d)
		}
	}
	return nil
}

// flagError is configs.AsError for a config that was made of flags: it speaks of them, not of keys and lines.
func flagError(problems []configs.Problem) error {
	if !configs.HasErrors(problems) {
		return nil
	}
	var lines []string
	for _, p := range problems {
		if p.Severity != configs.Error {
			continue
		}
		key := p.Key[strings.LastIndexByte(p.Key, '.')+1:]
		text := p.What
		if p.Fix != "" {
			text += "; " + p.Fix
		}
		lines = append(lines, flagOf(key)+" "+asFlags(text))
	}
	return errors.New(strings.Join(lines, "\n"))
}

func flagOf(key string) string { return "--" + strings.ReplaceAll(key, "_", "-") }

// asFlags writes the keys that are flags of check as those.
func asFlags(text string) string {
	keys := regexp.MustCompile(`\b(base_url|model|protocol|api_key_env)( = )`)
	text = keys.ReplaceAllStringFunc(text, func(m string) string { return flagOf(strings.TrimSuffix(m, " = ")) + " " })
	return regexp.MustCompile(`\b(base_url|api_key_env)\b`).ReplaceAllStringFunc(text, flagOf)
}
