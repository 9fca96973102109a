package configs

import (
	"fmt"
	"strings"
)

// chapter is one table of the reference.
type chapter struct {
	name string // key in the schema
	head string // as written in a file
	text string
}

func chapters() []chapter {
	return []chapter{
		{"instance", "[instance]", "This process."},
		{"store", "[store]", "Where samples, bands, alerts and messages are kept."},
		{"http", "[http]", "Page, API, health and metrics. The listen address must be loopback unless `token_file` or `allow_public` is given."},
		{"http.token", "[[http.token]]", "A token of its own for a person or a machine: its name is the author of what it does. With any token, everything but health asks for one; `token_file` above may do everything. A changed file is read again; one that is taken away lets nobody in."},
		{"log", "[log]", ""},
		{"metrics", "[metrics]", ""},
		{"target_defaults", "[target_defaults]", "Values for every target: the nearest wins, target before provider before defaults; tables such as `labels` and `headers` are merged key by key."},
		{"provider", "[[provider]]", "One base URL, one credential, shared limits: what targets name by `provider`. It takes the keys of a target, with these meanings of its own."},
		{"target", "[[target]]", "One model of an endpoint. A credential is given in one of three ways; one written into the file is refused unless `allow_plain_secrets = true` stands at the top.\n\n" + protocolForms},
		{"scene", "[[scene]]", "A business use with its own prompts, schedules and baselines. Every target of it and every size make one canary."},
		{"size", "short, medium, long as tables", "A size is a cron string, or a table with these keys."},
		{"rule", "[rule] and [scene.rule]", "When a canary alerts. The scene's keys win over `[rule]`, those over the preset: `balanced` as below; `sharp` (fires when the last checks fit a step up far better than what this endpoint's level does by itself, with up to 9 re-probes: sees more of ×1.5); `literal` (mean + 2 standard deviations of exactly that slot, every value by itself; about 295 false alerts a month and series on a simulator where balanced gives 0.1)."},
		{"baseline", "[baseline]", "What a value is compared with."},
		{"incident", "[incident]", "When people are told."},
		{"budget", "[budget]", "What probing may use, for each target and day; `budget_tokens` and `budget_usd` of a target win. People are told once at 80 % and once at 100 %, where probing stops until midnight; a probe under way is taken at its output cap, and so is one that broke off. Skipped runs are stored and counted with reason `budget`."},
		{"heartbeat", "[heartbeat]", "A dead man's switch: serin GETs the URL after each completed round of probes, so that a watcher elsewhere notices when no more come. A round is complete when every run that was due has come to its end: sent, answered or failed, and judged; runs held back by a budget, a refused key or a `Retry-After` count as ended, those without room do not. Let the watcher wait for the longest interval of your schedules and 15 minutes."},
		{"digest", "[digest]", "What woke nobody, once a day as one message: changes of an endpoint, levels that became normal, canaries that were slow alone, single odd values. Nothing is sent on a day without any."},
		{"slack", "[slack]", "Either a webhook, or a bot token with a channel (threads and edits). It is the short form of one `[[channel]]` named slack."},
		{"channel", "[[channel]]", "One more place where people are told; there may be many. The keys `name` and `type` and those of its type:\n\n" + channelTypesText()},
		{"route", "[[route]]", "Which channels an incident goes to: those of every route that matches. Without routes, and where none matches, it goes to all channels. It stays with its channels for its whole life; when its severity rises, those that now match join with an opening."},
		{"maintenance", "[[maintenance]]", "A planned window that comes again. What matches goes on being judged and nobody is told; its samples are in no band; at the end one message sums up what fired inside, and what fires still is told properly. When: `schedule` and `duration`; or `from` and `until` of the day, on `weekdays`, also across midnight; or `from` and `until` as times. A local time that exists twice (autumn) begins a window of `from` the first time and ends it the second time, and begins one of `schedule` both times; one that does not exist (spring) is the instant of the jump, so that a window within the gap does not come that day."},
		{"price", "[[price]]", "US dollars per million tokens; the first whose `model` matches and whose `from` is past counts; the cost of a sample is that of its own day."},
	}
}

// Reference returns the key reference in Markdown: every key with its type, default and meaning.
func Reference() (string, error) {
	var b strings.Builder
	b.WriteString("# Config reference\n\n" + referenceHead)
	s := schema()
	for _, c := range chapters() {
		table := s.chapter(c.name)
		fmt.Fprintf(&b, "\n## `%s`\n\n", c.head)
		if c.text != "" {
			b.WriteString(c.text + "\n\n")
		}
		if c.name == "target_defaults" {
			continue // the keys of a target
		}
		b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
		if err := writeKeys(&b, c.name, table); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

const referenceHead = `Generated from the code; a test keeps it fresh. One TOML file, or a directory whose ` + "`*.toml`" + ` are read in name order (a key
defined twice is an error; ` + "`[[target]]`, `[[provider]]`, `[[scene]]`, `[[price]]`, `[[channel]]`, `[[route]]`, `[[maintenance]]` and `[[http.token]]`" + ` add up). Unknown keys are errors. A duration is a string with
a unit: ms, s, m, h, d. Paths are relative to the file that names them. ` + "`SERIN__TABLE__KEY`" + ` in the environment overrides a scalar of a
single table, such as ` + "`SERIN__LOG__LEVEL=debug`" + `. At the top of the file, ` + "`allow_plain_secrets = true`" + ` lets secrets stand in it.
`

// chapter returns the table that a chapter of the reference is about.
func (s *spec) chapter(name string) *spec {
	switch name {
	case "http.token":
		return s.keys["http"].keys["token"]
	case "size":
		return s.keys["scene"].keys["short"]
	}
	return s.keys[name]
}

// writeKeys writes the rows of a table; a key whose meaning is empty has its own chapter or that of [[target]].
func writeKeys(b *strings.Builder, chapter string, table *spec) error {
	for _, key := range table.names() {
		s := table.keys[key]
		text, ok := meaning(chapter, key)
		if !ok {
			return fmt.Errorf("write reference: no meaning for %s.%s", chapter, key)
		}
		if text == "" {
			continue
		}
		def := s.def
		if def != "" {
			def = "`" + def + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", key, s.kind, def, text)
	}
	return nil
}
