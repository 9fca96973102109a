// Package baseline says what is normal for a canary's metric in one slot of the day, and holds a value against it.
// It is pure: time is an argument, nothing here reads a clock, a file or the network.
//
// # The rule in a few sentences
//
// A value is compared with what is usual for this half hour on the last seven days, corrected by at most 15 % for how
// today is running. It breaches when it lies beyond two standard deviations, widened for few days and for
// neighbouring samples that are alike, and is at least 25 % slower than usual. It is calm again when it is back within
// half of that distance, or within 12 % of usual.
//
// # The rule in full
//
// In code wsd is winsorSD, sw is ProbeSD and sL is LevelSD. y is the natural logarithm of a value in seconds. Only regular probes with a value enter; excluded ones do not
// unless it says so.
//
//	slot     the half hour of the scene's wall clock that a time is in
//	P        y of the last seven days, on each inside the slot's window: the slot with 30 minutes on both sides, by the
//	         local date and wall clock, which may reach into the dates beside it but never past the start of today's
//	         slot. With fewer than 30 values the window reaches out 1 h, 2 h, 4 h, then over the whole date, and the
//	         narrowest with 30 counts (14 for the whole date).
//	D        days with a value in P. Under 3, or with too few values: learning, nothing is judged.
//	mu       mean of P clipped at its 10th and 90th percentiles (interpolated between values)
//	wsd(x)   1.2139 times the standard deviation (n−1) of x clipped like that: consistent for a normal law
//	e        y − mu
//	o        today's offset: 0.8 times the mean of the middle e (20th to 80th percentile) of the time from 3 h to
//	         30 min ago (12 h to 60 min where runs are over 15 min apart), excluded ones too; 0 with fewer than 8
//	         values; at most ln offset_cap either way; held while an alert fires
//	r        e − o
//	sw       one probe's scatter: wsd of the steps of r between runs one interval apart, over √2; at least 0.02; needs
//	         60 steps. Of seven days, as sL.
//	b        mean, without the highest and lowest fifth, of r in a block of 30 min (4 intervals if that is longer) with
//	         at least 3 values; blocks begin at whole multiples of their length; 20 are needed
//	V        wsd(b)²
//	sL       a half hour's level: √ of the largest of V − mean(1.15·sw²/n of each block), 0.15·V and 0.015²
//	sr       wsd of r of seven days: what moves within a half hour but not from one run to the next is in neither sw nor sL
//	σ        the larger of √(sw² + sL²) and sr
//	κ        the preset's from seven days on; before, at least t(0.975, D−1)/1.96·√(1 + 1/D)
//	line     the largest of sigma·κ·σ (sigma is 2), 4·sL and ln min_ratio
//	breach   r > line, and the value at least min_abs above exp(mu + o)
//	calm     r ≤ line/2, or exp(r) < resolve_ratio
//
// Before sw and sL are known, and where runs are too rare for them, σ = max(0.03, wsd(P)), o = 0 and 4·sL is no part
// of line. Shown in seconds: mean = exp(mu + o); limit = exp(mu + o + line), at least mean + min_abs; sd = half of the
// way from mean to limit; the normal range from exp(mu + o − line) to limit; z = 2r/line.
//
// mu is computed at the first value of a slot and then stays for that slot, whatever is added or excluded. sw and sL
// are renewed at 00:00 and 12:00 of the zone. Recompute renews all of them at the next value.
//
// # Several series together
//
// A round is what the canaries of a target say of one metric at about one time. It has one o and one sL for all of them,
// made as above from the e of all together, with 1.15/Σ sw⁻² over a block's values in place of 1.15·sw²/n.
//
//	m        the median of its e, less o
//	s        √(1.35/Σ sw⁻²) over its values: what the probes' own scatter makes of m
//	line     the largest of sigma·√(sL² + s²), 4·sL and ln min_ratio: breach, calm, z and ratio of a round, as above; what
//	         fires is the step below
//
// # A step, beside a level that moves
//
// Rounds of a target, and single series with preset "sharp", are not held against a line: package level fits a model of how e
// moves when nothing is wrong, follows it and scores steps up from it. Cells of its fit hold e of a series (of rounds: their median e)
// of seven days, excluded ones left out. Its standard deviation is widened for fewer days than seven, as κ is. Renewed with sw and sL.
//
// A series or round fires when the step score of six observations and more of the last 75 min is over 10.5 (rounds: 9) and the
// median r of those that score best is at least ln min_ratio, or when the slow level is that far beyond its bound; the newest r is at
// least 0.15. One observation, however far out, cannot do it. Of rounds it is the median over the canaries of each one's own median,
// and no more than two of them say: one canary that is far out for long cannot do it either.
// A regular observation of at least 0.15 whose score of any number is over 4 (rounds: 3) is looked at again, until it falls below half of
// that; for a single series whose runs are more than 5 min apart over 4 − ln(interval / 5 min), at most ln 12, as few of them meet a fault.
//
// # Clock changes
//
// Windows go by the wall clock. A time that the clock skipped has no samples on that day; one that it showed twice has
// both. The second pass of a repeated slot is a slot of its own, with the same windows. A change of the zone's name is
// a changed config: bands are computed anew from the same points.
//
// # Literal
//
// The preset "literal" holds a value against the plain mean and standard deviation (n−1), in seconds, of exactly the
// slot's regular values on the seven days, excluded ones too; at least 5 are needed. Above mean + sigma·sd is a breach,
// everything else is calm, and below mean − sigma·sd is marked as low. It has no offset, floor, κ nor residuals.
package baseline
