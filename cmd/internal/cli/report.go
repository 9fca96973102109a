package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"serin/alert"
	"serin/baseline/store"
	"serin/cmd/internal/human"
)

type reportCmd struct {
	storeFlags
	Month    string `placeholder:"YYYY-MM" help:"The month (default: this one)."`
	Timezone string `default:"UTC" placeholder:"ZONE" help:"IANA zone whose month it is."`
	Format   string `enum:"text,json" default:"text" help:"text or json."`
}

// Help shows an example.
func (reportCmd) Help() string {
	return "Example: serin report -c serin.toml --month 2026-11 --timezone Asia/Shanghai\n\nIncidents, messages, time firing, and the precision: of the labelled incidents, the share labelled true (serin incidents label). It reaches as far back as [store] retention."
}

// Run prints the sums of a month.
func (c *reportCmd) Run(ctx context.Context, o Options) error {
	now := time.Now()
	from, to, err := monthOf(c.Month, c.Timezone, now)
	if err != nil {
		return fail(ExitUsage, err)
	}
	return c.read(ctx, o, func(st *store.Store) error {
		r, err := sumMonth(ctx, st, from, to, now)
		if err != nil {
			return err
		}
		if c.Format == "json" {
			return writeJSON(o.Stdout, r)
		}
		return r.write(o.Stdout)
	})
}

// monthOf returns the first instant of a month and that of the next.
func monthOf(month, zone string, now time.Time) (from, to time.Time, err error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return from, to, fmt.Errorf("--timezone %q: use an IANA name such as Europe/Berlin", zone)
	}
	now = now.In(loc)
	from = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, loc)
	if month != "" {
		if from, err = time.ParseInLocation("2006-01", month, loc); err != nil {
			return from, to, fmt.Errorf("--month %q: write it as 2026-11", month)
		}
	}
	return from, from.AddDate(0, 1, 0), nil
}

// monthly is what serin report prints. Incidents count in the month in which they opened, the time firing in that in which
// it passed.
type monthly struct {
	From     time.Time      `json:"from"`
	To       time.Time      `json:"to"`
	Total    scopeMonth     `json:"total"`
	Scopes   []scopeMonth   `json:"scopes"` // most incidents first
	Messages map[string]int `json:"messages"`
}

// scopeMonth is the month of one target, or of all.
type scopeMonth struct {
	Scope     string   `json:"scope,omitempty"`
	Incidents int      `json:"incidents"` // announced
	Critical  int      `json:"critical"`  // of them
	Silent    int      `json:"untold"`    // over before anybody was told
	Firing    float64  `json:"firing_seconds"`
	True      int      `json:"labelled_true"`
	False     int      `json:"labelled_false"`
	Useless   int      `json:"labelled_useless"`
	Precision *float64 `json:"precision,omitempty"` // absent while nothing is labelled
}

func sumMonth(ctx context.Context, st *store.Store, from, to, now time.Time) (*monthly, error) {
	list, err := openSince(ctx, st, from, to, false)
	if err != nil {
		return nil, err
	}
	labels, err := labelsOf(ctx, st)
	if err != nil {
		return nil, err
	}
	notices, err := st.Notices(ctx, store.NoticeQuery{Since: from, Until: to, States: []alert.NoticeState{alert.NoticeSent}})
	if err != nil {
		return nil, err
	}
	r := &monthly{From: from, To: to, Messages: map[string]int{}}
	by := map[string]*scopeMonth{}
	for _, in := range list {
		if by[in.Scope] == nil {
			by[in.Scope] = &scopeMonth{Scope: in.Scope}
		}
		for _, s := range []*scopeMonth{by[in.Scope], &r.Total} {
			s.add(in, labels[in.ID].Label, from, to, now)
		}
	}
	for _, n := range notices {
		r.Messages[string(n.Act)]++
	}
	for _, s := range by {
		s.close()
		r.Scopes = append(r.Scopes, *s)
	}
	r.Total.close()
	slices.SortFunc(r.Scopes, func(a, b scopeMonth) int {
		return cmp.Or(b.Incidents-a.Incidents, cmp.Compare(b.Firing, a.Firing), cmp.Compare(a.Scope, b.Scope))
	})
	return r, nil
}

// add counts one incident.
func (s *scopeMonth) add(in alert.Incident, label string, from, to, now time.Time) {
	told := in.Revision > 0
	if told {
		end := in.Closed
		if end.IsZero() {
			end = now
		}
		from, to := slices.MaxFunc([]time.Time{in.Opened, from}, time.Time.Compare), slices.MinFunc([]time.Time{end, to}, time.Time.Compare)
		s.Firing += max(0, to.Sub(from).Seconds())
	}
	if in.Opened.Before(from) {
		return
	}
	if !told {
		s.Silent++
		return
	}
	s.Incidents++
	if in.Severity == alert.Critical {
		s.Critical++
	}
	switch label {
	case "true":
		s.True++
	case "false":
		s.False++
	case "useless":
		s.Useless++
	}
}

// close computes what the counts give.
func (s *scopeMonth) close() {
	if n := s.True + s.False + s.Useless; n > 0 {
		p := float64(s.True) / float64(n)
		s.Precision = &p
	}
}

func (r *monthly) write(w io.Writer) error {
	t := &r.Total
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) } // the table's Flush tells
	p("%s to %s", r.From.Format(time.RFC3339), r.To.Format(time.RFC3339))
	p("incidents  %d opened and told, %d of them critical; %d over before anybody was told", t.Incidents, t.Critical, t.Silent)
	p("firing     %s", human.Duration(time.Duration(t.Firing*float64(time.Second))))
	p("messages   %s", messagesText(r.Messages))
	p("precision  %s", t.precisionText())
	if len(r.Scopes) == 0 {
		return nil
	}
	p("")
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "SCOPE\tINCIDENTS\tCRITICAL\tFIRING\tTRUE\tFALSE\tUSELESS\t")
	for i := range r.Scopes {
		s := &r.Scopes[i]
		_, _ = fmt.Fprintf(out, "%s\t%d\t%d\t%s\t%d\t%d\t%d\t\n", s.Scope, s.Incidents, s.Critical, human.Duration(time.Duration(s.Firing*float64(time.Second))), s.True, s.False, s.Useless)
	}
	return out.Flush()
}

// messagesText says how many messages the channels took, by what they were.
func messagesText(by map[string]int) string {
	sum, text := 0, ""
	for _, act := range slices.Sorted(maps.Keys(by)) {
		sum += by[act]
		text += fmt.Sprintf(", %d %s", by[act], act)
	}
	return fmt.Sprintf("%d taken by channels%s", sum, text)
}

func (s *scopeMonth) precisionText() string {
	n := s.True + s.False + s.Useless
	if n == 0 {
		return "not known: no incident of the month is labelled (serin incidents label ID true|false|useless)"
	}
	return fmt.Sprintf("%.0f %% (%d true, %d false, %d useless; %d not labelled)", 100**s.Precision, s.True, s.False, s.Useless, s.Incidents-n)
}
