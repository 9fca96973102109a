package app

import (
	"context"
	"net/url"
)

type ackCmd struct {
	ID     string `arg:"" help:"Id of an open incident, as its message shows it."`
	Why    string `placeholder:"TEXT" help:"A word for the others, such as what is being done."`
	For    string `placeholder:"D" help:"How long reminders rest: 90m, 4h, 2d (default: while the incident is open)."`
	Who    string `placeholder:"NAME" help:"Who has it: default is the user that runs this."`
	Socket string `placeholder:"PATH" help:"Socket of the daemon (default: serin.sock in $RUNTIME_DIRECTORY, else in the state directory)."`
}

// Help shows an example.
func (ackCmd) Help() string {
	return "Example: serin ack 7f3k --why 'rolling back vllm 0.13'\n\nThe incident's message and thread say who has it; reminders stop (with --for they come again after it), escalations and the end are still told."
}

// Run asks the daemon to note it.
func (c *ackCmd) Run(ctx context.Context, o Options) error {
	return orderFlags{Why: c.Why, Who: c.Who, Socket: c.Socket}.send(ctx, o, "/api/v1/ack",
		url.Values{"pattern": {c.ID}, "for": {c.For}}, "acknowledged")
}
