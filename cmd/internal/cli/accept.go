package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"strings"
)

// orderFlags are those of every command that changes something in the running daemon.
type orderFlags struct {
	Why    string `required:"" placeholder:"TEXT" help:"Why: it goes into the history, beside who."`
	Who    string `placeholder:"NAME" help:"Who: default is the user that runs this."`
	Socket string `placeholder:"PATH" help:"Socket of the daemon (default: serin.sock in $RUNTIME_DIRECTORY, else in the state directory)."`
}

type acceptCmd struct {
	Pattern string `arg:"" name:"pattern|id" help:"Glob over canaries (target/scene/size) or targets, or the id of an incident: an open one, with --undo the one whose level was accepted."`
	Undo    bool   `help:"Take acceptances of the last 7 days back instead."`
	orderFlags
}

// Help shows an example.
func (acceptCmd) Help() string {
	return "Example: serin accept 7f3k --why 'moved to the larger model, INFRA-123'\n\nThe level since the first breach becomes the new normal at once: the alert resolves and the daily shape is kept. --undo takes it back, also what serin took for normal by itself: serin accept --undo 7f3k --why 'still broken'"
}

// Run asks the daemon to accept, or to take it back.
func (c *acceptCmd) Run(ctx context.Context, o Options) error {
	path, what := "/api/v1/accept", "the new normal"
	if c.Undo {
		path, what = "/api/v1/accept/undo", "taken back"
	}
	return c.send(ctx, o, path, url.Values{"pattern": {c.Pattern}}, what)
}

// send posts the order with what q says of it, and prints what it changed.
func (f orderFlags) send(ctx context.Context, o Options, path string, q url.Values, what string) error {
	q.Set("why", f.Why)
	q.Set("who", f.name())
	body, status, err := socketPost(ctx, f.Socket, path+"?"+q.Encode())
	if err != nil {
		return fail(ExitUsage, err)
	}
	var answer struct {
		Changed []string `json:"changed"`
		Error   string   `json:"error"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return fmt.Errorf("read the daemon's answer (HTTP %d): %w", status, err)
	}
	if status != http.StatusOK {
		return fail(ExitUsage, errors.New(answer.Error))
	}
	_, err = fmt.Fprintln(o.Stdout, orderText(what, answer.Changed))
	return err
}

// name is who orders: the flag, who became root, or the user.
func (f orderFlags) name() string {
	if f.Who != "" {
		return f.Who
	}
	if sudo := os.Getenv("SUDO_USER"); sudo != "" {
		return sudo
	}
	if u, err := user.Current(); err == nil && strings.TrimSpace(u.Username) != "" {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

// orderText is what a command prints of the series it changed.
func orderText(what string, changed []string) string {
	return fmt.Sprintf("%s: %s", what, strings.Join(changed, ", "))
}

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
