package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"serin/alert"
)

// badge is a message's emoji and word.
func badge(m alert.Message) string {
	code, word := m.Badge()
	emoji := map[string]string{":red_circle:": "🔴", ":large_orange_circle:": "🟠", ":large_blue_circle:": "🔵", ":large_green_circle:": "🟢"}
	return strings.TrimSpace(emoji[code] + " " + word)
}

// title is the badge and the headline.
func title(m alert.Message) string { return badge(m) + "  " + alert.Clean(m.Headline) }

// body is what stands below the title: lines, links and footer, within a size. What there is no room for is counted; links
// and footer come before it is spent on lines.
func body(m alert.Message, room int, size func(string) int) string {
	var tail []string
	if m.Link != "" {
		tail = append(tail, "Incident: "+alert.Clean(m.Link))
	}
	if m.Runbook != "" {
		tail = append(tail, "Runbook: "+alert.Clean(m.Runbook))
	}
	if len(m.Footer) > 0 {
		tail = append(tail, alert.Clean(strings.Join(m.Footer, " · ")))
	}
	end := shorten(strings.Join(tail, "\n"), room/2, size)
	room -= size(end) + 60 // for the count of what is left out
	var out []string
	for i, l := range m.Lines {
		text := shorten(alert.Clean(l.Text), 1000, size)
		if room -= size(text) + 1; room < 0 {
			out = append(out, fmt.Sprintf("… %d lines left out for want of room", len(m.Lines)-i))
			break
		}
		out = append(out, text)
	}
	if end != "" {
		out = append(out, end)
	}
	return strings.Join(out, "\n")
}

// shorten cuts a text to a size, never inside a character.
func shorten(text string, most int, size func(string) int) string {
	if size(text) <= most {
		return text
	}
	used, end := size("…"), 0
	for i, r := range text {
		if used += size(string(r)); used > most {
			break
		}
		end = i + len(string(r))
	}
	return text[:end] + "…"
}

// octets is the size of a text in bytes of UTF-8.
func octets(text string) int { return len(text) }

// units is the size of a text in UTF-16 units.
func units(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// ids splits a mention: everybody, or who.
func ids(mention string) (all bool, who []string) {
	for _, id := range strings.FieldsFunc(mention, func(r rune) bool { return r == ',' || r == ' ' }) {
		id = strings.TrimPrefix(id, "@")
		if id == "all" {
			all = true
			continue
		}
		who = append(who, id)
	}
	return all, who
}

// mac64 is the base64 of HMAC-SHA256.
func mac64(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
