package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"serin/configs"
)

type costCmd struct {
	configFlag
	Store  string   `placeholder:"PATH" help:"Store file (default: that of the config, else the default place)."`
	Since  string   `default:"30d" placeholder:"D" help:"How far back: a duration (24h, 30d) or an RFC 3339 time. Days count whole; they are kept 400 days."`
	By     []string `default:"target" sep:"," placeholder:"BY" help:"Group by target, scene, size, day, model or label:NAME, or several with commas. Model and labels are those of the config."`
	Format string   `default:"text" enum:"text,csv,json" help:"text, csv or json."`
}

// Help shows an example.
func (costCmd) Help() string {
	return "Example: serin cost -c serin.toml --since 30d --by label:team\n\nWhat probing used, from daily sums by the scenes' own days. The cost is that of answers whose price and token counts are known; unpriced counts the others."
}

// Run prints what probing used.
func (c *costCmd) Run(ctx context.Context, o Options) error {
	since, err := parseSince(c.Since, time.Now())
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("--since: %w", err))
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	path := c.Store
	if path == "" && cfg != nil {
		path = findStore(cfg.Store.DSN, unitStore)
	} else if path == "" {
		if path, err = storePath("", ""); err != nil {
			return fail(ExitUsage, err)
		}
	}
	st, err := openStore(ctx, path, o.Stderr, true)
	if err != nil {
		return fail(ExitUsage, err)
	}
	days, err := st.Daily(ctx, since.UTC(), time.Time{})
	if err = errors.Join(err, st.Close()); err != nil {
		return err
	}
	list, total := bills(days, c.By, cfg)
	switch c.Format {
	case "json":
		return writeBillsJSON(o.Stdout, c.By, since.UTC(), list, total)
	case "csv":
		return writeBillsCSV(o.Stdout, c.By, list)
	}
	return writeBillsText(o.Stdout, c.By, since.UTC(), list, total)
}

// config checks --by and loads the config where there is one; nil without.
func (c *costCmd) config() (*configs.Config, error) {
	for _, by := range c.By {
		name, labelled := strings.CutPrefix(by, "label:")
		if labelled && name != "" || slices.Contains([]string{"target", "scene", "size", "day", "model"}, by) {
			continue
		}
		return nil, fail(ExitUsage, fmt.Errorf("--by %q: use target, scene, size, day, model or label:NAME", by))
	}
	if c.Config != "" {
		cfg, problems := configs.Load(configs.Options{Path: c.Config, NoSecrets: true})
		if err := configs.AsError(problems); err != nil {
			return nil, fail(ExitUsage, err)
		}
		return cfg, nil
	}
	for _, by := range c.By {
		if by == "model" || strings.HasPrefix(by, "label:") {
			return nil, fail(ExitUsage, fmt.Errorf("--by %s: models and labels stand in the config: name it with -c", by))
		}
	}
	return nil, nil
}

func writeBillsJSON(w io.Writer, by []string, since time.Time, list []bill, total bill) error {
	if list == nil {
		list = []bill{}
	}
	total.Group = []string{}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Since string   `json:"since"`
		By    []string `json:"by"`
		Rows  []bill   `json:"rows"`
		Total bill     `json:"total"`
	}{since.Format(time.DateOnly), by, list, total})
}

// counts returns the numbers of a bill in the order of countNames.
func (b *bill) counts() []int64 {
	return []int64{b.Probes, b.Skipped, b.InputTokens, b.CachedInputTokens, b.CacheWriteTokens, b.OutputTokens, b.ReasoningTokens}
}

func countNames() []string {
	return []string{"probes", "skipped", "input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens"}
}

// writeBillsCSV writes a header and a row a group; an unknown cost is an empty field.
func writeBillsCSV(w io.Writer, by []string, list []bill) error {
	out := csv.NewWriter(w)
	_ = out.Write(append(append(slices.Clone(by), countNames()...), "cost_usd", "unpriced")) // Error tells
	for i := range list {
		row := slices.Clone(list[i].Group)
		for _, n := range list[i].counts() {
			row = append(row, strconv.FormatInt(n, 10))
		}
		cost := ""
		if list[i].CostUSD != nil {
			cost = strconv.FormatFloat(*list[i].CostUSD, 'f', -1, 64)
		}
		_ = out.Write(append(row, cost, strconv.FormatInt(list[i].Unpriced, 10)))
	}
	out.Flush()
	return out.Error()
}

func writeBillsText(w io.Writer, by []string, since time.Time, list []bill, total bill) error {
	if len(list) == 0 {
		_, err := fmt.Fprintf(w, "No probe is in the store since %s.\n", since.Format(time.DateOnly))
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(out, "%s\tPROBES\tINPUT\tCACHED\tOUTPUT\tUSD\tUNPRICED\t\n", strings.ToUpper(strings.Join(by, "\t"))) // Flush tells
	line := func(b *bill) {
		cost := "–"
		if b.CostUSD != nil {
			cost = fmt.Sprintf("%.4f", *b.CostUSD)
		}
		_, _ = fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%s\t%d\t\n", strings.Join(b.Group, "\t"), b.Probes, b.InputTokens, b.CachedInputTokens, b.OutputTokens, cost, b.Unpriced)
	}
	for i := range list {
		line(&list[i])
	}
	total.Group = append([]string{"total"}, make([]string, len(by)-1)...)
	line(&total)
	if err := out.Flush(); err != nil {
		return err
	}
	if total.Unpriced > 0 {
		_, err := fmt.Fprintf(w, "The cost of %d probes is not known: their model has no [[price]], or no token counts came.\n", total.Unpriced)
		return err
	}
	return nil
}
