package slack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"serin/alert"
)

func TestEscape(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := escape(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
	f("<!channel> & co", "&lt;!channel&gt; &amp; co")
	f("<@U123|you>", "&lt;@U123|you&gt;")
	f("&lt;", "&amp;lt;") // what is escaped already is text to us
	f("a\x00b\x1b[31mc", "ab[31mc")
	f("evil\u202egnp.exe", "evilgnp.exe")
	f("\u2066a\u2069\u200b\ufeffb", "ab")
	f("two\nlines\tand more", "two lines and more")
	f("bad \xff byte", "bad � byte")
	f("👩\u200d🚒", "👩\u200d🚒")
}

func TestFit(t *testing.T) {
	f := func(in string, limit int, want string) {
		t.Helper()
		if got := fit(in, limit); got != want {
			t.Errorf("fit(%q, %d) = %q, want %q", in, limit, got, want)
		}
	}
	f("short", 10, "short")
	f("&&&&", 11, "&amp;&amp;…")
	f("&&", 10, "&amp;&amp;")
	f("日本語日本語", 4, "日本語…")
	f("😀😀😀", 5, "😀😀…") // two units each
	since := "since " + alert.MarkTime(time.Unix(1772340790, 0), alert.TimeOfDay, "03:53 +08:00") + " & on"
	const date = "<!date^1772340790^{time}|03:53 +08:00>"
	f(since, 100, "since "+date+" &amp; on")
	f(since, len("since "+date)+1, "since "+date+"…")
	f(since, len("since "+date)-1, "since …") // never inside a time
	f(alert.MarkTime(time.Unix(5, 0), alert.WithSecond, "a"), 99, "<!date^5^{time_secs}|a>")
	f(alert.MarkTime(time.Unix(5, 0), alert.WithDate, "a"), 99, "<!date^5^{date_short_pretty} {time}|a>")
	f("a\uE000b", 99, "ab") // no foreign rune stands for a time
}

func TestLink(t *testing.T) {
	f := func(target, want string) {
		t.Helper()
		if got := link(target, "Runbook"); got != want {
			t.Errorf("link(%q) = %q, want %q", target, got, want)
		}
	}
	f("https://wiki.example/a?b=1&c=2", "<https://wiki.example/a?b=1&c=2|Runbook>")
	f("https://wiki.example/a|b> <!channel>", "<https://wiki.example/a%7Cb%3E%20%3C%21channel%3E|Runbook>")
	f("https://wiki.example/?q=x> <!channel>", "<https://wiki.example/?q=x%3E%20%3C!channel%3E|Runbook>")
	f("javascript:alert(1)", "Runbook: javascript:alert(1)")
	f("ask <!here>", "Runbook: ask &lt;!here&gt;")
	f("https://wiki.example/"+strings.Repeat("x", 4000), "Runbook: https://wiki.example/"+strings.Repeat("x", maxTarget-31)+"…")
}

func TestMention(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := mention(in); got != want {
			t.Errorf("mention(%q) = %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("<!here>", "<!here>")
	f("@here", "<!here>")
	f("channel", "<!channel>")
	f("U0123ABC", "<@U0123ABC>")
	f("S0123ABC", "<!subteam^S0123ABC>")
}

// TestHostileNames sends names that want to ping, to hide and to turn text round, through every foreign field.
func TestHostileNames(t *testing.T) {
	const evil = "<!channel> <@U1> <https://evil.example|log in> & \u202edrow\x00\x07"
	m := alert.Message{Severity: alert.Critical, State: "firing", Headline: evil, Lines: []alert.Line{{Role: evil, Text: evil}}, Incident: evil,
		Link: "https://serin.example/>" + evil, Runbook: evil, Footer: []string{evil, evil}, Thread: evil}
	for _, act := range []alert.Act{alert.ActOpen, alert.ActUpdate, alert.ActThread, alert.ActResolve, alert.ActTest} {
		synctest.Test(t, func(t *testing.T) {
			for _, make := range []func(*testing.T) string{
				func(t *testing.T) string { s, c := byToken(t); return traffic(t, c, s.Calls, act, m) },
				func(t *testing.T) string { s, c := byWebhook(t); return traffic(t, c, s.Calls, act, m) },
			} {
				sent := make(t)
				for _, bad := range []string{"<!", "<@", "<https://evil", "\u202e", "\x00", "\x07"} {
					if strings.Contains(sent, bad) {
						t.Errorf("%s: %q is in %s", act, bad, sent)
					}
				}
				if !strings.Contains(sent, "&lt;!channel&gt;") {
					t.Errorf("%s: the name is not there at all: %s", act, sent)
				}
			}
		})
	}
}

// TestLimits holds any message against Slack's limits.
func TestLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.IntRange(0, 5000), func(n int) string { return strings.Repeat("&<日😀", n) }))
		m := alert.Message{Severity: alert.Warning, State: "firing", Headline: text.Draw(t, "headline"), Footer: rapid.SliceOfN(text, 0, 5).Draw(t, "footer"),
			Link: text.Draw(t, "link"), Runbook: text.Draw(t, "runbook")}
		for i := range rapid.IntRange(0, 200).Draw(t, "lines") {
			m.Lines = append(m.Lines, alert.Line{Role: fmt.Sprint("role", i%3), Text: text.Draw(t, "line")})
		}
		p := whole(m, "<!here>")
		check(t, p)
		for _, other := range []payload{p.plain(), line(m, "<!here>"), ending(m, "<!here>")} {
			check(t, other)
		}
	})
}

func check(t *rapid.T, p payload) {
	if p.text == "" || size(p.text) > maxPlain || !utf8.ValidString(p.text) {
		t.Fatalf("text of %d units", size(p.text))
	}
	if len(p.blocks) > 50 {
		t.Fatalf("%d blocks", len(p.blocks))
	}
	for _, b := range p.blocks {
		raw, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Type     string
			Text     struct{ Text string }
			Elements []struct{ Text string }
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		limit := map[string]int{"header": maxHeader}[got.Type]
		if limit == 0 {
			limit = maxSection
		}
		for _, e := range got.Elements {
			got.Text.Text += e.Text
		}
		if n := size(got.Text.Text); n > limit || n == 0 {
			t.Fatalf("%s of %d units", got.Type, n)
		}
		if strings.Contains(strings.Replace(got.Text.Text, "<!here>", "", 1), "<!") {
			t.Fatalf("a mention in %q", got.Text.Text)
		}
	}
}

func TestDetailIsDroppedLastFirst(t *testing.T) {
	m := firing()
	for i := range 30 {
		m.Lines = append(m.Lines, alert.Line{Role: "detail", Text: fmt.Sprintf("%d %s", i, strings.Repeat("x", 1000))})
	}
	lines := bodyLines(m)
	if lines[0] != m.Lines[0].Text || lines[1] != m.Lines[1].Text || !strings.HasPrefix(lines[2], "0 x") {
		t.Errorf("the first lines are %q", lines[:3])
	}
	if last := lines[len(lines)-1]; last != "… 19 lines left out for want of room (detail)" || len(lines) != 2+11+1 {
		t.Errorf("%d lines, the last is %q", len(lines), last)
	}
}

func TestLongHeadline(t *testing.T) {
	m := firing()
	m.Headline = strings.Repeat("long name ", 30) + "TTFT 8.4 s"
	p := whole(m, "")
	if !strings.HasSuffix(p.text, "TTFT 8.4 s") {
		t.Errorf("the preview is cut: %q", p.text)
	}
	raw, err := json.Marshal(p.blocks)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(raw), "TTFT 8.4 s"); n != 1 {
		t.Errorf("the number stands %d times in the blocks: %s", n, raw)
	}
}
