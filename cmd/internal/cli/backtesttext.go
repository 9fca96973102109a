package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/replay"
	"serin/cmd/internal/human"
)

// backtested is what one rule made of the samples.
type backtested struct {
	Rule     string
	Subjects []subject
	Result   replay.Result
}

// writeEvents writes a decision a line; with two rules, each says which one it is of.
func writeEvents(w io.Writer, tests []backtested) error {
	enc := json.NewEncoder(w)
	for _, t := range tests {
		for _, e := range t.Result.Events {
			line := struct {
				Rule string `json:"rule,omitempty"`
				replay.Event
			}{Event: e}
			if len(tests) > 1 {
				line.Rule = t.Rule
			}
			if err := enc.Encode(line); err != nil {
				return fmt.Errorf("write decision: %w", err)
			}
		}
	}
	return nil
}

// writeBacktest writes the alerts of each rule with their sums, and the rules side by side where there are two.
func writeBacktest(w io.Writer, tests []backtested) error {
	for i := range tests {
		t := &tests[i]
		if len(tests) > 1 {
			_, _ = fmt.Fprintf(w, "rule %s\n", t.Rule)
		}
		t.write(w)
	}
	if len(tests) < 2 {
		return nil
	}
	_, _ = fmt.Fprintf(w, "%-28s %8s %14s %12s %9s\n", "rule", "alerts", "/series-month", "firing", "re-probes")
	for i := range tests {
		s := tests[i].sums()
		_, _ = fmt.Fprintf(w, "%-28s %8d %14.2f %12s %9d\n", tests[i].Rule, s.all.alerts, s.perMonth(), human.Duration(s.all.firing), tests[i].Result.Extra)
	}
	return nil
}

func (t *backtested) write(w io.Writer) {
	for _, x := range t.spells() {
		_, _ = fmt.Fprintln(w, x)
	}
	s := t.sums()
	_, _ = fmt.Fprintf(w, "%s and %s judged; %d latency series, %.1f series-months\n", human.Plural(t.Result.Regular, "sample"), human.Plural(t.Result.Extra, "re-probe"), s.series, s.months)
	if n := t.Result.Unanswered; n > 0 {
		_, _ = fmt.Fprintf(w, "%s asked for that no sample answers: there an alert waited for the next regular runs\n", human.Plural(n, "re-probe"))
	}
	_, _ = fmt.Fprintf(w, "%d latency alerts: %.2f a series and month, firing %s", s.latency.alerts, s.perMonth(), human.Duration(s.latency.firing))
	if s.months > 0 {
		_, _ = fmt.Fprintf(w, " (%.2f %% of the time)", 100*s.latency.firing.Hours()/(s.months*30*24))
	}
	_, _ = fmt.Fprintln(w)
	if n := s.all.alerts - s.latency.alerts; n > 0 {
		_, _ = fmt.Fprintf(w, "%d alerts of timeouts, errors and limits, firing %s\n", n, human.Duration(s.all.firing-s.latency.firing))
	}
	for _, name := range s.names {
		x := s.by[name]
		_, _ = fmt.Fprintf(w, "  %-40s %4d alerts, firing %s\n", name, x.alerts, human.Duration(x.firing))
	}
	_, _ = fmt.Fprintln(w)
}

// spell is one alert from its opening to its end.
type spell struct {
	open     replay.Event
	end      time.Time // zero: it never ended
	severity alert.Severity
	worst    *alert.Evidence
	why      string // it ended
}

// spells pairs openings with their ends, in the order of the openings.
func (t *backtested) spells() []*spell {
	var list []*spell
	byID := map[string]*spell{}
	for _, e := range t.Result.Events {
		x := byID[e.ID]
		switch {
		case e.Event == replay.EventOpen:
			x = &spell{open: e, severity: e.Severity, worst: e.Worst}
			byID[e.ID] = x
			list = append(list, x)
		case x == nil:
		case e.Event == replay.EventResolve:
			x.end, x.worst, x.severity, x.why = e.Time, e.Worst, e.Severity, e.Reason
		default:
			x.worst, x.severity = e.Worst, e.Severity
		}
	}
	return list
}

// String is one line: what, when, why, how bad.
func (x *spell) String() string {
	var b strings.Builder
	end := "still open"
	if !x.end.IsZero() {
		end = x.end.Format("01-02 15:04:05") + " (" + human.Duration(x.end.Sub(x.open.Time)) + ")"
	}
	fmt.Fprintf(&b, "%s  %s  %-8s %-36s → %s  %s", x.open.Time.Format("2006-01-02 15:04:05"), x.severity, x.open.Kind, x.open.Series, end, x.open.Reason)
	if p := x.worst; p.Value > 0 {
		fmt.Fprintf(&b, "; peak %s", human.Seconds(p.Value))
		fixed := p.Mean == 0 && p.Limit > 0
		if fixed {
			fmt.Fprintf(&b, ", ×%.2f of the fixed limit of %s", p.Ratio, human.Seconds(p.Limit))
		} else if p.Ratio > 0 {
			fmt.Fprintf(&b, " (×%.2f)", p.Ratio)
		}
		if p.Limit > 0 && !fixed {
			fmt.Fprintf(&b, ", limit %s", human.Seconds(p.Limit))
		}
	} else if p.Ratio > 0 {
		fmt.Fprintf(&b, "; peak ×%.2f", p.Ratio)
	} else if p.Outcome != "" {
		fmt.Fprintf(&b, "; %s", p.Outcome)
	}
	if x.why != "" {
		fmt.Fprintf(&b, "; resolved: %s", x.why)
	}
	return b.String()
}

// tally counts alerts.
type tally struct {
	alerts int
	firing time.Duration
}

func (t tally) plus(d time.Duration) tally { return tally{t.alerts + 1, t.firing + d} }

// sums is the summary of one rule.
type sums struct {
	all, latency tally
	series       int
	months       float64 // of all series together, 30 days each
	by           map[string]tally
	names        []string // of by: most alerts first
}

func (s sums) perMonth() float64 {
	if s.months == 0 {
		return 0
	}
	return float64(s.latency.alerts) / s.months
}

func (t *backtested) sums() sums {
	s := sums{by: map[string]tally{}}
	var last time.Time
	for i := range t.Subjects {
		x := &t.Subjects[i]
		n := len(x.series())
		s.series += n
		s.months += float64(n) * x.tape.Last.Sub(x.tape.First).Hours() / (30 * 24)
		if x.tape.Last.After(last) {
			last = x.tape.Last
		}
	}
	for _, x := range t.spells() {
		end := x.end
		if end.IsZero() {
			end = last
		}
		d := max(0, end.Sub(x.open.Time))
		s.all = s.all.plus(d)
		if x.open.Metric != "" {
			s.latency = s.latency.plus(d)
		}
		name := x.open.Series + " " + string(x.open.Kind)
		if _, known := s.by[name]; !known {
			s.names = append(s.names, name)
		}
		s.by[name] = s.by[name].plus(d)
	}
	slices.SortFunc(s.names, func(a, b string) int { return cmp.Or(cmp.Compare(s.by[b].alerts, s.by[a].alerts), cmp.Compare(a, b)) })
	return s
}
