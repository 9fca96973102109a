package cli

import (
	"context"

	"serin/cmd/internal/demo"
)

type demoCmd struct {
	Once bool `help:"End after the story, also on a terminal."`
}

// Help shows an example.
func (demoCmd) Help() string {
	return "Example: serin demo\n\nOn a terminal the daemon runs on until Ctrl-C, so that its pages can be looked at; else it ends after the story. It leaves nothing behind."
}

// Run plays the whole product in one process.
func (c *demoCmd) Run(ctx context.Context, o Options) error { return demo.Run(ctx, o.Stdout, c.Once) }
