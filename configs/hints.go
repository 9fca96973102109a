package configs

import (
	"fmt"
	"regexp"
	"strings"
)

// hint is what to say of a key that is none: one that was removed, or that people write for another. VALUE in the fix
// stands for the key's value.
type hint struct{ what, fix string }

const (
	removed  = "was removed"
	otherKey = "is not a key that is known here"
)

// hints are by path without numbers; those of target also hold for provider and target_defaults, those of slack for
// channel, those of rule for scene.rule.
func hints() map[string]hint {
	return map[string]hint{
		"rule.accept_after":  {removed, "remove it: the samples of an open alert count again after exclude_for (default 24h), so the next days learn the level by themselves; serin accept takes it at once"},
		"rule.down_after":    {removed, "remove it: the next days learn a lower level by themselves; serin accept takes it at once"},
		"rule.promote_after": {removed, "remove it: a canary that is slow alone pages once it has lasted"},
		"http.token.scopes":  {"was replaced by role", "write role = VALUE"},

		"provider.provider":    {"is for targets", "remove it: the targets name their provider"},
		"target_defaults.name": {"is for targets", "remove it: each target has its own name"},

		"target.url":        {otherKey, "write base_url = VALUE"},
		"target.endpoint":   {otherKey, "write base_url = VALUE"},
		"target.api_base":   {otherKey, "write base_url = VALUE"},
		"target.host":       {otherKey, `write base_url = "https://host/v1"`},
		"target.type":       {otherKey, "write protocol = VALUE (openai-chat, openai-responses, anthropic, gemini, ollama, azure-openai)"},
		"target.timeout":    {otherKey, "write total_timeout = VALUE for the whole answer; first_token_timeout, stall_timeout and connect_timeout bound its parts"},
		"target.apikey":     {otherKey, `name the environment variable that holds it: api_key_env = "…"`},
		"target.key":        {otherKey, `name the environment variable that holds it: api_key_env = "…"`},
		"target.token":      {otherKey, `name the environment variable that holds it: api_key_env = "…"`},
		"target.api_token":  {otherKey, `name the environment variable that holds it: api_key_env = "…"`},
		"target.schedule":   {otherKey, `schedules stand in a [[scene]]: short = "*/5 * * * *"`},
		"target.interval":   {otherKey, `schedules stand in a [[scene]]: short = "@every 5m"`},
		"scene.target":      {otherKey, `write targets = ["…"]`},
		"scene.schedule":    {otherKey, "write short = VALUE (medium and long for larger prompts)"},
		"scene.cron":        {otherKey, "write short = VALUE (medium and long for larger prompts)"},
		"scene.interval":    {otherKey, `write short = "@every 5m" (medium and long for larger prompts)`},
		"slack.url":         {otherKey, `name the environment variable that holds it: webhook_url_env = "…"`},
		"slack.webhook":     {otherKey, `name the environment variable that holds it: webhook_url_env = "…"`},
		"slack.token":       {otherKey, `name the environment variable that holds it: bot_token_env = "…"`},
		"rule.threshold":    {otherKey, "write sigma = VALUE for standard deviations, or min_ratio for a factor"},
		"store.path":        {otherKey, "write dsn = VALUE"},
		"http.port":         {otherKey, `write listen = "127.0.0.1:9469"`},
		"http.addr":         {otherKey, "write listen = VALUE"},
		"http.token.scope":  {otherKey, `write role = "read", "annotate" or "admin"`},
		"maintenance.start": {otherKey, "write from = VALUE"},
		"maintenance.end":   {otherKey, "write until = VALUE"},
	}
}

var index = regexp.MustCompile(`\.[0-9]+(\.|$)`)

// bare returns a path without the numbers of its elements.
func bare(path string) string { return strings.TrimSuffix(index.ReplaceAllString(path, "."), ".") }

// hintKey returns under which key of hints a path is looked up beside its own.
func hintKey(path string) string {
	for table, as := range map[string]string{"provider.": "target.", "target_defaults.": "target.", "channel.": "slack.", "scene.rule.": "rule."} {
		if rest, ok := strings.CutPrefix(path, table); ok {
			return as + rest
		}
	}
	return path
}

// advice returns what to say of a key by its path, "" where there is no hint.
func (l *loader) advice(path string) (what, fix string) {
	key := bare(path)
	h, ok := l.hints[key]
	if !ok {
		h, ok = l.hints[hintKey(key)]
	}
	if !ok || strings.HasPrefix(key, "channel.") && l.spec.find("channel").keys[strings.TrimPrefix(key, "channel.")] != nil {
		return "", ""
	}
	value := `"…"`
	switch v := l.value(path).(type) {
	case string:
		if len(v) < 200 && !strings.ContainsAny(v, "@?") { // a secret of a URL
			value = fmt.Sprintf("%q", v)
		}
	case []any:
		value = fmt.Sprintf("%q", roleOf(v))
	case int64, float64:
		value = fmt.Sprint(v)
	}
	return h.what, strings.ReplaceAll(h.fix, "VALUE", value)
}

// roleOf returns the weakest role that may do what a list of scopes allowed.
func roleOf(scopes []any) string {
	role := "read"
	for _, scope := range scopes {
		switch scope {
		case "silence", "mark", "ack":
			role = "annotate"
		case "write", "accept", "reload":
			return "admin"
		}
	}
	return role
}
