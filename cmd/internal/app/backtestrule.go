package app

import (
	"errors"
	"fmt"
	"strings"

	"serin/alert"
	"serin/configs"
)

// ruleChoice says how a rule differs from the one it is laid over.
type ruleChoice struct {
	Name string // as people see it
	sets []string
}

// ruleOf reads --preset and --set.
func ruleOf(preset string, sets []string) ruleChoice {
	c := ruleChoice{sets: sets}
	if preset != "" {
		c.sets = append([]string{"preset=" + preset}, sets...)
	}
	c.Name = strings.Join(c.sets, ",")
	if len(sets) == 0 {
		c.Name = preset
	}
	return c
}

// ruleFromText reads --vs: a preset's name, or settings.
func ruleFromText(text string) ruleChoice {
	if !strings.Contains(text, "=") {
		return ruleOf(text, nil)
	}
	return ruleOf("", strings.Split(text, ","))
}

// over lays the choice over a rule.
func (c ruleChoice) over(base alert.Rule) (alert.Rule, error) {
	rule, problems := configs.SetRule(base, c.sets...)
	if !configs.HasErrors(problems) {
		return rule, nil
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return rule, errors.New(strings.Join(lines, "\n  "))
}

// label is the choice's name, or what stands for none.
func (c ruleChoice) label(config string) string {
	switch {
	case c.Name != "":
		return c.Name
	case config != "":
		return "config"
	}
	return "balanced"
}

// checkRules refuses two rules that cannot be told apart.
func checkRules(list []ruleChoice) error {
	if len(list) == 2 && list[0].Name == list[1].Name {
		return fmt.Errorf("--vs names the same rule twice (%s)", list[0].Name)
	}
	return nil
}
