package configs

import (
	"fmt"
	"slices"
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
	sizeKeys
	size    probe.Size
	from    section // short, medium or long
	timing  timing
	spread  time.Duration
	prompts []prompt.Prompt
	tokens  int
	expect  *prompt.Expect
}

// cronKey returns the key of the schedule below from: "" where the size is a cron alone.
func (z *sizing) cronKey() string {
	if _, alone := z.from.l.value(z.from.path).(string); alone {
		return ""
	}
	return "schedule"
}

func (l *loader) resolveSizes(sc *scene, k sceneKeys, named bool) {
	any := false
	for size, keys := range map[probe.Size]*sizeKeys{probe.Short: k.Short, probe.Medium: k.Medium, probe.Long: k.Long} {
		any = any || sc.given(string(size))
		if keys == nil || sc.wrong(string(size)) {
			continue
		}
		z, ok := l.resolveSize(sc, size, *keys)
		if !ok || !named {
			continue
		}
		sc.checkInterval(z)
		for _, t := range sc.targets {
			l.addRun(sc, t, z)
		}
	}
	if !any {
		sc.fail("", "has no schedule", `give short, medium or long a cron: short = "*/5 * * * *"`)
	}
}

func (l *loader) resolveSize(sc *scene, size probe.Size, k sizeKeys) (*sizing, bool) {
	z := &sizing{sizeKeys: k, size: size, from: sc.below(string(size))}
	var ok bool
	z.timing, ok = l.timing(sc, z)
	if ok {
		z.spread = z.bound()
	}
	ok = l.resolvePrompts(sc, z) && ok
	if z.from.has("expect") {
		z.expect = &z.Expect
		if err := z.expect.Compile(); err != nil {
			z.from.fail("expect", err.Error(), `write { contains = "…" }, { regex = "…" }, { json_field = "a.b[0]" }, { max_length = 800 } or { language = "en" }`)
		}
	}
	if z.from.has("max_tokens") && z.MaxTokens < 1 {
		z.from.fail("max_tokens", fmt.Sprintf("is %d", z.MaxTokens), "write 1 or more, or remove it for the default of 512 (reasoning: 4096)")
		ok = false
	}
	return z, ok
}

// bound returns the bound of the deterministic delay: the shorter of the interval and 5 minutes unless set.
func (z *sizing) bound() time.Duration {
	bound := min(z.timing.interval, schedule.DefaultSpread)
	if z.Spread == nil {
		return bound
	}
	if d := *z.Spread; d < 0 || d > bound {
		z.from.fail("spread", fmt.Sprintf("%s is not from 0s to %s, the shorter of the interval and 5m", formatDuration(d), formatDuration(bound)), `write "0s" for none, or remove it`)
		return bound
	}
	return *z.Spread
}

// resolvePrompts sets the prompts and the input tokens of a size.
func (l *loader) resolvePrompts(sc *scene, z *sizing) bool {
	if len(z.Prompts) > 0 {
		return l.ownPrompts(sc, z)
	}
	z.tokens = z.InputTokens
	if !z.from.has("input_tokens") {
		z.tokens, _ = prompt.DefaultTokens(string(z.size)) // the three sizes are known
	}
	list, err := prompt.Builtin(sc.Language, z.tokens, string(z.size))
	if err != nil && (sc.Language == prompt.English || sc.Language == prompt.Chinese) { // another language is reported
		z.from.fail("input_tokens", fmt.Sprintf("is %d", z.tokens), fmt.Sprintf("write %d to %d", prompt.MinInputTokens, prompt.MaxInputTokens))
	}
	z.prompts = list
	return err == nil
}

func (l *loader) ownPrompts(sc *scene, z *sizing) bool {
	if z.from.has("input_tokens") {
		z.from.warn("input_tokens", "has no effect beside own prompts", "remove it")
	}
	least := 0
	for _, name := range z.Prompts {
		p, err := prompt.FromFile(z.from.near("prompts", name))
		if err != nil {
			z.from.fail("prompts", err.Error(), "name plain-text files, relative to the config file")
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
		z.from.warn("prompts", fmt.Sprintf("differ in length (about %d to %d tokens), which widens the band", least, z.tokens), "make the prompts of one size equally long")
	}
	return len(z.prompts) == len(z.Prompts)
}

// addRun makes the canary of a scene, a target and a size.
func (l *loader) addRun(sc *scene, t *target, z *sizing) {
	c := &probe.Canary{Target: t.Target, Scene: sc.Scene, Size: z.size, InputTokens: z.tokens, MaxTokens: outputCap(t.Target, z),
		Prompts: z.prompts, Expect: z.expect, Interval: z.timing.interval, Region: l.cfg.Instance.Region}
	sc.checkCap(t, z, c)
	e := schedule.Entry{Key: c.Key(), Schedule: z.timing.schedule, Spread: z.spread,
		Lanes: []schedule.Lane{{Name: "target/" + t.Name, Max: t.MaxInFlight}}}
	if t.lanes > 0 {
		e.Lanes = append(e.Lanes, schedule.Lane{Name: "provider/" + t.Provider, Max: t.lanes})
	}
	l.cfg.Runs = append(l.cfg.Runs, Run{Canary: c, Spec: probe.Spec(c), Entry: e, Cron: z.Schedule, Rule: sc.rule})
}

// outputCap returns the cap of one canary: the target's, the size's, or the default.
func outputCap(t *probe.Target, z *sizing) int {
	switch {
	case t.MaxTokens > 0:
		return t.MaxTokens
	case z.MaxTokens > 0:
		return z.MaxTokens
	case t.Reasoning:
		return defaultReasoningCap
	}
	return defaultCap
}

// checkCap checks the output cap of a canary, and that prompt and answer fit the model.
func (sc *scene) checkCap(t *target, z *sizing, c *probe.Canary) {
	at := z.from
	if t.has("max_tokens") {
		at = t.section
	}
	eaten := fmt.Sprintf("caps the answer of %s, a reasoning model, at %d tokens: thinking may eat all of it", t.Name, c.MaxTokens)
	const more = "allow 2048 or more, or remove max_tokens"
	switch {
	case t.Reasoning && c.MaxTokens < leastReasoningCap:
		at.fail("max_tokens", eaten, more)
	case t.Reasoning && c.MaxTokens < 2*leastReasoningCap:
		at.warn("max_tokens", eaten, more)
	case c.MaxTokens < leastTPOTCap && slices.Contains(sc.Metrics, probe.TPOT):
		at.warn("max_tokens", fmt.Sprintf("is %d: an answer this short gives no good time per output token", c.MaxTokens), `allow 128 or more, or set metrics = ["ttft"]`)
	}
	if t.ContextLimit > 0 && c.InputTokens+c.MaxTokens > t.ContextLimit {
		z.from.fail("", fmt.Sprintf("does not fit %s: about %d input tokens and %d of answer, the context limit is %d", t.Name, c.InputTokens, c.MaxTokens, t.ContextLimit),
			"lower input_tokens or max_tokens, or raise context_limit")
	}
}
