package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"serin/cmd/internal/human"
	"serin/configs"
	"serin/probe"
)

// maxLine bounds one line of an import.
const maxLine = 1 << 20

type importCmd struct {
	configFlag
	Store string `placeholder:"PATH" help:"Store file (default: that of the config, else the default place)."`
	Path  string `arg:"" help:"File with JSON lines, or - for standard input."`
}

// Help shows an example.
func (importCmd) Help() string {
	return "Example: serin import -c serin.toml samples.jsonl\n\nAny order; duplicates (canary, time, attempt) are ignored. A running daemon notices within seconds. A bad line stops the import and is named; what stood before it is stored."
}

// Run reads samples into the store.
func (c *importCmd) Run(ctx context.Context, o Options) error {
	in, closeIn, err := openInput(c.Path, o.Stdin)
	if err != nil {
		return fail(ExitUsage, err)
	}
	defer closeIn()
	path, err := storePath(c.Store, c.Config)
	if err != nil {
		return err
	}
	var cfg *configs.Config
	if c.Config != "" {
		cfg, _ = configs.Load(configs.Options{Path: c.Config, NoSecrets: true}) // nil with mistakes, which matter only where it names the store
	}
	st, err := openZoned(ctx, path, o.Stderr, false, cfg)
	if err != nil {
		return fail(ExitUsage, err)
	}
	bare := 0
	added, dup, err := st.Import(ctx, countBare(readSamples(in, c.Path), &bare))
	_, _ = fmt.Fprintf(o.Stderr, "%s added, %d were there already (store %s)\n", human.Plural(added, "sample"), dup, path)
	if bare > 0 {
		_, _ = fmt.Fprintf(o.Stderr, "%s with outcome ok and none of ttft_ms, ttfa_ms, tpot_ms, e2e_ms: no band learns from that; are the keys written so?\n", human.Plural(bare, "sample"))
	}
	if err != nil {
		err = fail(ExitUsage, err)
	}
	return errors.Join(err, st.Close())
}

// countBare passes samples on and counts those that succeeded and hold no measure: a mistyped key is ignored as JSON.
func countBare(in iter.Seq2[probe.Sample, error], n *int) iter.Seq2[probe.Sample, error] {
	return func(yield func(probe.Sample, error) bool) {
		for s, err := range in {
			if err == nil && s.Family == probe.FamilyOK && !s.TTFT.Known && !s.TTFA.Known && !s.TPOT.Known && !s.E2E.Known {
				*n++
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

func openInput(path string, stdin io.Reader) (io.Reader, func(), error) {
	if path == "-" {
		return stdin, func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read samples: %w", err)
	}
	return f, func() { _ = f.Close() }, nil // only read
}

// readSamples yields the samples of JSON lines; the first bad line is yielded as an error that names it, and ends it.
func readSamples(r io.Reader, name string) iter.Seq2[probe.Sample, error] {
	return func(yield func(probe.Sample, error) bool) {
		scan := bufio.NewScanner(r)
		scan.Buffer(make([]byte, 0, 64<<10), maxLine)
		n := 0
		for scan.Scan() {
			n++
			line := bytes.TrimSpace(scan.Bytes())
			if len(line) == 0 {
				continue
			}
			s, err := decodeSample(line)
			if err == nil {
				err = inTime(&s, time.Now())
			}
			if err != nil {
				yield(s, fmt.Errorf("%s line %d: %w", name, n, err))
				return
			}
			if !yield(s, nil) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			yield(probe.Sample{}, fmt.Errorf("%s after line %d: %w", name, n, err))
		}
	}
}

// maxAhead is how far a sample's clock may be ahead of ours.
const maxAhead = time.Hour

// inTime refuses a sample that is yet to come: it would stand for its slot when that comes.
func inTime(s *probe.Sample, now time.Time) error {
	if ahead := s.Time.Sub(now); ahead > maxAhead {
		return fmt.Errorf(`"time" is %s, %s in the future: mend its year or zone, or this machine's clock`, s.Time.Format(time.RFC3339), ahead.Round(time.Minute))
	}
	return nil
}

// decodeSample reads one sample and refuses what cannot be true and would poison a band.
func decodeSample(line []byte) (probe.Sample, error) {
	var s probe.Sample
	if err := json.Unmarshal(line, &s); err != nil {
		return s, fmt.Errorf("not a sample as JSON: %w", err)
	}
	switch {
	case s.Time.IsZero():
		return s, errors.New(`"time" is missing (RFC 3339, e.g. "2026-03-01T08:05:00Z")`)
	case s.Target == "" || s.Scene == "" || s.Size == "":
		return s, errors.New(`"target", "scene" and "size" must be there`)
	case !slices.Contains(probe.Sizes(), s.Size):
		return s, fmt.Errorf(`"size" is %q, it must be short, medium or long`, s.Size)
	case !slices.Contains(probe.Outcomes(), s.Outcome):
		return s, fmt.Errorf(`"outcome" is %q, which is none of the known ones (ok, ok_length, timeout_first_token, …)`, s.Outcome)
	}
	for _, x := range []struct{ key, name string }{{"target", s.Target}, {"scene", s.Scene}} {
		if !configs.IsName(x.name) {
			return s, fmt.Errorf("%q is %q, which no config can name: use 1 to 63 of a-z 0-9 . _ - with a letter or digit in front", x.key, x.name)
		}
	}
	for _, x := range []struct {
		name string
		d    probe.Span
	}{{"ttft_ms", s.TTFT}, {"ttfa_ms", s.TTFA}, {"tpot_ms", s.TPOT}, {"e2e_ms", s.E2E}} {
		name, d := x.name, x.d
		if d.Known && (d.D <= 0 || d.D > 24*time.Hour) {
			return s, fmt.Errorf("%q is %v, it must lie above 0 and below a day (86400000): leave it out where it is not known", name, d.Millis())
		}
	}
	if err := checkCounts(&s); err != nil {
		return s, err
	}
	for _, f := range s.Flags {
		if !slices.Contains(probe.Flags(), f) {
			return s, fmt.Errorf(`"flags" holds %q, which is none of %s: take it out`, f, flagNames())
		}
	}
	s.Family, s.Side = s.Outcome.Family(), s.Outcome.Side(s.Reason)
	return s, nil
}

// checkCounts refuses counts and amounts below 0.
func checkCounts(s *probe.Sample) error {
	for _, x := range []struct {
		key string
		n   int64
	}{{"input_tokens", s.InputTokens.V}, {"cached_input_tokens", s.CachedInputTokens.V}, {"cache_write_tokens", s.CacheWriteTokens.V},
		{"output_tokens", s.OutputTokens.V}, {"reasoning_tokens", s.ReasoningTokens.V}, {"chunks", int64(s.Chunks)}} {
		if x.n < 0 {
			return fmt.Errorf("%q is %d, it must not be negative: leave it out where it is not known", x.key, x.n)
		}
	}
	if s.CostUSD.V < 0 {
		return fmt.Errorf(`"cost_usd" is %v, it must not be negative: leave it out where it is not known`, s.CostUSD.V)
	}
	return nil
}

func flagNames() string {
	var names []string
	for _, f := range probe.Flags() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}
