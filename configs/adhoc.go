package configs

import (
	"fmt"
	"strings"

	"serin/probe"
)

// commandLine names the file of what came from flags.
const commandLine = "command line"

// AdHoc describes one canary without a config file.
type AdHoc struct {
	BaseURL, Model, Protocol string
	APIKeyEnv                string // "" = no key
	Size                     probe.Size
	NoSecrets                bool // do not read the key
}

// LoadAdHoc makes a config with one canary, target "check" and scene "check", checked as any other.
func LoadAdHoc(a AdHoc) (*Config, []Problem) {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", key, tomlString(value))
		}
	}
	b.WriteString("[[target]]\nname = \"check\"\n")
	line("base_url", a.BaseURL)
	line("model", a.Model)
	line("protocol", a.Protocol)
	line("api_key_env", a.APIKeyEnv)
	b.WriteString("[[scene]]\nname = \"check\"\ntargets = [\"check\"]\n")
	line(string(a.Size), "@hourly")
	rep := &report{}
	return load([]source{{commandLine, []byte(b.String())}}, nil, Options{ProbesOnly: true, NoSecrets: a.NoSecrets}, rep)
}
