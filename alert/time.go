package alert

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// A time in the text of a message is a mark between two control characters, which foreign text has none of (see Clean): unix
// seconds, what is shown of it, and the fallback for channels that know nothing of the reader's zone.
var timeMark = regexp.MustCompile("\x02" + `(-?\d+)\|(\w+)\|([^\x02\x03]*)` + "\x03")

// TimeStyle is what is shown of a time.
type TimeStyle string

// The styles.
const (
	TimeOfDay  TimeStyle = "time"
	WithSecond TimeStyle = "secs"
	WithDate   TimeStyle = "date"
)

// MarkTime writes a time that the channel renders in the reader's zone where it can.
func MarkTime(t time.Time, style TimeStyle, fallback string) string {
	return fmt.Sprintf("\x02%d|%s|%s\x03", t.Unix(), style, fallback)
}

// RenderTimes replaces each time of a text by what show makes of it. A text that was cut inside a time loses the cut one.
func RenderTimes(text string, show func(t time.Time, style TimeStyle, fallback string) string) string {
	text = timeMark.ReplaceAllStringFunc(text, func(mark string) string {
		parts := timeMark.FindStringSubmatch(mark)
		unix, _ := strconv.ParseInt(parts[1], 10, 64) // digits by the pattern; one that overflows is the largest
		return show(time.Unix(unix, 0), TimeStyle(parts[2]), parts[3])
	})
	return cutMark.ReplaceAllString(text, "")
}

var cutMark = regexp.MustCompile("\x02.*|\x03")

// PlainTimes replaces each time of a text by its fallback.
func PlainTimes(text string) string {
	return RenderTimes(text, func(_ time.Time, _ TimeStyle, fallback string) string { return fallback })
}

// Plain returns the message with its times as plain text.
func (m Message) Plain() Message {
	m.Headline, m.Thread = PlainTimes(m.Headline), PlainTimes(m.Thread)
	lines := make([]Line, len(m.Lines))
	for i, l := range m.Lines {
		lines[i] = Line{Role: l.Role, Text: PlainTimes(l.Text)}
	}
	footer := make([]string, len(m.Footer))
	for i, text := range m.Footer {
		footer[i] = PlainTimes(text)
	}
	m.Lines, m.Footer = lines, footer
	return m
}
