package configs

import (
	"fmt"
	"maps"
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
	doc, s := newDocument(&report{}), schema()
	for _, setting := range settings {
		key, value, ok := strings.Cut(setting, "=")
		if !ok {
			doc.rep.fail(place{}, setting, "is not key=value", "write for example sigma=2.5")
			continue
		}
		path := "rule." + strings.TrimSpace(key)
		var v any = strings.TrimSpace(value)
		if key := s.find(path); key != nil {
			if t, ok := typed(strings.TrimSpace(value), key.kind); ok {
				v = t
			}
		}
		doc.set("", v, strings.Split(path, ".")...)
	}
	l := newLoader(doc, Options{})
	base.TTFTLimit, base.TPOTLimit = maps.Clone(base.TTFTLimit), maps.Clone(base.TPOTLimit)
	l.unmarshal(base)
	l.checkRule(l.table("rule"), l.file.Rule)
	return l.file.Rule, doc.rep.sorted()
}

// preset returns the rule that a table's preset names; base where it names none, or one that there is not.
func (l *loader) preset(s section, base alert.Rule) alert.Rule {
	name, ok := l.value(join(s.path, "preset")).(string)
	if rule, known := Preset(name); known {
		return rule
	}
	switch {
	case name == "quiet":
		s.fail("preset", `"quiet" was removed: it measured the same as "balanced"`, `remove it, or write preset = "balanced" with the numbers of quiet: kappa = 1.5 and reprobes = 4`)
	case ok:
		s.oneOf("preset", name, Presets()...)
	}
	return base
}

func (l *loader) checkRule(s section, r alert.Rule) {
	bad := func(key string, wrong bool, what, fix string) {
		if wrong {
			s.fail(key, what, fix)
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
	for key, d := range map[string]time.Duration{"min_abs": r.MinAbs, "resolve_for": r.ResolveFor, "exclude_after": r.ExcludeAfter, "exclude_for": r.ExcludeFor} {
		s.notNegative(key, d)
	}
	s.checkLimits("ttft_limit", r.TTFTLimit)
	s.checkLimits("tpot_limit", r.TPOTLimit)
}

func (s section) checkLimits(key string, limits map[probe.Size]alert.Limit) {
	for size, v := range limits {
		path := key + "." + string(size)
		switch {
		case v.Warning < 0 || v.Critical < 0:
			s.fail(path, "is negative", `write a duration such as "3s"`)
		case v.Warning > 0 && v.Critical > 0 && v.Critical < v.Warning:
			s.fail(path, "is critical below its warning", "write a critical limit at or above the warning limit")
		}
	}
}

// checkInterval holds a scene's rule against the interval of one of its schedules.
func (sc *scene) checkInterval(z *sizing) {
	r, interval := sc.rule, z.timing.interval
	if interval > 15*time.Minute && r.Reprobes == 0 && !r.Literal() {
		z.from.warn(z.cronKey(), fmt.Sprintf("runs every %s, and re-probes are off: an alert would take %d runs", formatDuration(interval), r.M), "set reprobes = 3 in [rule]")
	}
	reach := max(r.Window, 6*interval)
	if need := time.Duration(r.M-1) * interval; r.Reprobes == 0 && need > reach && r.M <= r.N {
		sc.below("rule").fail("window", fmt.Sprintf("%q holds fewer than m = %d runs of %s, so it can never fire", formatDuration(r.Window), r.M, z.from), fmt.Sprintf("write at least %q", formatDuration(need)))
	}
}
