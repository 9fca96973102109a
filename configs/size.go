package configs

import (
	"fmt"
	"time"

	"serin/probe"
	"serin/probe/prompt"
	"serin/probe/schedule"
)

// Output caps, tokens. The built-in prompts ask for an answer of 130 to 250 tokens; a reasoning model thinks within the
// cap as well.
const (
	defaultCap          = 512
	defaultReasoningCap = 4096
	leastReasoningCap   = 1024 // below, thinking eats the cap and the answer is empty
	leastTPOTCap        = 128  // below, the first chunk weighs too much in the time per output token
)

// sizing is one size of one scene, before it meets a target.
type sizing struct {
	size    probe.Size
	from    section // short, medium or long
	cronAt  place
	keys    sizeKeys
	timing  timing
	spread  time.Duration
	prompts []prompt.Prompt
	tokens  int
	expect  *prompt.Expect
}

func (l *loader) resolveSizes(sc *scene, named bool) {
	any := false
	for _, size := range probe.Sizes() {
		if sc.own.tree.kids[string(size)] != nil {
			any = true
		}
		if !sc.own.has(string(size)) {
			continue
		}
		z, ok := l.resolveSize(sc, size)
		if !ok || !named {
			continue
		}
		l.checkRuleAt(sc.ruled, sc.rule, z.cronAt, sc.own.key(string(size)), z.timing.interval)
		for _, t := range sc.targets {
			l.addRun(sc, t, z)
		}
	}
	if !any {
		l.rep.fail(sc.own.at("short"), sc.own.path, "has no schedule", `give short, medium or long a cron: short = "*/5 * * * *"`)
	}
}

func (l *loader) resolveSize(sc *scene, size probe.Size) (*sizing, bool) {
	z := &sizing{size: size, from: sc.own.below(string(size))}
	z.cronAt = sc.own.at(string(size))
	if z.from.tree != nil {
		z.cronAt = z.from.at("schedule")
	}
	l.decode(layers{z.from}, &z.keys)
	var ok bool
	z.timing, ok = l.timing(sc, z)
	if ok {
		z.spread = l.spread(z)
	}
	ok = l.prompts(sc, z) && ok
	l.expectation(z)
	if z.from.has("max_tokens") && z.keys.MaxTokens < 1 {
		l.rep.fail(z.from.at("max_tokens"), z.from.key("max_tokens"), fmt.Sprintf("is %d", z.keys.MaxTokens), "write 1 or more, or remove it for the default of 512 (reasoning: 4096)")
		ok = false
	}
	return z, ok
}

// spread returns the bound of the deterministic delay: the shorter of the interval and 5 minutes unless set.
func (l *loader) spread(z *sizing) time.Duration {
	bound := min(z.timing.interval, schedule.DefaultSpread)
	if z.keys.Spread == nil {
		return bound
	}
	d := *z.keys.Spread
	if d < 0 || d > bound {
		l.rep.fail(z.from.at("spread"), z.from.key("spread"), fmt.Sprintf("%s is not from 0s to %s, the shorter of the interval and 5m", formatDuration(d), formatDuration(bound)), `write "0s" for none, or remove it`)
		return bound
	}
	return d
}

// prompts sets the prompts and the input tokens of a size.
func (l *loader) prompts(sc *scene, z *sizing) bool {
	if len(z.keys.Prompts) > 0 {
		return l.ownPrompts(sc, z)
	}
	z.tokens = z.keys.InputTokens
	if !z.from.has("input_tokens") {
		z.tokens, _ = prompt.DefaultTokens(string(z.size)) // the three sizes are known
	}
	list, err := prompt.Builtin(sc.Language, z.tokens, string(z.size))
	if err != nil {
		if sc.Language == prompt.English || sc.Language == prompt.Chinese { // another language is reported
			l.rep.fail(z.from.at("input_tokens"), z.from.key("input_tokens"), fmt.Sprintf("is %d", z.tokens), fmt.Sprintf("write %d to %d", prompt.MinInputTokens, prompt.MaxInputTokens))
		}
		return false
	}
	z.prompts = list
	return true
}

func (l *loader) ownPrompts(sc *scene, z *sizing) bool {
	at, key := z.from.at("prompts"), z.from.key("prompts")
	if z.from.has("input_tokens") {
		l.rep.warn(z.from.at("input_tokens"), z.from.key("input_tokens"), "has no effect beside own prompts", "remove it")
	}
	least := 0
	for _, name := range z.keys.Prompts {
		p, err := prompt.FromFile(l.near(at, name))
		if err != nil {
			l.rep.fail(at, key, err.Error(), "name plain-text files, relative to the config file")
			continue
		}
		n := prompt.Estimate(p.Text(), sc.Language)
		z.tokens = max(z.tokens, n)
		if least == 0 || n < least {
			least = n
		}
		z.prompts = append(z.prompts, p)
	}
	if least > 0 && float64(z.tokens) > 1.1*float64(least) {
		l.rep.warn(at, key, fmt.Sprintf("differ in length (about %d to %d tokens), which widens the band", least, z.tokens), "make the prompts of one size equally long")
	}
	return len(z.prompts) == len(z.keys.Prompts)
}

func (l *loader) expectation(z *sizing) {
	if !z.from.has("expect") {
		return
	}
	e := &z.keys.Expect
	if err := e.Compile(); err != nil {
		l.rep.fail(z.from.at("expect"), z.from.key("expect"), err.Error(), `write { contains = "…" }, { regex = "…" }, { json_field = "a.b[0]" }, { max_length = 800 } or { language = "en" }`)
		return
	}
	z.expect = e
}

// addRun makes the canary of a scene, a target and a size.
func (l *loader) addRun(sc *scene, t *target, z *sizing) {
	c := &probe.Canary{Target: t.Target, Scene: sc.Scene, Size: z.size, InputTokens: z.tokens, MaxTokens: outputCap(t.Target, z),
		Prompts: z.prompts, Expect: z.expect, Interval: z.timing.interval, Region: l.cfg.Instance.Region}
	l.checkCap(sc, t, z, c)
	e := schedule.Entry{Key: c.Key(), Schedule: z.timing.schedule, Spread: z.spread,
		Lanes: []schedule.Lane{{Name: "target/" + t.Name, Max: t.MaxInFlight}}}
	if t.lanes > 0 {
		e.Lanes = append(e.Lanes, schedule.Lane{Name: "provider/" + t.Provider, Max: t.lanes})
	}
	l.cfg.Runs = append(l.cfg.Runs, Run{Canary: c, Spec: probe.Spec(c), Entry: e, Cron: z.keys.Schedule, Rule: sc.rule})
}

// outputCap returns the cap of one canary: the target's, the size's, or the default.
func outputCap(t *probe.Target, z *sizing) int {
	switch {
	case t.MaxTokens > 0:
		return t.MaxTokens
	case z.keys.MaxTokens > 0:
		return z.keys.MaxTokens
	case t.Reasoning:
		return defaultReasoningCap
	}
	return defaultCap
}

// checkCap checks the output cap of a canary, and that prompt and answer fit the model.
func (l *loader) checkCap(sc *scene, t *target, z *sizing, c *probe.Canary) {
	at, key := z.from.at("max_tokens"), z.from.key("max_tokens")
	if z.from.tree == nil {
		at, key = sc.own.at(string(z.size)), sc.own.key(string(z.size))
	}
	if t.from.has("max_tokens") {
		at, key = t.from.at("max_tokens")
	}
	switch {
	case t.Reasoning && c.MaxTokens < leastReasoningCap:
		l.rep.fail(at, key, fmt.Sprintf("caps the answer of %s, a reasoning model, at %d tokens: thinking may eat all of it", t.Name, c.MaxTokens), "allow 2048 or more, or remove max_tokens")
	case t.Reasoning && c.MaxTokens < 2*leastReasoningCap:
		l.rep.warn(at, key, fmt.Sprintf("caps the answer of %s, a reasoning model, at %d tokens: thinking may eat all of it", t.Name, c.MaxTokens), "allow 2048 or more, or remove max_tokens")
	case c.MaxTokens < leastTPOTCap && hasMetric(sc.Scene, probe.TPOT):
		l.rep.warn(at, key, fmt.Sprintf("is %d: an answer this short gives no good time per output token", c.MaxTokens), `allow 128 or more, or set metrics = ["ttft"]`)
	}
	if t.ContextLimit > 0 && c.InputTokens+c.MaxTokens > t.ContextLimit {
		l.rep.fail(z.cronAt, z.from.path, fmt.Sprintf("does not fit %s: about %d input tokens and %d of answer, the context limit is %d", t.Name, c.InputTokens, c.MaxTokens, t.ContextLimit),
			"lower input_tokens or max_tokens, or raise context_limit")
	}
}

func hasMetric(s *probe.Scene, m probe.Metric) bool {
	for _, have := range s.Metrics {
		if have == m {
			return true
		}
	}
	return false
}
