package cli

import (
	"context"
	"fmt"
	"runtime"

	"serin/cmd/internal/daemon"
)

type versionCmd struct{}

// Help shows an example.
func (versionCmd) Help() string { return "Example: serin version" }

// Run prints the version.
func (versionCmd) Run(_ context.Context, o Options) error {
	_, err := fmt.Fprintf(o.Stdout, "serin %s (commit %s, %s %s/%s)\n", daemon.Version, daemon.Revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
