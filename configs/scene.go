package configs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/probe"
	"serin/probe/glob"
	"serin/probe/prompt"
)

// scene is a resolved scene with its section.
type scene struct {
	*probe.Scene
	section
	rule    alert.Rule
	targets []*target
}

func (l *loader) resolveScenes() {
	first := map[string]section{}
	if len(l.each("scene")) == 0 && !l.table("").given("scene") {
		l.table("").fail("scene", "is missing: nothing says when to probe", `add a [[scene]] with name, targets and short = "*/5 * * * *"`)
	}
	for i, s := range l.each("scene") {
		name, k := s.name(first), l.file.Scene[i]
		sc := l.resolveScene(s, k)
		l.resolveSizes(sc, k, name != "")
		if name != "" {
			l.cfg.Scenes = append(l.cfg.Scenes, sc.Scene)
		}
	}
	slices.SortFunc(l.cfg.Runs, func(a, b Run) int { return strings.Compare(a.Canary.Key(), b.Canary.Key()) })
}

func (l *loader) resolveScene(s section, k sceneKeys) *scene {
	sc := &scene{Scene: &k.Scene, section: s, rule: k.Rule}
	s.oneOf("language", sc.Language, prompt.English, prompt.Chinese)
	s.checkMetrics(sc.Metrics)
	sc.Zone = s.zone(k.Timezone)
	if sc.Runbook != "" {
		s.httpURL("runbook", sc.Runbook)
	}
	l.checkRule(s.below("rule"), k.Rule)
	sc.targets = l.choose(s, k)
	for _, t := range sc.targets {
		t.selected = true
	}
	return sc
}

func (s section) checkMetrics(metrics []probe.Metric) {
	if len(metrics) == 0 && !s.wrong("metrics") {
		s.fail("metrics", "is empty: nothing would be judged", `write ["ttft", "tpot"]`)
	}
	for i, m := range metrics {
		s.oneOf("metrics", string(m), "ttft", "tpot", "ttfa", "e2e")
		if slices.Contains(metrics[:i], m) {
			s.fail("metrics", fmt.Sprintf("names %q twice", m), "remove one")
		}
	}
}

func (s section) zone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		s.fail("timezone", fmt.Sprintf("there is no time zone %q", name), `use an IANA name such as "Asia/Shanghai", "Europe/Berlin" or "UTC"`)
		return time.UTC
	}
	return zone
}

// choose returns the targets of a scene in the order of the file.
func (l *loader) choose(s section, k sceneKeys) []*target {
	switch {
	case s.has("targets") && s.has("select"):
		s.fail("select", "stands beside targets", "keep one of the two")
	case s.has("select"):
		return l.chooseByLabels(s, k.Select)
	case s.has("targets"):
		return l.chooseByName(s, k.Targets)
	case !s.given("targets") && !s.given("select"):
		s.fail("targets", "is missing", `name the targets: targets = ["*"] for all, or select = { tier = "prod" }`)
	}
	return nil
}

func (l *loader) chooseByName(s section, patterns []string) []*target {
	if len(patterns) == 0 {
		s.fail("targets", "is empty", `name the targets, or write ["*"] for all`)
	}
	chosen := map[*target]bool{}
	for _, p := range patterns {
		matched := false
		for _, t := range l.targets {
			if glob.Match(p, t.Name) {
				matched, chosen[t] = true, true
			}
		}
		if !matched && len(l.targets) > 0 {
			s.fail("targets", fmt.Sprintf("%q matches no target", p), nameFix(p, l.targetNames(), "target"))
		}
	}
	return slices.DeleteFunc(slices.Clone(l.targets), func(t *target) bool { return !chosen[t] })
}

func (l *loader) targetNames() []string {
	var names []string
	for _, t := range l.targets {
		names = append(names, t.Name)
	}
	return names
}

func (l *loader) chooseByLabels(s section, want map[string]string) []*target {
	chosen := slices.DeleteFunc(slices.Clone(l.targets), func(t *target) bool {
		for name, pattern := range want {
			if have, ok := t.Labels[name]; !ok || !glob.Match(pattern, have) {
				return true
			}
		}
		return false
	})
	if (len(chosen) == 0 || len(want) == 0) && len(l.targets) > 0 {
		s.fail("select", "matches no target", "give a target these labels = { … }, or write targets = [\"*\"]")
		return nil
	}
	return chosen
}

// checkUse reports targets that no scene uses, alerts that reach nobody, and scenes that send the same canaries to the same target.
func (l *loader) checkUse() {
	for _, t := range l.targets {
		if !t.selected && len(l.each("scene")) > 0 {
			t.warn("", "is probed by no scene", "name it in the targets of a scene, or remove it")
		}
	}
	if len(l.cfg.Channels) == 0 && !l.opt.ProbesOnly && !l.doc.rep.failed() {
		fix := "add [slack] with webhook_url_env, or a [[channel]]"
		if l.doc.origin.file == fromEnvironment {
			fix = "set SLACK_WEBHOOK_URL, or SLACK_BOT_TOKEN and SLACK_CHANNEL"
		}
		l.table("").warn("slack", "is missing, and there is no [[channel]]: nobody will be told", fix)
	}
	type twin struct{ scene, other string }
	seen := map[string]string{} // target and spec → scene
	twins := map[twin][]string{}
	for _, r := range l.cfg.Runs {
		c := r.Canary
		id := c.Target.Name + " " + r.Spec
		if other, ok := seen[id]; ok {
			key := twin{c.Scene.Name, other}
			twins[key] = append(twins[key], c.Target.Name+" "+string(c.Size))
			continue
		}
		seen[id] = c.Scene.Name
	}
	for _, s := range l.each("scene") {
		for of, same := range twins {
			if of.scene == l.names[s.path] {
				s.warn("", fmt.Sprintf("sends the same canaries as scene %q: %s", of.other, shorten(same, 5)), "give it own prompts, another length or language, or merge the scenes")
			}
		}
	}
}
