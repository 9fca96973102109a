package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"serin/baseline/store"
)

type exportCmd struct {
	configFlag
	Store string `placeholder:"PATH" help:"Store file (default: that of the config, else the default place)."`
	Marks bool   `help:"Marks in place of samples: the events on the time line."`
	Since string `default:"168h" placeholder:"D" help:"How far back: a duration (24h, 7d) or an RFC 3339 time."`
}

// Help shows an example.
func (exportCmd) Help() string {
	return "Example: serin export -c serin.toml --since 24h > samples.jsonl\n\nOne JSON object a line, canary by canary, each oldest first; what is not known is absent."
}

// Run writes samples as JSON lines to stdout.
func (c *exportCmd) Run(ctx context.Context, o Options) error {
	since, err := parseSince(c.Since, time.Now())
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("--since: %w", err))
	}
	path, err := storePath(c.Store, c.Config)
	if err != nil {
		return err
	}
	st, err := openStore(ctx, path, o.Stderr, true)
	if err != nil {
		return fail(ExitUsage, err)
	}
	out := bufio.NewWriter(o.Stdout)
	if c.Marks {
		err = writeMarks(ctx, st, since, out)
	} else {
		err = writeSamples(ctx, st, since, out)
	}
	return errors.Join(err, out.Flush(), st.Close())
}

func writeMarks(ctx context.Context, st *store.Store, since time.Time, out *bufio.Writer) error {
	list, err := st.Marks(ctx, store.MarkQuery{Since: since})
	if err != nil {
		return err
	}
	return writeLines(out, list)
}

func writeSamples(ctx context.Context, st *store.Store, since time.Time, out *bufio.Writer) error {
	enc := json.NewEncoder(out)
	for s, err := range st.Samples(ctx, store.Query{Since: since}) {
		if err != nil {
			return fmt.Errorf("read samples: %w", err)
		}
		if err := enc.Encode(s); err != nil {
			return fmt.Errorf("write sample: %w", err)
		}
	}
	return nil
}
