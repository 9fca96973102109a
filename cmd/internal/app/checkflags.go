package app

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"serin/configs"
)

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
