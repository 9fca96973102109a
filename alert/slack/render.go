package slack

import (
	"cmp"
	"fmt"
	"strings"

	api "github.com/slack-go/slack"

	"serin/alert"
)

// Slack's limits, and ours below them: a message that nobody can read on a phone helps nobody.
const (
	maxHeader  = 150
	maxSection = 3000
	maxBody    = 12_000 // of all lines together; Slack takes 50 blocks and 40 000 of text
	maxPlain   = 40_000 // of a message without blocks
)

// payload is what goes to Slack: text is the preview of phones, and all there is where blocks is nil.
type payload struct {
	text   string
	blocks []api.Block
	full   string // the message as text alone
}

// plain is the payload without blocks.
func (p payload) plain() payload { return payload{text: p.full, full: p.full} }

// options are the payload for slack-go. Text is escaped already.
func (p payload) options() []api.MsgOption {
	text := api.MsgOptionText(p.text, false)
	if p.blocks == nil {
		return []api.MsgOption{text}
	}
	return []api.MsgOption{text, api.MsgOptionBlocks(p.blocks...)}
}

// whole is a message with everything: header, body, links, footer. who is mentioned, "" = nobody.
func whole(m alert.Message, who string) payload {
	head := alert.PlainTimes(m.Headline) // phones and headers show no dates
	m.Headline = head
	head = headline(m, head)
	body := bodyLines(m)
	if who != "" {
		body = append([]string{who}, body...)
	}
	long := size(head) > maxHeader
	if long { // the header is cut: the whole headline stands below it
		body = append([]string{fit(m.Headline, maxSection)}, body...)
	}
	links, foot := linkLine(m), fit(strings.Join(m.Footer, " · "), maxSection)
	blocks := []api.Block{api.NewHeaderBlock(api.NewTextBlockObject(api.PlainTextType, fitHeader(m), true, false))}
	for _, text := range append(sections(body), links) {
		if text != "" {
			blocks = append(blocks, api.NewSectionBlock(markup(text), nil, nil))
		}
	}
	if foot != "" {
		blocks = append(blocks, api.NewContextBlock("", markup(foot)))
	}
	return payload{text: head, blocks: blocks, full: joined(append(append([]string{head}, body...), links, foot))}
}

// line is a message for a thread: text alone.
func line(m alert.Message, who string) payload {
	lines := []string{headline(m, m.Headline)}
	if who != "" {
		lines[0] += " " + who
	}
	text := joined(append(lines, bodyLines(m)...))
	return payload{text: text, full: text}
}

// ending is what a resolve or a reopening adds to the thread.
func ending(m alert.Message, who string) payload {
	text := headline(m, cmp.Or(m.Thread, m.Headline))
	if who != "" {
		text += " " + who
	}
	return payload{text: text, full: text}
}

// headline is the badge and one line of text, escaped.
func headline(m alert.Message, text string) string {
	emoji, word := m.Badge()
	return emoji + " " + word + "  " + fit(text, maxSection-100)
}

// fitHeader is the headline as a header block takes it.
func fitHeader(m alert.Message) string {
	emoji, word := m.Badge()
	badge := emoji + " " + word + "  "
	return badge + fit(m.Headline, maxHeader-size(badge))
}

// markup is a text object in which Slack turns nothing into a link or a mention by itself.
func markup(text string) *api.TextBlockObject {
	return api.NewTextBlockObject(api.MarkdownType, text, false, true)
}

// bodyLines are the lines of a message, escaped, as many as there is room for, the rest counted.
func bodyLines(m alert.Message) []string {
	var out []string
	room := maxBody
	for i, l := range m.Lines {
		text := fit(l.Text, maxSection)
		if room -= size(text) + 1; room < 0 {
			return append(out, dropped(m.Lines[i:]))
		}
		out = append(out, text)
	}
	return out
}

// dropped says what there was no room for.
func dropped(lines []alert.Line) string {
	if len(lines) == 1 {
		return fmt.Sprintf("… 1 line left out for want of room (%s)", escape(lines[0].Role))
	}
	return fmt.Sprintf("… %d lines left out for want of room (%s)", len(lines), roles(lines))
}

// roles names the roles of lines once each, in their order.
func roles(lines []alert.Line) string {
	var names []string
	seen := map[string]bool{}
	for _, l := range lines {
		if !seen[l.Role] {
			seen[l.Role] = true
			names = append(names, escape(l.Role))
		}
	}
	return strings.Join(names, ", ")
}

// sections packs lines into texts that a section takes.
func sections(lines []string) []string {
	var out []string
	for _, l := range lines {
		last := len(out) - 1
		if last >= 0 && size(out[last])+1+size(l) <= maxSection {
			out[last] += "\n" + l
			continue
		}
		out = append(out, l)
	}
	return out
}

// linkLine is the one main link, and the runbook.
func linkLine(m alert.Message) string {
	var parts []string
	if m.Link != "" {
		parts = append(parts, "*"+link(m.Link, "Open incident")+"*")
	}
	if m.Runbook != "" {
		parts = append(parts, link(m.Runbook, "Runbook"))
	}
	return strings.Join(parts, " · ")
}

// joined joins what is not empty, one a line, within the limit of a message.
func joined(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if l == "" || size(b.String())+size(l)+1 > maxPlain {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l)
	}
	return b.String()
}
