package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"text/tabwriter"
	"time"

	"serin/alert"
	"serin/cmd/internal/human"
	"serin/cmd/internal/web"
)

type silenceCmd struct {
	List   silenceListCmd   `cmd:"" default:"withargs" help:"List silences in force and planned (the default)."`
	Add    silenceAddCmd    `cmd:"" help:"Mute what is told for a while: what is judged goes on."`
	Expire silenceExpireCmd `cmd:"" help:"End a silence now: what fires still is told then."`
}

// socketFlag is that of every command that talks to the running daemon.
type socketFlag struct {
	Socket string `placeholder:"PATH" help:"Socket of the daemon (default: serin.sock in $RUNTIME_DIRECTORY, else in the state directory)."`
}

type silenceAddCmd struct {
	Match  []string `arg:"" name:"matcher" help:"target, scene, size, kind, severity or a label of the target, then = or != and a glob, several with | between; all of them must hold."`
	For    string   `placeholder:"D" help:"How long: 30m, 2h, 3d."`
	Until  string   `placeholder:"TIME" help:"Or until when: RFC 3339, '2026-03-01 22:00 Europe/Berlin', or 22:00 in this machine's zone."`
	Start  string   `placeholder:"TIME" help:"When it begins, written in the same ways (default: now)."`
	Reason string   `required:"" placeholder:"TEXT" help:"Why: it stands in messages, page and history."`
	By     string   `placeholder:"NAME" help:"Who: default is the user that runs this."`
	Cap    string   `enum:",warning,info" default:"" help:"In place of silence: tell as no more than this (warning; info pages nobody)."`
	Format string   `enum:"text,json" default:"text" help:"text or json."`
	socketFlag
}

// Help shows examples.
func (silenceAddCmd) Help() string {
	return "Examples:\n  serin silence add target=gw-eu --for 2h --reason 'swapping GPUs, INFRA-123'\n  serin silence add 'target=gw-*' kind!=error --start 22:00 --until '2026-03-02 06:00 Asia/Shanghai' --reason 'load test'\n  serin silence add team=llm severity=critical --for 1d --cap warning --reason 'known, not a page'\n\nWhat ends under a silence is shown as ended; what fires still when it ends is told then. The message of an incident that is open already says that it is silenced."
}

// Run asks the daemon for a silence.
func (c *silenceAddCmd) Run(ctx context.Context, o Options) error {
	now := time.Now()
	body := map[string]any{"match": c.Match, "reason": c.Reason, "by": orderFlags{Who: c.By}.name()}
	if c.Cap != "" {
		body["cap"] = c.Cap
	}
	if err := c.span(body, now); err != nil {
		return fail(ExitUsage, err)
	}
	var made web.Silenced
	if err := talk(ctx, c.Socket, http.MethodPost, "/api/v1/silences", body, &made); err != nil {
		return err
	}
	if c.Format == "json" {
		return writeJSON(o.Stdout, made)
	}
	_, err := fmt.Fprintf(o.Stdout, "silence %s %s\n", made.ID, silenceSpan(made, now))
	switch n := len(made.Canaries); {
	case err != nil:
	case n == 0:
		_, err = fmt.Fprintf(o.Stdout, "it matches no canary that is watched now: %s\n", made.Match)
	default:
		_, err = fmt.Fprintf(o.Stdout, "it is about %d canaries: %s\n", n, human.List(made.Canaries, 5))
	}
	return err
}

// span puts beginning and end into the order.
func (c *silenceAddCmd) span(body map[string]any, now time.Time) error {
	begin := now
	if c.Start != "" {
		at, err := parseMoment(c.Start, now)
		if err != nil {
			return fmt.Errorf("--start: %w", err)
		}
		begin, body["starts"] = at, at
	}
	switch {
	case (c.For == "") == (c.Until == ""):
		return errors.New("say how long: --for 2h, or --until TIME")
	case c.For != "":
		body["for"] = c.For
		return nil
	}
	at, err := parseMoment(c.Until, begin)
	if err != nil {
		return fmt.Errorf("--until: %w", err)
	}
	body["ends"] = at
	return nil
}

func silenceSpan(s web.Silenced, now time.Time) string {
	until := "until " + human.Time(s.Ends) + " (" + human.Duration(s.Ends.Sub(slices.MaxFunc([]time.Time{s.Starts, now}, time.Time.Compare))) + ")"
	if s.State == "pending" {
		return "is planned: from " + human.Time(s.Starts) + " " + until
	}
	return "holds " + until
}

type silenceListCmd struct {
	All    bool   `help:"Those of the last 40 days that are over, too."`
	Format string `enum:"text,json" default:"text" help:"text or json."`
	socketFlag
}

// Help shows an example.
func (silenceListCmd) Help() string {
	return "Examples:\n  serin silence list\n  serin silence list --all --format json"
}

// Run lists silences.
func (c *silenceListCmd) Run(ctx context.Context, o Options) error {
	q := url.Values{"since": {"1s"}}
	if c.All {
		q.Set("since", "40d")
	}
	now := time.Now()
	var list []web.Silenced
	if err := talk(ctx, c.Socket, http.MethodGet, "/api/v1/silences?"+q.Encode(), nil, &list); err != nil {
		return err
	}
	if !c.All {
		list = slices.DeleteFunc(list, func(s web.Silenced) bool { return s.State == "expired" })
	}
	if c.Format == "json" {
		return writeJSON(o.Stdout, list)
	}
	return writeSilences(o.Stdout, list, now)
}

func writeSilences(w io.Writer, list []web.Silenced, now time.Time) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No silence is in force or planned.")
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "ID\tSTATE\tMATCH\tFROM\tUNTIL\tBY\tREASON\t") // Flush tells
	for _, s := range list {
		state := s.State
		if s.Cap != "" {
			state += ", at most " + string(s.Cap)
		}
		until := human.Time(s.Ends)
		if s.State == "active" {
			until += " (" + human.Duration(s.Ends.Sub(now)) + ")"
		} else if s.EndedBy != "" {
			until += " by " + alert.Clean(s.EndedBy)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", s.ID, state, alert.Clean(s.Match.String()), human.Time(s.Starts), until, alert.Clean(s.By), alert.Clean(s.Reason))
	}
	return out.Flush()
}

type silenceExpireCmd struct {
	ID []string `arg:"" help:"Ids of silences, as serin silence list shows them."`
	By string   `placeholder:"NAME" help:"Who: default is the user that runs this."`
	socketFlag
}

// Help shows an example.
func (silenceExpireCmd) Help() string { return "Example: serin silence expire k3vq" }

// Run ends silences.
func (c *silenceExpireCmd) Run(ctx context.Context, o Options) error {
	by := url.Values{"by": {orderFlags{Who: c.By}.name()}}
	for _, id := range c.ID {
		var ended alert.Silence
		if err := talk(ctx, c.Socket, http.MethodDelete, "/api/v1/silences/"+url.PathEscape(id)+"?"+by.Encode(), nil, &ended); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(o.Stdout, "silence %s is over (%s)\n", ended.ID, ended.Match); err != nil {
			return err
		}
	}
	return nil
}
