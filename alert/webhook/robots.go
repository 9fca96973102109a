package webhook

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"serin/alert"
)

// Room for a message, below what each robot takes with the rest of its body.
const (
	roomFeishu   = 8_000 // bytes; a request may have 20 000, and JSON escapes take some
	roomDingTalk = 8_000
	roomWeCom    = 2_000 // of 2 048 bytes of a text
	roomTeams    = 9_000
	roomTelegram = 4_000 // of 4 096 UTF-16 units
)

// object is a JSON object.
type object = map[string]any

// writeFeishu writes a card of plain text: foreign text in it cannot become markup. Who is mentioned stands in an element
// of its own.
func writeFeishu(_ *Channel, m alert.Message, who string) (any, error) {
	color := "blue"
	switch _, word := m.Badge(); word {
	case "RESOLVED", "RECOVERED":
		color = "green"
	case "CRITICAL":
		color = "red"
	case "WARNING":
		color = "orange"
	}
	elements := []any{object{"tag": "div", "text": object{"tag": "plain_text", "content": body(m, roomFeishu, octets)}}}
	if at := feishuAt(who); at != "" {
		elements = append(elements, object{"tag": "div", "text": object{"tag": "lark_md", "content": at}})
	}
	if web(m.Link) {
		elements = append(elements, object{"tag": "action", "actions": []any{object{"tag": "button", "type": "primary", "url": m.Link,
			"text": object{"tag": "plain_text", "content": "Open incident"}}}})
	}
	return object{"msg_type": "interactive", "card": object{"config": object{"wide_screen_mode": true},
		"header":   object{"template": color, "title": object{"tag": "plain_text", "content": shorten("serin  "+title(m), 500, octets)}},
		"elements": elements}}, nil
}

func feishuAt(mention string) string {
	all, who := ids(mention)
	var out []string
	if all {
		out = append(out, "<at id=all></at>")
	}
	for _, id := range who {
		out = append(out, fmt.Sprintf("<at id=%s></at>", strings.NewReplacer("<", "", ">", "", " ", "").Replace(id)))
	}
	return strings.Join(out, " ")
}

// signFeishu puts time and signature into the body: the key is "time\nsecret", the text is empty.
func signFeishu(secret string, unix int64, d *draft) {
	stamp := strconv.FormatInt(unix, 10)
	d.fields["timestamp"], d.fields["sign"] = stamp, mac64(stamp+"\n"+secret, "")
}

// writeDingTalk writes plain text. The word serin is in it, for robots that ask for a keyword.
func writeDingTalk(_ *Channel, m alert.Message, who string) (any, error) {
	all, people := ids(who)
	text := "serin  " + shorten(title(m), 1000, octets) + "\n" + body(m, roomDingTalk, octets)
	var mobiles, users []string
	for _, id := range people {
		if strings.Trim(id, "+-0123456789") == "" {
			mobiles = append(mobiles, id)
		} else {
			users = append(users, id)
		}
		text += "\n@" + id // DingTalk wants the name in the text as well
	}
	at := object{"isAtAll": all}
	if len(mobiles) > 0 {
		at["atMobiles"] = mobiles
	}
	if len(users) > 0 {
		at["atUserIds"] = users
	}
	return object{"msgtype": "text", "text": object{"content": text}, "at": at}, nil
}

// signDingTalk puts time (ms) and signature into the URL.
func signDingTalk(secret string, unix int64, d *draft) {
	stamp := strconv.FormatInt(unix*1000, 10)
	u, err := url.Parse(d.url)
	if err != nil {
		return // the call says that the URL is none
	}
	q := u.Query()
	q.Set("timestamp", stamp)
	q.Set("sign", mac64(secret, stamp+"\n"+secret))
	u.RawQuery = q.Encode()
	d.url = u.String()
}

// writeWeCom writes plain text; <@id> in foreign text would mention.
func writeWeCom(_ *Channel, m alert.Message, who string) (any, error) {
	head := shorten(title(m), 600, octets)
	text := strings.ReplaceAll(head+"\n"+body(m, roomWeCom-len(head)-50, octets), "<@", "< @")
	content := object{"content": shorten(text, roomWeCom, octets)}
	all, people := ids(who)
	if all {
		people = append(people, "@all")
	}
	if len(people) > 0 {
		content["mentioned_list"] = people
	}
	return object{"msgtype": "text", "text": content}, nil
}

// writeTeams writes an adaptive card of text runs, in which nothing is markup.
func writeTeams(_ *Channel, m alert.Message, _ string) (any, error) {
	color := map[string]string{"RESOLVED": "good", "CRITICAL": "attention", "WARNING": "warning"}
	_, word := m.Badge()
	run := func(text string, more object) object {
		r := object{"type": "TextRun", "text": text}
		for k, v := range more {
			r[k] = v
		}
		return object{"type": "RichTextBlock", "inlines": []any{r}}
	}
	strong := object{"weight": "bolder", "size": "medium"}
	if c := color[word]; c != "" {
		strong["color"] = c
	}
	parts := []any{run(shorten(title(m), 2000, octets), strong)}
	for line := range strings.SplitSeq(body(m, roomTeams, octets), "\n") {
		parts = append(parts, run(line, nil))
	}
	card := object{"type": "AdaptiveCard", "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "version": "1.4", "body": parts}
	if web(m.Link) {
		card["actions"] = []any{object{"type": "Action.OpenUrl", "title": "Open incident", "url": m.Link}}
	}
	return object{"type": "message", "attachments": []any{object{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}}}, nil
}

// writeTelegram writes plain text: without parse_mode nothing in it is markup, but @name calls, so that foreign text has
// another sign there.
func writeTelegram(c *Channel, m alert.Message, who string) (any, error) {
	quiet := func(text string) string { return strings.ReplaceAll(text, "@", "＠") }
	head := quiet(shorten(title(m), 1000, units))
	if who != "" {
		_, people := ids(who)
		for _, id := range people {
			head += " @" + id
		}
	}
	text := head + "\n" + quiet(body(m, roomTelegram-units(head)-50, units))
	return object{"chat_id": c.opt.ChatID, "text": shorten(text, roomTelegram, units), "link_preview_options": object{"is_disabled": true}}, nil
}

// web reports whether a link is a web address.
func web(link string) bool {
	u, err := url.Parse(link)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
