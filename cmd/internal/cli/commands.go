package cli

const about = "Synthetic monitoring of LLM endpoints: canary prompts on cron schedules, true TTFT and TPOT, a seven-day band per time slot, alerts on Slack."

// commands is the command line.
type commands struct {
	Run        runCmd        `cmd:"" help:"Run the daemon."`
	Demo       demoCmd       `cmd:"" help:"See the whole product in a minute: no config, no network, no key."`
	Check      checkCmd      `cmd:"" help:"Probe now and say what is wrong, in words."`
	Validate   validateCmd   `cmd:"" help:"Show every mistake of a config at once, and what one signs with it."`
	NotifyTest notifyTestCmd `cmd:"" help:"Send a test message through every channel and say what is missing."`
	Export     exportCmd     `cmd:"" help:"Write stored samples as JSON lines."`
	Import     importCmd     `cmd:"" help:"Read samples as JSON lines into the store, also beside a running daemon."`
	Cost       costCmd       `cmd:"" help:"Say what probing used: probes, tokens and money by target, scene, size, model or label."`
	Backtest   backtestCmd   `cmd:"" help:"Show the alerts that a rule would have raised on stored or given samples."`
	Explain    explainCmd    `cmd:"" help:"Say why an alert fired, or did not."`
	Baseline   baselineCmd   `cmd:"" help:"Show or forget what is normal."`
	Accept     acceptCmd     `cmd:"" help:"Make the level of what fires the new normal, or take that back."`
	Incidents  incidentsCmd  `cmd:"" help:"List and show incidents, and label them for the report."`
	Ack        ackCmd        `cmd:"" help:"Say that somebody has taken an incident: its reminders stop."`
	Silence    silenceCmd    `cmd:"" help:"Mute what is told for a while, with reason and end."`
	Mark       markCmd       `cmd:"" help:"Put an event on the time line, such as a deployment: messages show it beside trouble."`
	Outbox     outboxCmd     `cmd:"" help:"List messages to channels: what is owed, what was sent."`
	Report     reportCmd     `cmd:"" help:"Sum up a month: incidents, messages, time firing, precision from labels."`
	Backup     backupCmd     `cmd:"" help:"Write all state to a new file, also beside a running daemon."`
	Restore    restoreCmd    `cmd:"" help:"Put a backup in the place of the store, which is kept beside it."`
	Reload     reloadCmd     `cmd:"" help:"Make the running daemon read its config again."`
	FakeLlm    fakeLLMCmd    `cmd:"" name:"fake-llm" help:"Serve a fake LLM endpoint for drills: latency, jitter and faults by flag."`
	Version    versionCmd    `cmd:"" help:"Print version, commit and Go version."`
}

// configFlag is the -c of every command that takes a config.
type configFlag struct {
	Config string `short:"c" placeholder:"FILE" help:"Config file, or a directory whose *.toml are read in name order. Without it: the endpoint in the environment (OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL or ANTHROPIC_…)."`
}
