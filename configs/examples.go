package configs

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed examples/*.toml
var exampleFiles embed.FS

// Examples returns the embedded example configs: name without .toml → text.
func Examples() (map[string]string, error) {
	out := map[string]string{}
	entries, err := fs.ReadDir(exampleFiles, "examples")
	if err != nil {
		return nil, fmt.Errorf("list examples: %w", err)
	}
	for _, e := range entries {
		text, err := fs.ReadFile(exampleFiles, "examples/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("read example: %w", err)
		}
		out[strings.TrimSuffix(e.Name(), ".toml")] = string(text)
	}
	return out, nil
}
