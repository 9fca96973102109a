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

// scene is a resolved scene with the sections its values came from.
type scene struct {
	*probe.Scene
	own     section
	rule    alert.Rule
	ruled   layers
	targets []*target
}

func (l *loader) resolveScenes() {
	first := map[string]place{}
	list := l.many("scene")
	l.scenes = list
	if len(list) == 0 && l.top.tree.kids["scene"] == nil {
		l.rep.fail(l.top.tree.at, "scene", "is missing: nothing says when to probe", `add a [[scene]] with name, targets and short = "*/5 * * * *"`)
	}
	for _, s := range list {
		name := l.name(s, first)
		sc := l.resolveScene(s)
		l.resolveSizes(sc, name != "")
		if name != "" {
			l.cfg.Scenes = append(l.cfg.Scenes, sc.Scene)
		}
	}
	slices.SortFunc(l.cfg.Runs, func(a, b Run) int { return strings.Compare(a.Canary.Key(), b.Canary.Key()) })
}

func (l *loader) resolveScene(s section) *scene {
	k := defaultScene()
	if s.has("metrics") {
		k.Metrics = nil // a list is replaced, not merged
	}
	own := s
	own.values = dropKeys(s.values, []string{"rule", "short", "medium", "long"})
	l.decode(layers{own}, &k)
	sc := &scene{Scene: &k.Scene, own: s}
	l.oneOf(layers{s}, "language", sc.Language, prompt.English, prompt.Chinese)
	l.checkMetrics(s, sc.Metrics)
	sc.Zone = l.zone(s, k.Timezone)
	if sc.Runbook != "" {
		l.httpURL(layers{s}, "runbook", sc.Runbook)
	}
	sc.rule, sc.ruled = l.resolveRule(s.below("rule"))
	sc.targets = l.choose(s, k)
	for _, t := range sc.targets {
		t.selected = true
	}
	return sc
}

// below returns the section of a table inside s.
func (s section) below(name string) section {
	out := section{path: s.key(name), values: map[string]any{}}
	values, ok := s.values[name].(map[string]any)
	if !ok {
		return out
	}
	out.values = values
	out.tree, _ = s.tree.kids[name].val.(*table) // nil where the value was a scalar that stands for a table
	return out
}

func (l *loader) checkMetrics(s section, metrics []probe.Metric) {
	if len(metrics) == 0 {
		l.rep.fail(s.at("metrics"), s.key("metrics"), "is empty: nothing would be judged", `write ["ttft", "tpot"]`)
	}
	for i, m := range metrics {
		l.oneOf(layers{s}, "metrics", string(m), "ttft", "tpot", "ttfa", "e2e")
		if slices.Contains(metrics[:i], m) {
			l.rep.fail(s.at("metrics"), s.key("metrics"), fmt.Sprintf("names %q twice", m), "remove one")
		}
	}
}

func (l *loader) zone(s section, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		l.rep.fail(s.at("timezone"), s.key("timezone"), fmt.Sprintf("there is no time zone %q", name), `use an IANA name such as "Asia/Shanghai", "Europe/Berlin" or "UTC"`)
		return time.UTC
	}
	return zone
}

// choose returns the targets of a scene in the order of the file.
func (l *loader) choose(s section, k sceneKeys) []*target {
	switch {
	case s.has("targets") && s.has("select"):
		l.rep.fail(s.at("select"), s.key("select"), "stands beside targets", "keep one of the two")
		return nil
	case s.has("select"):
		return l.chooseByLabels(s, k.Select)
	case !s.has("targets"):
		if s.tree.kids["targets"] == nil && s.tree.kids["select"] == nil {
			l.rep.fail(s.at("targets"), s.key("targets"), "is missing", `name the targets: targets = ["*"] for all, or select = { tier = "prod" }`)
		}
		return nil
	}
	return l.chooseByName(s, k.Targets)
}

func (l *loader) chooseByName(s section, patterns []string) []*target {
	if len(patterns) == 0 {
		l.rep.fail(s.at("targets"), s.key("targets"), "is empty", `name the targets, or write ["*"] for all`)
	}
	var chosen []*target
	for _, p := range patterns {
		matched := false
		for _, t := range l.targets {
			if !glob.Match(p, t.Name) {
				continue
			}
			matched = true
			if !slices.Contains(chosen, t) {
				chosen = append(chosen, t)
			}
		}
		if !matched && len(l.targets) > 0 {
			l.rep.fail(s.at("targets"), s.key("targets"), fmt.Sprintf("%q matches no target", p), l.nameFix(p, l.targetNames(), "target"))
		}
	}
	return chosen
}

func (l *loader) targetNames() []string {
	var names []string
	for _, t := range l.targets {
		names = append(names, t.Name)
	}
	return names
}

func (l *loader) chooseByLabels(s section, want map[string]string) []*target {
	var chosen []*target
	for _, t := range l.targets {
		if labelled(t.Labels, want) {
			chosen = append(chosen, t)
		}
	}
	if (len(chosen) == 0 || len(want) == 0) && len(l.targets) > 0 {
		l.rep.fail(s.at("select"), s.key("select"), "matches no target", "give a target these labels = { … }, or write targets = [\"*\"]")
		return nil
	}
	return chosen
}

func labelled(labels, want map[string]string) bool {
	for name, pattern := range want {
		have, ok := labels[name]
		if !ok || !glob.Match(pattern, have) {
			return false
		}
	}
	return true
}

// checkUse tells what no scene uses, and scenes that send the same canaries to the same target.
func (l *loader) checkUse() {
	for _, t := range l.targets {
		if !t.selected && len(l.scenes) > 0 {
			l.rep.warn(t.from[0].at("name"), t.from[0].path, "is probed by no scene", "name it in the targets of a scene, or remove it")
		}
	}
	type twin struct{ scene, other string }
	seen := map[string]string{} // target and spec → scene
	twins := map[twin][]string{}
	for _, r := range l.cfg.Runs {
		c := r.Canary
		id := c.Target.Name + " " + r.Spec
		other, ok := seen[id]
		if !ok {
			seen[id] = c.Scene.Name
			continue
		}
		key := twin{c.Scene.Name, other}
		twins[key] = append(twins[key], c.Target.Name+" "+string(c.Size))
	}
	for _, s := range l.scenes {
		name, _ := s.values["name"].(string)
		for _, other := range l.cfg.Scenes {
			if same := twins[twin{name, other.Name}]; len(same) > 0 {
				l.rep.warn(s.at("name"), s.path, fmt.Sprintf("sends the same canaries as scene %q: %s", other.Name, shorten(same, 5)),
					"give it own prompts, another length or language, or merge the scenes")
			}
		}
	}
}

func shorten(list []string, n int) string {
	if len(list) > n {
		return strings.Join(list[:n], ", ") + fmt.Sprintf(" and %d more", len(list)-n)
	}
	return strings.Join(list, ", ")
}
