package message

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"serin/alert"
)

// DigestStory is what a digest tells: what happened from one time to another and paged nobody.
type DigestStory struct {
	From, To    time.Time
	Zone        *time.Location     // nil = UTC
	Transitions []alert.Transition // any: those that are events or changes of an endpoint are told
	Alerts      []alert.Alert      // that fired; those of severity info are told
	Instance    string
	Region      string
}

// maxDigestLines bounds the lines of one sort.
const maxDigestLines = 12

// ComposeDigest writes the digest; ok is false where there is nothing to tell.
func ComposeDigest(s DigestStory) (m alert.Message, ok bool) {
	s.Zone = cmp.Or(s.Zone, time.UTC)
	var b body
	var parts []string
	section := func(n int, noun string, lines []string) {
		if n > 0 {
			parts = append(parts, count(n, noun))
		}
		for i, text := range lines {
			if i == maxDigestLines {
				b.add("detail", "and "+count(len(lines)-i, "more line")+" of this sort; /api/v1/alerts/history has them all")
				break
			}
			b.add("detail", text)
		}
	}
	changes, levels, spikes := s.sorted()
	alone := s.alone()
	section(len(changes), "endpoint change", s.eventLines(changes))
	section(len(levels), "new level", s.eventLines(levels))
	section(len(alone), "minor alert", alone)
	section(len(spikes), "outlier", s.spikeLines(spikes))
	v := view{Story: Story{Instance: s.Instance, Region: s.Region, Now: s.To}, zone: s.Zone}
	return alert.Message{Severity: alert.Info, State: alert.MessageDigest, Lines: b, Footer: v.footer(),
		Headline: "non-paging findings, " + s.stamp(s.From) + " to " + s.To.In(s.Zone).Format(hourZone) + ": " + strings.Join(parts, ", ")}, len(parts) > 0
}

// stamp writes a time without a mark: headlines are plain text everywhere.
func (s DigestStory) stamp(t time.Time) string { return alert.PlainTimes(s.time(t)) }

func (s DigestStory) time(t time.Time) string { return moment(t, s.To, s.Zone, hour) }

// sorted takes the transitions apart: changes of an endpoint, levels that became usual, and single outliers.
func (s DigestStory) sorted() (changes, levels, spikes []alert.Transition) {
	for _, x := range s.Transitions {
		switch x.Event {
		case alert.EventSpike, alert.EventLow:
			spikes = append(spikes, x)
		case alert.EventAccept, alert.EventUndo, alert.EventReset:
			levels = append(levels, x)
		default:
			if x.Kind == alert.KindChange {
				changes = append(changes, x)
			}
		}
	}
	return changes, levels, spikes
}

// eventLines are one line each: 14:02 gw-eu / chat / short: the endpoint answers as model "b".
func (s DigestStory) eventLines(list []alert.Transition) []string {
	var out []string
	for _, x := range list {
		what := ""
		if x.Kind.Metric() != "" {
			what = " (" + subject(x.Kind) + ")"
		}
		out = append(out, s.time(x.At)+" "+spaced(x.Series)+what+": "+alert.OneLine(x.Reason, 300))
	}
	return out
}

// alone tells of alerts of severity info: 14:02 gw-eu / chat / short was slow for 12 min: first token up to 701 ms (2.3x).
func (s DigestStory) alone() []string {
	var out []string
	for _, a := range s.Alerts {
		if a.Severity != alert.Info {
			continue
		}
		text := s.time(a.Began()) + " " + spaced(a.Series)
		if a.Resolved.IsZero() {
			text += " is slow since then: "
		} else {
			text += " was slow for " + elapsed(a.LastBreach.Sub(a.Began())) + ": "
		}
		out = append(out, text+upTo(a.Kind, a.Worst))
	}
	return out
}

// upTo is the worst of a metric: first token up to 701 ms (2.3x).
func upTo(k alert.Kind, w alert.Evidence) string {
	if w.Value <= 0 {
		return metricName(k) + " up to " + times(w.Ratio) + " of usual"
	}
	return metricText(k, w.Value, "up to ") + " (" + times(w.Ratio) + ")"
}

// spikeLines gather outliers by series, the most frequent first: 4 outliers of gw-eu / chat / short: first token up to 8.4 s (4.2x).
func (s DigestStory) spikeLines(list []alert.Transition) []string {
	type series struct {
		name string
		kind alert.Kind
	}
	by := map[series][]alert.Transition{}
	var order []series
	for _, x := range list {
		key := series{spaced(x.Series), x.Kind}
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], x)
	}
	slices.SortStableFunc(order, func(a, b series) int { return len(by[b]) - len(by[a]) })
	var out []string
	for _, key := range order {
		far := slices.MaxFunc(by[key], func(a, b alert.Transition) int { return cmp.Compare(a.Evidence.Ratio, b.Evidence.Ratio) })
		out = append(out, count(len(by[key]), "outlier")+" of "+key.name+": "+upTo(key.kind, far.Evidence))
	}
	return out
}
