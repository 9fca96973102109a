package app

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version and Commit are set by the linker in release builds: -X serin/cmd/internal/app.Version=…
var (
	Version = "dev"
	Commit  = ""
)

type versionCmd struct{}

// Help shows an example.
func (versionCmd) Help() string { return "Example: serin version" }

// Run prints the version.
func (versionCmd) Run(_ context.Context, o Options) error {
	_, err := fmt.Fprintf(o.Stdout, "serin %s (commit %s, %s %s/%s)\n", Version, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// commit returns the commit that the binary was built from, "unknown" where the build did not record it.
func commit() string {
	if Commit != "" {
		return Commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "unknown"
}
