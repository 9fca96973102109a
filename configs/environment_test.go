package configs

import (
	"strings"
	"testing"
)

func loadEnvironment(t *testing.T) (*Config, string) {
	t.Helper()
	c, problems := Load(Options{Now: noon})
	return c, lines(butSlack(problems))
}

func TestEnvironment(t *testing.T) {
	setEnv(t)
	c, problems := loadEnvironment(t)
	if c != nil || !strings.Contains(problems, "environment: error: no config file is named and the environment holds no endpoint: set OPENAI_API_KEY") {
		t.Errorf("empty environment: %v %s", c, problems)
	}
	t.Setenv("OPENAI_API_KEY", "sk-12345")
	if c, problems = loadEnvironment(t); c != nil || !strings.Contains(problems, "OPENAI_API_KEY is set but no OPENAI_MODEL") {
		t.Errorf("no model: %v %s", c, problems)
	}
	t.Setenv("OPENAI_MODEL", `qwen "x"\y`)
	c, problems = loadEnvironment(t)
	if problems != "" || len(c.Runs) != 3 || c.Targets[0].Model != `qwen "x"\y` || c.Targets[0].BaseURL != "https://api.openai.com/v1" || c.Slack != nil {
		t.Fatalf("openai: %+v %s", c, problems)
	}
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "oat-1234")
	t.Setenv("ANTHROPIC_MODEL", "claude-x")
	t.Setenv("SLACK_WEBHOOK_URL", "https://hooks.slack.example/services/x")
	c, problems = loadEnvironment(t)
	if problems != "" || len(c.Runs) != 6 || c.Targets[1].Auth != "bearer" || c.Targets[1].Protocol != "anthropic" || c.Slack == nil {
		t.Fatalf("both: %+v %s", c, problems)
	}
	t.Setenv("SLACK_BOT_TOKEN", "xoxb-1-2-3")
	t.Setenv("SLACK_CHANNEL", "C1")
	if c, problems = loadEnvironment(t); problems != "" || c.Slack.Channel != "C1" || !c.Slack.WebhookURL.IsZero() {
		t.Errorf("bot token: %+v %s", c, problems)
	}
}

func TestEnvironmentWithoutKey(t *testing.T) {
	setEnv(t)
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/chat/completions")
	t.Setenv("OPENAI_MODEL", "m")
	c, problems := loadEnvironment(t)
	if c != nil || !strings.Contains(problems, `write base_url = "http://127.0.0.1:8080/v1"`) {
		t.Errorf("pasted: %v %s", c, problems)
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")
	if c, problems = loadEnvironment(t); problems != "" || !c.Targets[0].APIKey.IsZero() {
		t.Errorf("local: %v %s", c, problems)
	}
}
