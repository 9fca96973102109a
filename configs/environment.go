package configs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"serin/probe"
)

// What problems name as the file of values that stand in none.
const (
	fromEnvironment = "environment"
	commandLine     = "command line"
)

// AdHoc describes one canary without a config file.
type AdHoc struct {
	BaseURL, Model, Protocol string
	APIKeyEnv                string // "" = no key
	Size                     probe.Size
	NoSecrets                bool // do not read the key
}

// LoadAdHoc makes a config with one canary, target "check" and scene "check", checked as any other.
func LoadAdHoc(a AdHoc) (*Config, []Problem) {
	target := map[string]any{"name": "check"}
	for key, value := range map[string]string{"base_url": a.BaseURL, "model": a.Model, "protocol": a.Protocol, "api_key_env": a.APIKeyEnv} {
		if value != "" {
			target[key] = value
		}
	}
	scene := map[string]any{"name": "check", "targets": []any{"check"}, string(a.Size): "@hourly"}
	flags := values(commandLine, map[string]any{"target": []any{target}, "scene": []any{scene}})
	return load([]source{flags}, nil, Options{ProbesOnly: true, NoSecrets: a.NoSecrets}, &report{})
}

// values returns a source that is no file.
func values(name string, v map[string]any) source {
	text, _ := json.Marshal(v) // maps, lists and strings
	return source{name: name, data: text, values: v}
}

// vendor is an API whose endpoint the environment may name: PREFIX_BASE_URL, PREFIX_MODEL and one of the keys.
type vendor struct {
	name, protocol, base string
	keys                 []string
}

// fromVariables returns the config for the endpoints in the environment: OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL;
// ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL; both where both are set. SLACK_WEBHOOK_URL, or
// SLACK_BOT_TOKEN with SLACK_CHANNEL, adds Slack. The error says what to set.
func fromVariables() (source, error) {
	var targets []any
	for _, v := range []vendor{{"openai", "openai-chat", "https://api.openai.com/v1", []string{"OPENAI_API_KEY"}},
		{"anthropic", "anthropic", "https://api.anthropic.com", []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}}} {
		t, err := v.target()
		if err != nil {
			return source{}, err
		}
		if t != nil {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		return source{}, errors.New("no config file is named and the environment holds no endpoint: set OPENAI_API_KEY and OPENAI_MODEL (OPENAI_BASE_URL for another host), or ANTHROPIC_API_KEY and ANTHROPIC_MODEL")
	}
	scene := map[string]any{"name": "default", "targets": []any{"*"}, "short": "*/5 * * * *", "medium": "*/15 * * * *", "long": "0 * * * *"}
	config := map[string]any{"target": targets, "scene": []any{scene}}
	switch channel := os.Getenv("SLACK_CHANNEL"); {
	case os.Getenv("SLACK_BOT_TOKEN") != "" && channel != "":
		config["slack"] = map[string]any{"bot_token_env": "SLACK_BOT_TOKEN", "channel": channel}
	case os.Getenv("SLACK_WEBHOOK_URL") != "":
		config["slack"] = map[string]any{"webhook_url_env": "SLACK_WEBHOOK_URL"}
	}
	return values(fromEnvironment, config), nil
}

// target returns the vendor's endpoint, nil where the environment names none.
func (v vendor) target() (map[string]any, error) {
	prefix := strings.ToUpper(v.name)
	key, base, model := firstSet(v.keys...), os.Getenv(prefix+"_BASE_URL"), os.Getenv(prefix+"_MODEL")
	because := cmp.Or(key, firstSet(prefix+"_BASE_URL"))
	switch {
	case because == "":
		return nil, nil
	case model == "":
		return nil, fmt.Errorf("%s is set but no %s_MODEL: set it to the model to probe", because, prefix)
	}
	t := map[string]any{"name": v.name, "protocol": v.protocol, "base_url": cmp.Or(base, v.base), "model": model}
	if key != "" {
		t["api_key_env"] = key
	}
	if key == "ANTHROPIC_AUTH_TOKEN" {
		t["auth"] = "bearer"
	}
	return t, nil
}

// firstSet returns the first variable that is set and not empty, or "".
func firstSet(names ...string) string {
	for _, n := range names {
		if os.Getenv(n) != "" {
			return n
		}
	}
	return ""
}
