package configs

// meaning returns what a key means, for the reference; ok is false where nobody has written it. An empty meaning keeps a
// key out of its chapter.
func meaning(chapter, key string) (text string, ok bool) {
	switch chapter {
	case "target":
		text, ok = targetMeanings()[key]
	case "provider":
		if text, ok = providerMeanings()[key]; !ok {
			_, ok = targetMeanings()[key] // as in [[target]]
			return "", ok
		}
	case "scene", "size":
		text, ok = sceneMeanings()[chapter+"."+key]
	case "rule":
		text, ok = ruleMeanings()[key]
	case "maintenance", "http.token":
		text, ok = windowMeanings()[chapter+"."+key]
	case "slack":
		text, ok = slackMeanings()[key]
	case "channel", "route":
		text, ok = channelMeanings()[chapter+"."+key]
	default:
		text, ok = singleMeanings()[chapter+"."+key]
	}
	return text, ok
}

func targetMeanings() map[string]string {
	return map[string]string{
		"name":                "1 to 63 of `a-z 0-9 . _ -`, a letter or digit first; part of the canaries' keys",
		"title":               "free text for people",
		"provider":            "name of a `[[provider]]`; without one the target stands by itself",
		"protocol":            "the dialect of the endpoint: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `ollama`, `azure-openai`",
		"base_url":            "without the endpoint's path, which the protocol adds; a query is kept; see the forms above",
		"model":               "as the endpoint calls it",
		"labels":              "for `select` of scenes, such as `{ tier = \"prod\" }`",
		"api_key_env":         "environment variable that holds the key",
		"api_key_file":        "file that holds the key; read again when it changes and after a 401",
		"api_key_credential":  "name of a systemd credential, below `$CREDENTIALS_DIRECTORY`",
		"api_key":             "the key itself; only with `allow_plain_secrets = true`",
		"auth":                "how the key is sent: `bearer`, `x-api-key`, `api-key`, `x-goog-api-key`, `none`; default the protocol's own way",
		"headers":             "sent as they are; secret ones belong into `headers_env`",
		"headers_env":         "header name → environment variable with its value",
		"extra_body":          "merged into the request's JSON, object by object; may not overwrite what the probe sends itself",
		"proxy":               "URL (http, https, socks5), or `none`; default from `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`",
		"ca_file":             "PEM file with certificates trusted beside the system's",
		"connection":          "`new` dials for each probe, `reuse` keeps a connection",
		"max_in_flight":       "most probes of the target at once",
		"cache":               "`bust` puts a nonce in front of each prompt, so that prefix caches do not hit; `keep` does not",
		"reasoning":           "the model thinks before it answers: first-token timeout of 180 s, output cap of 4096, which openai-chat and azure-openai call `max_completion_tokens`",
		"reasoning_effort":    "how much to think, in the endpoint's own word: `reasoning_effort`, `reasoning.effort`, `thinkingLevel` or `think` of the request; default not sent; not for anthropic",
		"context_limit":       "tokens of input and output that the model takes; canaries that do not fit are an error; 0 = not known",
		"max_tokens":          "output cap that overrides every size's; 0 = the size's",
		"connect_timeout":     "DNS, TCP and TLS",
		"first_token_timeout": "from sending to the first token; default 30 s short, 60 s medium, 120 s long, 180 s reasoning",
		"stall_timeout":       "longest silence after the first token",
		"total_timeout":       "of the whole answer",
		"budget_tokens":       "input and output tokens a day; default that of `[budget]`; 0 = no bound",
		"budget_usd":          "US dollars a day, by `[[price]]`; default that of `[budget]`; 0 = no bound",
		"traceparent":         "send a W3C `traceparent`, and keep its trace id with the sample",
	}
}

func providerMeanings() map[string]string {
	return map[string]string{
		"name":          "what targets name by `provider`; a name as of a target",
		"title":         "free text for people",
		"max_in_flight": "most probes of all its targets together, and of each target that has none of its own",
	}
}

func sceneMeanings() map[string]string {
	return map[string]string{
		"scene.name":     "a name as of a target; part of the canaries' keys",
		"scene.title":    "free text for people",
		"scene.targets":  "names or globs: `[\"gw-eu\", \"us-*\"]`; each must match",
		"scene.select":   "in place of `targets`: labels that a target must have, values may be globs",
		"scene.timezone": "IANA zone of the schedules and of the half hours that are compared",
		"scene.language": "of the built-in prompts: `en`, `zh`",
		"scene.metrics":  "what is judged: `ttft`, `tpot`, `ttfa`, `e2e`",
		"scene.runbook":  "URL shown with alerts",
		"scene.short":    "schedule of short canaries (about 30 input tokens): five cron fields, `@hourly`, `@every 30s`; or a table, see below",
		"scene.medium":   "as `short`, about 500 input tokens",
		"scene.long":     "as `short`, about 4000 input tokens",
		"scene.rule":     "see `[rule]`",

		"size.schedule":     "cron; at least 14 runs in 7 days, on at least 3 of them",
		"size.input_tokens": "aimed length of the built-in prompts; 0 = the size's own",
		"size.max_tokens":   "output cap; 0 = 512, for reasoning models 4096",
		"size.prompts":      "own prompts: plain-text files, taken in turn",
		"size.expect":       "what the answer must be like, all of: `contains`, `regex`, `json = true`, `json_field = \"a.b[0]\"`, `json_equals` (of that field), `max_length` (characters), `language` (`en`, `zh`: most words in its script); a miss is marked, not alerted",
		"size.spread":       "bound of the fixed delay that keeps canaries apart; default the interval, at most 5 min; `\"0s\"` = none",
	}
}

func ruleMeanings() map[string]string {
	return map[string]string{
		"preset":        "`balanced`, `sharp`, `literal`",
		"sigma":         "standard deviations from usual to the limit",
		"kappa":         "factor that makes them honest for seven days of data",
		"m":             "breaches …",
		"n":             "… of the last n observations fire (unless m or n are set: 5 of 6 at intervals of 1 min and less)",
		"window":        "oldest of the breaches that counts; at least six intervals in any case",
		"reprobes":      "re-probes after a breach",
		"reprobe_every": "distance between them",
		"min_ratio":     "a breach is at least this many times the usual",
		"min_abs":       "and at least this much slower",
		"offset_cap":    "how much of today's general slowness is allowed for, as a ratio",
		"resolve_n":     "calm observations in a row that resolve …",
		"resolve_for":   "… over at least this time",
		"resolve_ratio": "what counts as calm: less than this many times the usual, or under half of the limit's distance",
		"exclude_after": "an alert this old leaves the baseline; 0 = never",
		"exclude_for":   "how long at most the samples of an open latency alert stay out of the baseline: what lasts longer is learned as the new level",
		"corroborate":   "judge a target by all of its canaries together, where it has at least three",
		"ttft_limit":    "fixed limits by size: `{ short = { warning = \"3s\", critical = \"10s\" } }`",
		"tpot_limit":    "fixed limits by size: `{ short = { warning = \"100ms\" } }`",
	}
}

func singleMeanings() map[string]string {
	return map[string]string{
		"instance.name":   "of this process in messages and samples; default the host's name",
		"instance.region": "where it measures from; part of what makes samples comparable",

		"store.dsn":       "SQLite file, relative to the working directory; default `serin.db` in `$STATE_DIRECTORY`, `$XDG_STATE_HOME/serin` or `~/.local/state/serin`",
		"store.retention": "how long samples are kept; at least the baseline's window and a day",

		"http.token":          "",
		"http.listen":         "address of page, API, health and metrics",
		"http.metrics_listen": "one more address with /metrics and health only",
		"http.token_file":     "file with the token that everything but health asks for",
		"http.external_url":   "where people reach serin; links in messages begin with it",
		"http.allow_public":   "allow a `listen` that other machines reach without a token",

		"log.level":  "`debug`, `info`, `warn`, `error`",
		"log.format": "`text`, `json`",

		"metrics.labels":           "constant labels on every series",
		"metrics.latency_buckets":  "edges of `input_bucket`, input tokens, rising",
		"metrics.histogram_labels": "more labels on the histograms: `scene`, `size`",
		"metrics.push_url":         "push the metrics there too (Prometheus text, POST)",
		"metrics.report_interval":  "how often they are pushed",

		"baseline.window":    "whole days that are looked back on, 3 to 90",
		"baseline.slot":      "interval of the day that is compared with itself; divides the day",
		"baseline.on_change": "when a canary's prompt, model or the like changes: `relearn`, `rescale`, `keep`",

		"incident.group_by":      "what shares an incident: `provider` (where a target names none, the host and port of its `base_url`), or each `target` by itself",
		"incident.reopen_within": "trouble that comes again this soon after its end reopens its incident; `\"0s\"` = never",
		"incident.group_wait":    "how long an incident waits for more alerts before it is told",
		"incident.remind_every":  "reminders while it lasts; `\"0s\"` = none",

		"budget.tokens":   "input and output tokens that each target may use a day; 0 = no bound",
		"budget.usd":      "US dollars that each target may cost a day, by `[[price]]`; 0 = no bound",
		"budget.timezone": "IANA zone of the day: the budget is whole again at its midnight",

		"digest.at":                "local time of day at which it is told",
		"digest.timezone":          "IANA zone of `at` and of the times in it",
		"digest.channels":          "names of the channels that get it; default: every Slack with an `info_channel`, which gets it there",
		"heartbeat.url_env":        "environment variable that holds the URL",
		"heartbeat.url_file":       "file that holds it",
		"heartbeat.url_credential": "systemd credential that holds it",
		"heartbeat.url":            "the URL itself; only with `allow_plain_secrets = true`, because whoever knows it can ping in serin's place",
		"heartbeat.every":          "shortest distance between two pings",

		"price.model":        "glob over model names; `*` also stands for `/`",
		"price.from":         "day since which it is in force, UTC: `2026-01-01`; of entries with the same `model` the latest in force counts; default always",
		"price.input":        "of input tokens",
		"price.cached_input": "of input tokens read from a cache",
		"price.cache_write":  "of input tokens written to a cache",
		"price.output":       "of output tokens, thinking included",
	}
}

func slackMeanings() map[string]string {
	return map[string]string{
		"webhook_url_env":        "environment variable that holds the webhook's URL",
		"webhook_url_file":       "file that holds it",
		"webhook_url_credential": "systemd credential that holds it",
		"webhook_url":            "the URL itself; only with `allow_plain_secrets = true`",
		"bot_token_env":          "environment variable that holds the bot token (scope chat:write)",
		"bot_token_file":         "file that holds it",
		"bot_token_credential":   "systemd credential that holds it",
		"bot_token":              "the token itself; only with `allow_plain_secrets = true`",
		"channel":                "where a bot token posts, best by id",
		"chart":                  "`\"light\"` or `\"dark\"`: a picture of the series in the thread of each opening and end; takes the scope `files:write` beside `chat:write`. Empty = none",
		"info_channel":           "where it posts what pages nobody; without one that stays on page, log and API",
		"api_url":                "for tests and proxies, with or without the last slash",
		"mention":                "added at first firing and escalation: `<!here>`, `<!channel>`, `<@U…>`, `<!subteam^S…>`",
	}
}
