package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"serin/alert"
	"serin/baseline/store"
	"serin/cmd/internal/daemon"
	"serin/cmd/internal/web"
)

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
