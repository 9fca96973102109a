package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"serin/alert/slack/slacktest"
)

const intro = `serin demo: a real daemon against two fake endpoints and a fake Slack, all in this process.
  %s/metrics   %s/api/v1/status

`

const outro = `
That was the whole loop: probe, compare with usual, alert, recover.
Next: serin check --base-url URL --model M --api-key-env VAR
(%s goes away with this demo)
`

// configText is the demo's config; only the minutes of the rule are set to seconds.
func configText(base, listen, storePath, tokenFile, slackURL string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[instance]\nname = \"demo\"\n[store]\ndsn = %q\n[http]\nlisten = %q\n", storePath, listen)
	fmt.Fprintf(&b, "[rule]\nresolve_for = \"5s\"\n[incident]\ngroup_wait = \"1s\"\n")
	fmt.Fprintf(&b, "[slack]\nbot_token_file = %q\nchannel = \"#llm-alerts\"\napi_url = %q\n", tokenFile, slackURL)
	for _, name := range targets() {
		fmt.Fprintf(&b, "[[target]]\nname = %q\nbase_url = %q\nmodel = %q\n", name, base, name)
	}
	fmt.Fprintf(&b, "[[scene]]\nname = %q\ntargets = [\"*\"]\n", scene)
	for _, size := range []string{"short", "medium", "long"} {
		fmt.Fprintf(&b, "%s = \"@every 2s\"\n", size)
	}
	return b.String()
}

// slackText renders a call's blocks as the reader sees them, one line each.
func slackText(c slacktest.Call) string {
	var blocks []struct {
		Text     *struct{ Text string }
		Elements []struct{ Text string }
	}
	if err := json.Unmarshal(c.Blocks, &blocks); err != nil || len(blocks) == 0 {
		return plainSlack(c.Text)
	}
	var lines []string
	for _, b := range blocks {
		if b.Text != nil {
			lines = append(lines, b.Text.Text)
		}
		for _, e := range b.Elements {
			lines = append(lines, e.Text)
		}
	}
	return plainSlack(strings.Join(lines, "\n"))
}

// slackDate is a time as Slack writes it, with what it shows where it cannot.
var slackDate = regexp.MustCompile(`<!date\^[^|>]*\|([^>]*)>`)

// plainSlack turns Slack's dates, escapes and emoji names into what is shown.
func plainSlack(s string) string {
	s = slackDate.ReplaceAllString(s, "$1")
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", ":red_circle:", "🔴", ":large_orange_circle:", "🟠", ":large_yellow_circle:", "🟡", ":warning:", "🟡",
		":large_green_circle:", "🟢", ":white_check_mark:", "✅", ":large_blue_circle:", "🔵").Replace(s)
}
