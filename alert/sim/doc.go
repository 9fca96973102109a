// Package sim is the quality benchmark of the drift rule: a deterministic workload of simulated endpoints, a driver that
// brings it to the production engine in virtual time, and a scorer that holds the alerts against what really happened.
//
// # The workload
//
// A target of three canaries on a grid of one minute. A value is
//
//	base · exp(a·L + shared + own + σe·N) + queue, times shift, incident and outlier
//
// L is the load of the day and week; shared an autoregressive process of minutes plus a slow one of half a day, the same
// for all canaries; own one of minutes for each canary; N one probe's scatter; queue an exponential wait that comes with
// load. One value in a hundred is missing, and the prober itself is out for two hours each 30 days. The profile (steady,
// typical, noisy) is the seed modulo 3; on seeds that leave 3 modulo 4 the clock of the load jumps by an hour at day 30.
// TTFT and TPOT are simulated apart, each with its own incidents, so that a number of one is not helped by the other's.
//
// Every random number comes from a splitmix64 stream of its own key, so that a world is the same whatever rule looks at
// it; a re-probe's draws are keyed by its second. The streams, and the order of draws in them, are this project's own:
// other simulators of the same distributions give other numbers of the same size.
//
// The fleet is 40 healthy targets of three scenes, nine canaries each, watched in both metrics at once under a rule as
// users have it: what it pages in a month is what a team would be woken for without cause.
//
// # The scoring
//
// All alerts of a series count, of every severity. From day 8 on an alert is true if it starts inside an incident or at
// most 30 minutes after it; every other start is false and counts per 43 200 minutes of a series. An incident is caught
// if an alert starts from its beginning to 15 minutes after its end: one that was open already catches nothing. Further
// alerts that start in its window are flaps. Delays are from the incident's true beginning, the wait for the next probe
// included. Extra requests are re-probes per regular probe.
//
// Nothing here is tuned to the seeds that the benchmark names.
//
// # What was tried
//
// With incidents laid over healthy worlds, on seeds 301 to 306, and then untouched on blocks of six from 401 to 436; false alerts
// per series-month (of rounds: target-month) and ×1.5 of an hour caught, single series with preset sharp | rounds of three
// canaries, lowest and highest block:
//   - 30 % quantile of 6 to 16 checks beside sL (T 4.7): .03 to .14, 66 to 70 % | with the rise beside the 90 min before .24 to .39, 85 to 92 %.
//   - likelihood of a step beside a filter of the level, as in package baseline: 10.5: .10, 76 to 80 % (two blocks) | each canary's
//     value by itself, 9: .05 to .34, 93 to 96 %: kept. 10: .08 to .18, 76 to 81 % | their median, 10: .14, 89 to 90 %; a robust mean,
//     9: .05 to .29, 93 %. The simulator's own variances in place of fitted ones: 81 %; its own daily curve in place of mu: 81 % (one block each).
//   - the level's variances from two or four weeks, from all canaries of the target, from a variogram; a probe's scatter by the time of day; twice
//     as many re-probes: within three points of ×1.5 on noisy endpoints (eight seeds from 302 to 323), one point of all.
//   - the gate of sharp for ×1.5 on seeds 101 to 112, of which 42 of 120 are of noisy endpoints: with the simulator's own variances 72 % where .15 alerts
//     are false, with as many re-probes as it likes 74 % at .20; on no other block was it missed (201 to 224: 80 %, 113 to 136: 75 %).
//   - what a target's other canaries said before the step, for a single series: 83 % in place of 80 %, as many false alerts (one
//     block); not built: it takes for granted that their levels go together.
//   - 24 observations in place of 64: four points fewer. Grids of 10, 60 and 360 min, and of 12 to 768 min: the same but for noise.
//   - one size of step in place of two: ×5 of ten minutes 76 % in place of 100 %. Loudness 1 to 1.5, steps of ×1.4 to ×1.6, looking again
//     from 2 to 5, by 4 to 9 re-probes: within four points. The level of hours as a second way to fire: ramps of 18 h 95 % in place of 89 %.
//   - schedules of 15 min to 2 h with sharp, seeds 213 to 224, hourly: looked at again from 4 on: .02, ×1.5 34 %, ×2 53 %; from 4 − ln 12 on:
//     .05, 53 %, 73 %: kept; firing from 10.5 − ln 12 on, too: .18, 60 %, 77 %. Weighing two to five runs instead of 75 minutes: no more of an hour.
//   - a job that makes each day's 12:15 to 12:45 ×1.8, another simulator, one month each: 23 false alerts; 0.9 where usual was raised for the minutes that
//     are slow on most days (sharp: 28 and 1.9). Not kept: it stopped paging for a fault that comes each night. [[maintenance]] is for such a job.
//   - σ no less than the scatter of all residuals: a level that moves within ten minutes 2.5 → 1.2 false alerts (balanced, five months), here the same
//     .07, ×5 of ten minutes 98 → 97 %: kept.
//   - a level that came down followed from when it fell, found as a change point, in place of from 72 h ago: a fault of ×2 soon after is seen,
//     but with it balanced had .05 false alerts in place of .03, sharp .20 in place of .16, under doubled wander twice as many: not kept.
//   - before all that, on rounds: 5 of 6 above 4 sL .28, 80 %; offset caps of 25 % and 40 %, a nearer offset window, means in place of
//     quantiles: nothing gained, or many more false alerts.
//   - how long a canary must be slow alone before it pages, on the fleets of seed 301 (chosen) and 401 (verified), with ×2 of two hours laid over
//     one long canary: from 0 to 30 min the pages of single canaries fall from 39 and 47 a month to 13 and 13, with 157 and 155 of 240 faults paged within
//     45 min, of 166 and 157 whose alert fired by then; at 40 min 9 and 13, but 147 and 145: 30 min kept.
package sim
