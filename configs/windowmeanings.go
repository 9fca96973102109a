package configs

func windowMeanings() map[string]string {
	return map[string]string{
		"maintenance.name":         "a name as of a target; stands in messages and in the API",
		"maintenance.match":        "what it is about, all of: `target`, `scene`, `size`, `kind`, `severity` or a label of the target → a glob, several with a bar between, `!` in front for all others; default everything",
		"maintenance.timezone":     "IANA zone of its clock",
		"maintenance.schedule":     "when it begins: five cron fields",
		"maintenance.duration":     "how long it lasts then",
		"maintenance.from":         "beginning in place of `schedule`: `22:00`; or a time, `2026-03-01T22:00:00+01:00`, or `2026-03-01 22:00` in `timezone`",
		"maintenance.until":        "its end, in the form of `from`; an `until` that is not after `from` is on the next day",
		"maintenance.weekdays":     "days on which a window of the day begins: `mon` … `sun`; default every day",
		"maintenance.severity_cap": "in place of silence: judge, and tell as no more than `warning`; `info` tells nobody and shows it on page and API",
		"maintenance.probe":        "false sends no probe: due runs are skipped with reason `maintenance`, which is not missing data",

		"http.token.name":       "a name as of a target: the author of silences, marks and orders",
		"http.token.token_file": "file with the token",
		"http.token.role":       "what it may do: `read`, `annotate` (also marks, silences, acks and labels), `admin` (also accept, reset and reload)",
	}
}
