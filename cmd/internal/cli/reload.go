package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

type reloadCmd struct {
	Socket string `placeholder:"PATH" help:"Socket of the daemon (default: serin.sock in $RUNTIME_DIRECTORY, else in the state directory)."`
}

// Help shows an example.
func (reloadCmd) Help() string {
	return "Example: serin reload\n\nThe daemon checks the new config whole; on a mistake it keeps the old one and this command prints what is wrong."
}

// Run asks the daemon to read its config again.
func (c *reloadCmd) Run(ctx context.Context, o Options) error {
	body, status, err := socketPost(ctx, c.Socket, "/-/reload")
	if err != nil {
		return fail(ExitUsage, err)
	}
	if status >= 300 {
		return fail(ExitUsage, errors.New(strings.TrimSpace(body)))
	}
	_, err = fmt.Fprintln(o.Stdout, strings.TrimSpace(body))
	return err
}
