// Package alert holds the nouns of alerting (Alert, Incident, Notice, Message, Channel, Journal, Matcher, Route, Silence, Mark) and
// the pure rule, Step, that brings one observation to one alert. What it imports are the nouns of probing and of baselines.
//
// # The path of a sample
//
// Judging, telling and delivering know nothing of each other. Each returns data, and the daemon carries it to the next:
//
//	judged := d.engine.Observe(sample)                    // alert/engine: records, bands, transitions, re-probes
//	told := d.incidents.Update(judged.Transitions, now)   // alert/incident: incidents, notices
//	d.store.Commit(ctx, alert.Change{judged, told})       // baseline/store: one transaction
//	d.outbox.Add(told.Notices...)                         // alert/outbox: delivery
//
// One slow sample, from the cron tick to the Slack message:
//
//  1. probe/schedule   Runner fires a tick; the daemon's fire asks gate, budget and maintenance whether to send it
//  2. probe            Prober.Do sends the canary, reads the stream, returns one Sample with one Outcome
//  3. daemon           deliver counts the sample and puts it into the inbox; the engine's goroutine takes it out (observe)
//  4. alert/engine     Observe → judge → judgeLatency (judge.go) → latency (band.go): the value against its band gives an Observation
//  5. alert/engine     step (series.go) → alert.Step (step.go): votes, firing, recovery; apply (series.go) → a Transition
//  6. alert/engine     commit (engine.go) → weigh → alert.SeverityOf (severity.go): how grave, by what else fires on the target
//  7. alert/incident   Update → refresh (incidents.go): mute.go, inhibit.go; join (group.go) opens, joins or reopens an incident
//  8. alert/incident   enqueueDue (announce.go): opening after group_wait, news, reminder, end → enqueue (audience.go) → story (story.go)
//  9. alert/message    Compose: the words, pure
//  10. baseline/store   Commit: records, alerts, incidents and notices in one transaction
//  11. alert/outbox     a lane a channel: attempt before, answer after → alert/slack Send
//
// Beside a canary's own series the sample enters its target's round (round.go: the step score over all canaries of the target) and its
// target's failure rate (rate.go). A regular probe that looks slow asks for re-probes (reprobe.go, confirm.go), which come back as
// Judged.Reprobes and run through the same scheduler. What no sample triggers goes by Tick of both: missing data, votes that age,
// group_wait, reminders, the ends of silences and maintenance windows.
//
// All that can be in trouble is one kind of thing, a series: a key, its members, an alert, a judge; it goes through one step.
//
// State is a fold: a start reads the stored samples and steps the last hours again (engine/load.go); stored as they are: firing alerts,
// incidents, notices, silences, marks, and what no sample tells (engine/state.go). A step of the wall clock by over an hour loads
// again from the store, as a start does.
//
// # Where a change goes
//
//	a threshold, a vote, when an alert ends        alert/step.go, alert/quorum.go; the band itself: baseline
//	how grave an alert is                          alert/severity.go
//	what shares an incident, when people hear      alert/incident/group.go, announce.go
//	a word in a message                            alert/message
//	a new channel                                  a package below alert/ that implements Channel; the daemon makes it
//	retries, pace, what is dropped                 alert/outbox
//	how a level is modelled, the step score        baseline/level
//	what is stored, for how long                   baseline/store
//	virtual time for tests and backtests           alert/replay; the quality benchmark: alert/sim
package alert
