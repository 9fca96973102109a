package slack

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf16"

	"serin/alert"
)

// escape makes text harmless in Slack's markup: <!channel> in it pings nobody.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(alert.Clean(text))
}

// size is a length as Slack counts it: UTF-16 units.
func size(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// fit escapes text, has its times shown in the reader's zone, and shortens it, never inside an entity or a time, so that it
// takes at most limit.
func fit(text string, limit int) string {
	text, dates := datesOf(text)
	var out strings.Builder
	used, room := 0, limit-1 // one for the dots
	short := ""
	for _, r := range alert.Clean(text) {
		piece := escapeRune(r, dates)
		used += size(piece)
		if used > room && short == "" {
			short = out.String() + "…"
		}
		if used > limit {
			return short
		}
		out.WriteString(piece)
	}
	return out.String()
}

// firstDate is the rune that stands for the first time of a text while it is cut to size: of a private area, from which
// foreign text is kept out.
const firstDate, lastDate = '\uE000', '\uF8FF'

// datesOf puts a rune in the place of each time of a text, and returns Slack's dates for them.
func datesOf(text string) (string, []string) {
	var dates []string
	text = strings.Map(func(r rune) rune {
		if r >= firstDate && r <= lastDate {
			return -1
		}
		return r
	}, text)
	text = alert.RenderTimes(text, func(t time.Time, style alert.TimeStyle, fallback string) string {
		if len(dates) > lastDate-firstDate {
			return fallback
		}
		show := map[alert.TimeStyle]string{alert.WithSecond: "{time_secs}", alert.WithDate: "{date_short_pretty} {time}"}[style]
		dates = append(dates, fmt.Sprintf("<!date^%d^%s|%s>", t.Unix(), cmp.Or(show, "{time}"), escape(fallback)))
		return string(firstDate + rune(len(dates)-1))
	})
	return text, dates
}

// escapeRune is escape for one rune, spaces kept; one that stands for a time becomes it.
func escapeRune(r rune, dates []string) string {
	switch {
	case r == '&':
		return "&amp;"
	case r == '<':
		return "&lt;"
	case r == '>':
		return "&gt;"
	case r >= firstDate && r < firstDate+rune(len(dates)):
		return dates[r-firstDate]
	}
	return string(r)
}

// cut shortens text to limit runes.
func cut(text string, limit int) string {
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}

// maxTarget is the longest link target.
const maxTarget = 1000

// link is a labelled link, or the label with the text where target is no web address. A target is not escaped: what
// would end it is percent-encoded.
func link(target, label string) string {
	u, err := url.Parse(alert.Clean(target))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || size(target) > maxTarget {
		return fit(label+": "+target, maxTarget)
	}
	safe := strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", " ", "%20").Replace(u.String())
	return "<" + safe + "|" + escape(label) + ">"
}
