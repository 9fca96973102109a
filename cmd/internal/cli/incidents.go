package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"serin/alert"
	"serin/baseline/store"
	"serin/cmd/internal/daemon"
	"serin/cmd/internal/human"
	"serin/cmd/internal/web"
)

type incidentsCmd struct {
	Show  incidentsShowCmd  `cmd:"" default:"withargs" help:"List incidents, or show one with its alerts, history and messages (the default)."`
	Label incidentsLabelCmd `cmd:"" help:"Say whether an incident was worth its message: for serin report."`
}

// storeFlags are those of every command that reads the store.
type storeFlags struct {
	configFlag
	Store string `placeholder:"PATH" help:"Store file (default: that of the config, else the default place)."`
}

// read opens the store for reading, beside a running daemon too, and closes it after f.
func (c *storeFlags) read(ctx context.Context, o Options, f func(*store.Store) error) error {
	return c.with(ctx, o, true, f)
}

func (c *storeFlags) with(ctx context.Context, o Options, readOnly bool, f func(*store.Store) error) error {
	path, err := storePath(c.Store, c.Config)
	if err != nil {
		return err
	}
	st, err := openStore(ctx, path, o.Stderr, readOnly)
	if err != nil {
		return fail(ExitUsage, err)
	}
	return errors.Join(f(st), st.Close())
}

type incidentsShowCmd struct {
	storeFlags
	ID     string `arg:"" optional:"" help:"Id of an incident, as its message shows it. Default: list them."`
	Since  string `default:"7d" placeholder:"D" help:"List those that were open since: a duration (24h, 7d) or an RFC 3339 time."`
	Open   bool   `help:"List only those that are open."`
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

// Help shows an example.
func (incidentsShowCmd) Help() string {
	return "Examples:\n  serin incidents -c serin.toml --since 30d\n  serin incidents -c serin.toml 7f3k\n  serin incidents label -c serin.toml 7f3k true\nReads the store, also beside a running daemon."
}

// listed is an incident in a list.
type listed struct {
	alert.Incident
	Label *verdict `json:"label,omitempty"`
}

// Run lists incidents, or shows one.
func (c *incidentsShowCmd) Run(ctx context.Context, o Options) error {
	now := time.Now()
	since, err := parseSince(c.Since, now)
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("--since: %w", err))
	}
	return c.read(ctx, o, func(st *store.Store) error {
		labels, err := labelsOf(ctx, st)
		if err != nil {
			return err
		}
		if c.ID != "" {
			return c.one(ctx, st, labels, o.Stdout)
		}
		list, err := openSince(ctx, st, since, time.Time{}, c.Open)
		if err != nil {
			return err
		}
		if c.Format == "json" {
			return writeJSON(o.Stdout, withLabels(list, labels))
		}
		return writeIncidents(o.Stdout, withLabels(list, labels), now)
	})
}

func withLabels(list []alert.Incident, labels map[string]verdict) []listed {
	out := make([]listed, len(list))
	for i, in := range list {
		out[i].Incident = in
		if l, ok := labels[in.ID]; ok {
			out[i].Label = &l
		}
	}
	return out
}

// openSince returns the incidents that were open at some time in [since, until), oldest first; a zero until is no bound.
func openSince(ctx context.Context, st *store.Store, since, until time.Time, onlyOpen bool) ([]alert.Incident, error) {
	list, err := st.Incidents(ctx, store.IncidentQuery{Open: onlyOpen, Until: until})
	return slices.DeleteFunc(list, func(i alert.Incident) bool {
		return !i.Closed.IsZero() && i.Closed.Before(since)
	}), err
}

func (c *incidentsShowCmd) one(ctx context.Context, st *store.Store, labels map[string]verdict, w io.Writer) error {
	doc, err := daemon.Dossier(ctx, st, c.ID)
	if errors.Is(err, web.ErrNotFound) {
		return fail(ExitUsage, fmt.Errorf("%w: serin incidents lists them", err))
	} else if err != nil {
		return err
	}
	lines, body := web.Explain(doc)
	l, labelled := labels[c.ID]
	if c.Format == "json" {
		out := struct {
			Incident any      `json:"incident"`
			Label    *verdict `json:"label,omitempty"`
		}{Incident: body}
		if labelled {
			out.Label = &l
		}
		return writeJSON(w, out)
	}
	in := doc.Incident
	_, _ = fmt.Fprintf(w, "incident %s  %s  %s  %s  opened %s%s\n", in.ID, in.State, in.Severity, in.Scope, human.Time(in.Opened), closedText(in)) // the last write tells
	if targets := in.Targets(); len(targets) > 1 {
		_, _ = fmt.Fprintf(w, "targets: %s\n", strings.Join(targets, ", "))
	}
	if in.Acked != "" {
		_, _ = fmt.Fprintf(w, "acked by %s\n", in.Acked)
	}
	if labelled {
		_, _ = fmt.Fprintf(w, "labelled %s by %s at %s %s\n", l.Label, l.Who, human.Time(l.At), l.Why)
	}
	for _, line := range lines {
		_, err = fmt.Fprintln(w, line)
	}
	return err
}

func closedText(in alert.Incident) string {
	if in.Closed.IsZero() {
		return ""
	}
	return ", closed " + human.Time(in.Closed) + " after " + human.Duration(in.Closed.Sub(in.Opened))
}

// writeIncidents writes a table, the newest below.
func writeIncidents(w io.Writer, list []listed, now time.Time) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No incident in this time.")
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "ID\tSTATE\tSEVERITY\tSCOPE\tOPENED\tLASTED\tALERTS\tLABEL\t") // Flush tells
	for _, in := range list {
		end, label := in.Closed, "–"
		if end.IsZero() {
			end = now
		}
		if in.Label != nil {
			label = in.Label.Label
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t\n", in.ID, in.State, in.Severity, in.Scope, human.Time(in.Opened), human.Duration(end.Sub(in.Opened)), len(in.Members), label)
	}
	return out.Flush()
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// labelKey begins the key of the blob that holds an incident's label; the incident's id follows.
const labelKey = "label/"

// verdict is what a person thinks of an incident.
type verdict struct {
	Label string    `json:"label"` // true, false, useless
	Who   string    `json:"who"`
	Why   string    `json:"why,omitempty"`
	At    time.Time `json:"at"`
}

// labelsOf reads all labels, by incident.
func labelsOf(ctx context.Context, st *store.Store) (map[string]verdict, error) {
	blobs, err := st.Blobs(ctx, labelKey)
	if err != nil {
		return nil, err
	}
	out := make(map[string]verdict, len(blobs))
	for _, b := range blobs {
		var l verdict
		if err := json.Unmarshal(b.Body, &l); err != nil {
			return nil, fmt.Errorf("read %q: %w", b.Key, err)
		}
		out[b.Key[len(labelKey):]] = l
	}
	return out, nil
}

type incidentsLabelCmd struct {
	storeFlags
	ID    string `arg:"" help:"Id of the incident."`
	Label string `arg:"" enum:"true,false,useless" help:"true: something was wrong. false: nothing was. useless: something was, but nobody had to know."`
	Why   string `placeholder:"TEXT" help:"A word on it, for those who tune the rule."`
	Who   string `placeholder:"NAME" help:"Who: default is the user that runs this."`
}

// Help shows an example.
func (incidentsLabelCmd) Help() string {
	return "Example: serin incidents label -c serin.toml 7f3k false --why 'a load test of ours'\n\nThe newest label counts. serin report makes the precision of them. Works beside a running daemon."
}

// Run stores the label.
func (c *incidentsLabelCmd) Run(ctx context.Context, o Options) error {
	l := verdict{Label: c.Label, Who: orderFlags{Who: c.Who}.name(), Why: c.Why, At: time.Now().UTC()}
	body, err := json.Marshal(l)
	if err != nil {
		return err
	}
	err = c.with(ctx, o, false, func(st *store.Store) error {
		if _, err := daemon.Dossier(ctx, st, c.ID); errors.Is(err, web.ErrNotFound) {
			return fail(ExitUsage, fmt.Errorf("%w: serin incidents lists them", err))
		} else if err != nil {
			return err
		}
		return st.Commit(ctx, alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{{Key: labelKey + c.ID, Body: body}}}})
	})
	if err == nil {
		_, err = fmt.Fprintf(o.Stdout, "incident %s: %s\n", c.ID, c.Label)
	}
	return err
}
