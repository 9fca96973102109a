package cli

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"serin/baseline/store"
	"serin/configs"
)

// bill is what a group of canaries used, summed over days. Its JSON is that of serin cost; cost_usd is absent where
// nothing of it is known.
type bill struct {
	Group             []string `json:"group"` // values in the order of --by
	Probes            int64    `json:"probes"`
	Skipped           int64    `json:"skipped"`
	InputTokens       int64    `json:"input_tokens"`
	CachedInputTokens int64    `json:"cached_input_tokens"`
	CacheWriteTokens  int64    `json:"cache_write_tokens"`
	OutputTokens      int64    `json:"output_tokens"`
	ReasoningTokens   int64    `json:"reasoning_tokens"`
	CostUSD           *float64 `json:"cost_usd,omitempty"`
	Unpriced          int64    `json:"unpriced"` // probes whose cost nobody knows; it is not in cost_usd
}

func (b *bill) add(d *store.Daily) {
	b.Probes += d.Probes
	b.Skipped += d.Skipped
	b.InputTokens += d.InputTokens
	b.CachedInputTokens += d.CachedInputTokens
	b.CacheWriteTokens += d.CacheWriteTokens
	b.OutputTokens += d.OutputTokens
	b.ReasoningTokens += d.ReasoningTokens
	b.Unpriced += d.Unpriced
	if d.CostUSD > 0 || d.Unpriced == 0 {
		if b.CostUSD == nil {
			b.CostUSD = new(float64)
		}
		*b.CostUSD += d.CostUSD
	}
}

// bills groups daily sums by by, the dearest first, then by tokens; also their total. Sums of targets that the config
// does not know are in the group "(not configured)" where the config is asked; of targets without the label in "(none)".
func bills(days []store.Daily, by []string, cfg *configs.Config) (list []bill, total bill) {
	at := map[string]int{}
	for i := range days {
		d := &days[i]
		group := make([]string, 0, len(by))
		for _, b := range by {
			group = append(group, groupOf(d, b, cfg))
		}
		key := strings.Join(group, "\x00")
		n, ok := at[key]
		if !ok {
			n = len(list)
			at[key], list = n, append(list, bill{Group: group})
		}
		list[n].add(d)
		total.add(d)
	}
	for i := range list {
		list[i].round()
	}
	total.round()
	slices.SortFunc(list, func(a, b bill) int {
		if len(by) > 0 && by[0] == "day" {
			return slices.Compare(a.Group, b.Group)
		}
		return cmp.Or(cmp.Compare(dollars(b), dollars(a)), cmp.Compare(b.InputTokens+b.OutputTokens, a.InputTokens+a.OutputTokens), slices.Compare(a.Group, b.Group))
	})
	return list, total
}

// round leaves out of the money what adding fractions made: prices are per million tokens, less than a billionth is none.
func (b *bill) round() {
	if b.CostUSD != nil {
		*b.CostUSD = math.Round(*b.CostUSD*1e9) / 1e9
	}
}

func dollars(b bill) float64 {
	if b.CostUSD == nil {
		return 0
	}
	return *b.CostUSD
}

// groupOf returns the value of one grouping for a sum.
func groupOf(d *store.Daily, by string, cfg *configs.Config) string {
	switch by {
	case "target":
		return d.Target
	case "scene":
		return d.Scene
	case "size":
		return d.Size
	case "day":
		return d.Day
	}
	for _, t := range cfg.Targets {
		if t.Name != d.Target {
			continue
		}
		if by == "model" {
			return t.Model
		}
		return cmp.Or(t.Labels[strings.TrimPrefix(by, "label:")], "(none)")
	}
	return "(not configured)"
}
