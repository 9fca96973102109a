package telemetry

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
)

// seriesName renders name{a="b"} of labels, which are names and values in turn. Values are escaped as the text format wants:
// only \, " and newline.
func seriesName(name string, labels []string) string {
	if len(labels) == 0 {
		return name
	}
	esc := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		b.WriteString(labels[i] + `="` + esc.Replace(labels[i+1]) + `"`)
	}
	b.WriteByte('}')
	return b.String()
}

// Gauges collects gauges whose values are computed at the scrape.
type Gauges struct {
	registry *Registry
	buf      bytes.Buffer
}

// Add adds one series; labels are names and values in turn, beside the config's constant ones.
func (g *Gauges) Add(value float64, name string, labels ...string) {
	g.buf.WriteString(seriesName(name, g.registry.labels(labels...)) + " " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// writeFamilies writes lines of the text format grouped by family in table order, each with its HELP and TYPE. A line
// of no known family is an error: nothing may leave without its meaning.
func writeFamilies(w io.Writer, table []metric, lines []byte) error {
	byFamily := map[string][]string{}
	known := map[string]string{}
	for _, m := range table {
		known[m.Name] = m.Type
	}
	var stray []string
	scan := bufio.NewScanner(bytes.NewReader(lines))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		line := scan.Text()
		family := familyOf(line, known)
		if family == "" {
			stray = append(stray, line)
			continue
		}
		byFamily[family] = append(byFamily[family], line)
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("group metrics: %w", err)
	}
	for _, m := range table {
		writeFamily(w, m, byFamily[m.Name])
	}
	if len(stray) > 0 {
		return fmt.Errorf("metric without a family in the table: %s", stray[0])
	}
	return nil
}

func writeFamily(w io.Writer, m metric, lines []string) {
	if len(lines) == 0 {
		return
	}
	if m.Type != "histogram" { // a histogram's buckets are in order already
		sort.Strings(lines)
	}
	_, _ = fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", m.Name, m.Help, m.Name, m.Type) // a scraper that went away asks again
	for _, l := range lines {
		_, _ = io.WriteString(w, l+"\n")
	}
}

// familyOf returns the family of one line, "" when the table has none.
func familyOf(line string, known map[string]string) string {
	name := line
	if i := strings.IndexAny(line, "{ "); i >= 0 {
		name = line[:i]
	}
	if _, ok := known[name]; ok {
		return name
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && known[base] == "histogram" {
			return base
		}
	}
	return ""
}
