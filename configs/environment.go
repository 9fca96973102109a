package configs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// environmentFile writes the config for the endpoint in the environment, as if it stood in a file.
func environmentFile(rep *report) []source {
	text, err := EnvironmentConfig()
	if err != nil {
		rep.fail(place{file: fromEnvironment}, "", err.Error(), "or write a config file and name it with -c")
		return nil
	}
	return []source{{fromEnvironment, []byte(text)}}
}

// EnvironmentConfig returns the TOML of the default config for the endpoint in the environment: OPENAI_API_KEY,
// OPENAI_BASE_URL, OPENAI_MODEL; ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL; both where both
// are set. SLACK_WEBHOOK_URL, or SLACK_BOT_TOKEN with SLACK_CHANNEL, adds Slack. It names variables and never holds a
// secret. The error says what to set.
func EnvironmentConfig() (string, error) {
	var b strings.Builder
	var names []string
	for _, e := range []endpoint{openAI(), anthropic()} {
		if !e.given() {
			continue
		}
		if e.model == "" {
			return "", fmt.Errorf("%s is set but no %s_MODEL: set it to the model to probe", e.because, strings.ToUpper(e.name))
		}
		e.write(&b)
		names = append(names, strconv.Quote(e.name))
	}
	if len(names) == 0 {
		return "", fmt.Errorf("no config file is named and the environment holds no endpoint: set OPENAI_API_KEY and OPENAI_MODEL (OPENAI_BASE_URL for another host), or ANTHROPIC_API_KEY and ANTHROPIC_MODEL")
	}
	fmt.Fprintf(&b, "[[scene]]\nname = \"default\"\ntargets = [%s]\nshort = \"*/5 * * * *\"\nmedium = \"*/15 * * * *\"\nlong = \"0 * * * *\"\n", strings.Join(names, ", "))
	b.WriteString(slackFromEnvironment())
	return b.String(), nil
}

// endpoint is what the environment says of one vendor's API.
type endpoint struct {
	name, protocol, base, model string
	keyEnv, auth                string
	because                     string // the variable that shows that it is wanted
}

func (e endpoint) given() bool { return e.because != "" }

func (e endpoint) write(b *strings.Builder) {
	fmt.Fprintf(b, "[[target]]\nname = %q\nprotocol = %q\nbase_url = %s\nmodel = %s\n", e.name, e.protocol, tomlString(e.base), tomlString(e.model))
	if e.keyEnv != "" {
		fmt.Fprintf(b, "api_key_env = %q\n", e.keyEnv)
	}
	if e.auth != "" {
		fmt.Fprintf(b, "auth = %q\n", e.auth)
	}
	b.WriteString("\n")
}

func openAI() endpoint {
	e := endpoint{name: "openai", protocol: "openai-chat", base: os.Getenv("OPENAI_BASE_URL"), model: os.Getenv("OPENAI_MODEL")}
	e.keyEnv = firstSet("OPENAI_API_KEY")
	e.because = firstSet("OPENAI_API_KEY", "OPENAI_BASE_URL")
	if e.base == "" {
		e.base = "https://api.openai.com/v1"
	}
	return e
}

func anthropic() endpoint {
	e := endpoint{name: "anthropic", protocol: "anthropic", base: os.Getenv("ANTHROPIC_BASE_URL"), model: os.Getenv("ANTHROPIC_MODEL")}
	e.keyEnv = firstSet("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
	if e.keyEnv == "ANTHROPIC_AUTH_TOKEN" {
		e.auth = "bearer"
	}
	e.because = firstSet("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
	if e.base == "" {
		e.base = "https://api.anthropic.com"
	}
	return e
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

func slackFromEnvironment() string {
	switch {
	case os.Getenv("SLACK_BOT_TOKEN") != "" && os.Getenv("SLACK_CHANNEL") != "":
		return fmt.Sprintf("\n[slack]\nbot_token_env = \"SLACK_BOT_TOKEN\"\nchannel = %s\n", tomlString(os.Getenv("SLACK_CHANNEL")))
	case os.Getenv("SLACK_WEBHOOK_URL") != "":
		return "\n[slack]\nwebhook_url_env = \"SLACK_WEBHOOK_URL\"\n"
	}
	return ""
}

// tomlString quotes any text as a TOML basic string.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
