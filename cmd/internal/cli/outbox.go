package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"serin/alert"
	"serin/baseline/store"
	"serin/cmd/internal/human"
)

type outboxCmd struct {
	storeFlags
	All      bool   `help:"Also what was sent or dropped, since --since."`
	Since    string `default:"24h" placeholder:"D" help:"With --all: decided since, a duration (24h, 7d) or an RFC 3339 time."`
	Incident string `placeholder:"ID" help:"Only messages of this incident, whatever became of them."`
	Channel  string `placeholder:"NAME" help:"Only messages to this channel."`
	Format   string `enum:"text,json" default:"text" help:"text, or json with the messages themselves."`
}

// Help shows an example.
func (outboxCmd) Help() string {
	return "Examples:\n  serin outbox -c serin.toml\n  serin outbox -c serin.toml --all --since 7d --format json\nWhat is owed: pending (sent soon, or again later) and blocked (refused for good; a reload or restart tries again). Reads the store, also beside a running daemon."
}

// Run lists notices.
func (c *outboxCmd) Run(ctx context.Context, o Options) error {
	now := time.Now()
	since, err := parseSince(c.Since, now)
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("--since: %w", err))
	}
	q := store.NoticeQuery{Incident: c.Incident, Channel: c.Channel}
	switch {
	case c.Incident != "":
	case c.All:
		q.Since = since
	default:
		q.States = []alert.NoticeState{alert.NoticePending, alert.NoticeBlocked}
	}
	return c.read(ctx, o, func(st *store.Store) error {
		list, err := st.Notices(ctx, q)
		if err != nil {
			return err
		}
		if c.Format == "json" {
			return writeJSON(o.Stdout, append([]alert.Notice{}, list...))
		}
		return writeNotices(o.Stdout, list, now)
	})
}

// writeNotices writes a table, the newest below.
func writeNotices(w io.Writer, list []alert.Notice, now time.Time) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No such message: nothing is owed.")
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "DECIDED\tINCIDENT\tCHANNEL\tACT\tSTATE\tATTEMPTS\tHEADLINE\t") // Flush tells
	for i := range list {
		n := &list[i]
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t\n", human.Time(n.Created), n.Incident, n.Channel, n.Act, noticeText(n, now), n.Attempts, n.Message.Headline)
	}
	return out.Flush()
}

// noticeText says where a notice stands.
func noticeText(n *alert.Notice, now time.Time) string {
	text := string(n.State)
	switch {
	case n.State == alert.NoticeSent:
		return text + " " + human.Time(n.Sent)
	case n.State == alert.NoticePending && n.NotBefore.After(now):
		text += ", again in " + human.Duration(n.NotBefore.Sub(now))
	}
	if n.Error != "" {
		text += ": " + n.Error
	}
	return text
}
