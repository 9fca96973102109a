package configs

import (
	"fmt"
	"strings"
	"time"

	"serin/alert"
	"serin/probe"
)

// Presets lists the values of a rule's preset, the default first.
func Presets() []string { return []string{"balanced", "sharp", "literal"} }

// Preset returns the rule of a preset; ok is false where there is none of that name. Sharp is balanced that fires when the last checks fit a step up of the level far better than what the level does
// by itself, with up to 9 re-probes. Literal is the plain sentence: every value above mean + 2 sd of its slot alerts, the first that is not
// resolves; no re-probes, votes, floor or exclusion.
func Preset(name string) (rule alert.Rule, ok bool) {
	r := alert.DefaultRule()
	r.Preset = name
	switch name {
	case "balanced":
	case "sharp":
		r.Reprobes, r.Threshold.Sharp = 9, true
	case "literal":
		r.Threshold.Literal, r.Kappa, r.MinRatio, r.OffsetCap, r.ResolveRatio = true, 1, 1, 1, 1
		r.M, r.N, r.Reprobes, r.ResolveN, r.ResolveFor = 1, 1, 0, 1, 0
		r.ExcludeAfter, r.ExcludeFor, r.Corroborate = 0, 0, false
	default:
		return alert.Rule{}, false
	}
	return r, true
}

// SetRule changes keys of a rule as [rule] would: each setting is "key=value", with dots into tables
// ("ttft_limit.short.warning=3s"). preset=… is applied first. It returns the rule and every mistake.
func SetRule(base alert.Rule, settings ...string) (alert.Rule, []Problem) {
	rep := &report{}
	t := newTable(place{})
	for _, s := range settings {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			rep.fail(place{}, s, "is not key=value", "write for example sigma=2.5")
			continue
		}
		plantSetting(t, strings.TrimSpace(key), strings.TrimSpace(value), rep)
	}
	l := &loader{rep: rep, cfg: &Config{}}
	sec := checkTable(t, ruleSpec(), "rule", rep)
	rule := l.mergeRule(layers{sec}, base)
	l.checkRule(layers{sec}, rule)
	return rule, rep.sorted()
}

// plantSetting reads a value by the kind that its key wants.
func plantSetting(t *table, path, value string, rep *report) {
	parts := strings.Split(path, ".")
	s := ruleSpec()
	for _, p := range parts[:len(parts)-1] {
		sub := s.keys[p]
		if sub == nil || sub.keys == nil {
			rep.fail(place{}, path, "is not a key of [rule]", nearestFix(p, s.names()))
			return
		}
		s = sub
		next := t.kids[p]
		if next == nil {
			next = &node{val: newTable(place{})}
			t.set(p, next)
		}
		t, _ = next.val.(*table) // only tables are planted on the way
	}
	last := parts[len(parts)-1]
	var v any = value
	if key := s.keys[last]; key != nil {
		if typed, ok := overrideValue(value, key.kind); ok {
			v = typed
		}
	}
	t.set(last, &node{val: v})
}

// mergeRule applies the sections over their preset, or over base where they name none.
func (l *loader) mergeRule(from layers, base alert.Rule) alert.Rule {
	rule := base
	for i := len(from) - 1; i >= 0; i-- {
		name, ok := from[i].values["preset"].(string)
		if !ok {
			continue
		}
		if name == "quiet" {
			at, key := from[i:].at("preset")
			l.rep.fail(at, key, `"quiet" was removed: it measured the same as "balanced"`, `remove it, or write preset = "balanced" with the numbers of quiet: kappa = 1.5 and reprobes = 4`)
			continue
		}
		l.oneOf(from[i:], "preset", name, Presets()...)
		if preset, known := Preset(name); known {
			rule = preset
		}
	}
	preset := rule.Preset
	rule.TTFTLimit, rule.TPOTLimit = cloneLimits(rule.TTFTLimit), cloneLimits(rule.TPOTLimit)
	l.decode(from, &rule)
	rule.Preset = preset
	return rule
}

func cloneLimits(m map[probe.Size]alert.Limit) map[probe.Size]alert.Limit {
	if m == nil {
		return nil
	}
	out := make(map[probe.Size]alert.Limit, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// resolveRule returns the rule of a scene: preset ← [rule] ← [scene.rule].
func (l *loader) resolveRule(own section) (alert.Rule, layers) {
	from := layers{own, l.rules}
	rule := l.mergeRule(from, alert.DefaultRule())
	l.checkRule(from, rule)
	return rule, from
}

func (l *loader) checkRule(from layers, r alert.Rule) {
	bad := func(key string, wrong bool, what, fix string) {
		if wrong {
			at, name := from.at(key)
			l.rep.fail(at, name, what, fix)
		}
	}
	bad("sigma", r.Sigma <= 0 || r.Sigma > 100, fmt.Sprintf("is %v: no limit comes of it", r.Sigma), "write a number above 0 (default 2)")
	bad("kappa", r.Kappa <= 0 || r.Kappa > 100, fmt.Sprintf("is %v: no limit comes of it", r.Kappa), "write a number above 0 (default 1.375)")
	bad("min_ratio", r.MinRatio < 1, fmt.Sprintf("is %v: faster than usual would alert", r.MinRatio), "write 1 or more (default 1.25)")
	bad("offset_cap", r.OffsetCap < 1, fmt.Sprintf("is %v, below 1", r.OffsetCap), "write 1 (no correction) or more (default 1.15)")
	bad("resolve_ratio", r.ResolveRatio < 1, fmt.Sprintf("is %v: only faster than usual would resolve", r.ResolveRatio), "write 1 or more (default 1.12)")
	bad("resolve_ratio", r.ResolveRatio > r.MinRatio && r.MinRatio >= 1 && !r.Literal(), fmt.Sprintf("is above min_ratio (%v): a value could breach and be calm", r.MinRatio), "write less than min_ratio")
	bad("m", r.M < 1, fmt.Sprintf("is %d: nothing would be asked for", r.M), "write 1 or more (default 4)")
	bad("n", r.N < 1 || r.N > 1000, fmt.Sprintf("is %d", r.N), "write 1 to 1000 (default 5)")
	bad("m", r.M > r.N && r.N >= 1, fmt.Sprintf("is %d of n = %d: it can never fire", r.M, r.N), "write at most n")
	bad("reprobes", r.Reprobes < 0 || r.Reprobes > 20, fmt.Sprintf("is %d", r.Reprobes), "write 0 to 20 (default 3)")
	bad("reprobe_every", r.ReprobeEvery <= 0, "must be above 0", `write "30s"`)
	bad("resolve_n", r.ResolveN < 1, fmt.Sprintf("is %d: it would resolve at once", r.ResolveN), "write 1 or more (default 3)")
	bad("window", r.Window <= 0, "must be above 0", `write "60m"`)
	if r.Reprobes > 0 && r.ReprobeEvery > 0 && r.Window > 0 {
		need := time.Duration(min(r.M-1, r.Reprobes)) * r.ReprobeEvery
		bad("window", r.Window < need, fmt.Sprintf("%q is shorter than the re-probes take (%s)", formatDuration(r.Window), formatDuration(need)), `write "60m"`)
	}
	for key, d := range map[string]time.Duration{"min_abs": r.MinAbs, "resolve_for": r.ResolveFor, "exclude_after": r.ExcludeAfter,
		"exclude_for": r.ExcludeFor} {
		l.notNegative(from, key, d)
	}
	l.checkLimits(from, "ttft_limit", r.TTFTLimit)
	l.checkLimits(from, "tpot_limit", r.TPOTLimit)
}

func (l *loader) checkLimits(from layers, key string, limits map[probe.Size]alert.Limit) {
	at, name := from.at(key)
	for _, size := range probe.Sizes() {
		v, ok := limits[size]
		path := name + "." + string(size)
		switch {
		case !ok:
		case v.Warning < 0 || v.Critical < 0:
			l.rep.fail(at, path, "is negative", `write a duration such as "3s"`)
		case v.Warning > 0 && v.Critical > 0 && v.Critical < v.Warning:
			l.rep.fail(at, path, "is critical below its warning", "write a critical limit at or above the warning limit")
		}
	}
}

// checkRuleAt holds a scene's rule against the interval of one of its schedules.
func (l *loader) checkRuleAt(from layers, r alert.Rule, at place, key string, interval time.Duration) {
	if interval > 15*time.Minute && r.Reprobes == 0 && !r.Literal() {
		l.rep.warn(at, key, fmt.Sprintf("runs every %s, and re-probes are off: an alert would take %d runs", formatDuration(interval), r.M), "set reprobes = 3 in [rule]")
	}
	reach := max(r.Window, 6*interval)
	if need := time.Duration(r.M-1) * interval; r.Reprobes == 0 && need > reach && r.M <= r.N {
		wat, name := from.at("window")
		l.rep.fail(wat, name, fmt.Sprintf("%q holds fewer than m = %d runs of %s, so it can never fire", formatDuration(r.Window), r.M, key), fmt.Sprintf("write at least %q", formatDuration(need)))
	}
}
