package incident

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// TestRestartChangesNothingOfSilences silences, marks and acknowledges at random under two maintenance windows a day: a run
// that is killed again and again decides, tells and stores what one that goes on does.
func TestRestartChangesNothingOfSilences(t *testing.T) {
	for _, seed := range []uint64{1, 2}[:many(2, 1)] {
		straight, broken := muteAtRandom(t, seed, false), muteAtRandom(t, seed, true)
		if diff := difference(straight.log, broken.log); diff != "" {
			t.Errorf("seed %d: a run with restarts differs:\n%.2000s", seed, diff)
		}
		acts := straight.log.acts()
		if !strings.Contains(acts, "note") || strings.Count(acts, "open") < 3 {
			t.Errorf("seed %d: acts %q: the test tries too little", seed, acts)
		}
	}
}

// eachDay is a maintenance that begins at an hour of each day, UTC.
func eachDay(name string, match Matchers, at, last time.Duration, most Severity) Maintenance {
	return Maintenance{Name: name, Match: match, Cap: most, Probe: true, Next: func(after time.Time) (from, to time.Time, ok bool) {
		from = after.Add(-at - last).Truncate(24 * time.Hour).Add(at)
		for !from.Add(last).After(after) {
			from = from.Add(24 * time.Hour)
		}
		return from, from.Add(last), true
	}}
}

func muteAtRandom(t *testing.T, seed uint64, restarts bool) *rig {
	rnd, kill := rand.New(rand.NewPCG(seed, 7)), rand.New(rand.NewPCG(seed, 99))
	r := newRig(t, append(target1("a", 5*time.Minute, DefaultRule(), probe.Short, probe.Long), target1("b", 5*time.Minute, DefaultRule(), probe.Short)...)...).learn(9)
	for _, w := range r.watched {
		w.Canary.Target.Provider = []string{"", "p"}[seed%2]
	}
	r.every = 30 * time.Second
	r.maintenance = []Maintenance{eachDay("m1", nil, 11*time.Hour, 7*time.Hour, ""), eachDay("m2", nil, 22*time.Hour, 4*time.Hour, Warning)}
	faults := randomFaults(rnd, r.now, 24*time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		for _, f := range faults {
			if c.Target.Name == f.target && !at.Before(f.from) && at.Before(f.to) {
				return f.world(c, at)
			}
		}
		return healthy(c, at)
	}
	r.start()
	for range 28 * 3 {
		const step = 20 * time.Minute
		var ran time.Duration
		if restarts && kill.IntN(3) == 0 {
			ran = time.Duration(kill.Int64N(int64(step)))
			next := r.run(ran).next
			r.start().next = next
		}
		r.run(step - ran)
		r.meddle(rnd)
	}
	return r.run(12 * time.Hour)
}

// meddle does at random what a person may do about alerts.
func (r *rig) meddle(rnd *rand.Rand) {
	matches := []string{"target=a", "target=*", "kind=ttft", "kind!=error", "severity=warning", "size=long"}
	var err error
	switch roll := rnd.IntN(14); {
	case roll < 2:
		s := Silence{Match: matchers(r.t, matches[rnd.IntN(len(matches))]), Reason: "r", By: "kim", Cap: []Severity{"", Warning, Info}[rnd.IntN(3)],
			Starts: r.now.Add(time.Duration(rnd.IntN(60)) * time.Minute)}
		s.Ends = s.Starts.Add(time.Duration(1+rnd.IntN(180)) * time.Minute)
		_, _, err = r.engine.Silence(r.t.Context(), s, r.now)
	case roll < 3 && len(r.engine.silences) > 0:
		newest := slices.MaxFunc(r.engine.silences, func(a, b Silence) int { return a.Created.Compare(b.Created) })
		_, err = r.engine.Expire(r.t.Context(), newest.ID, "ann", r.now)
	case roll < 5:
		_, err = r.engine.Mark(r.t.Context(), Mark{Text: fmt.Sprint("m", rnd.IntN(9)), By: "kim"}, r.now)
	case roll < 6:
		for _, t := range r.engine.order {
			if t.incident != nil && t.incident.State == IncidentOpen {
				_, err = r.engine.Ack(r.t.Context(), t.incident.ID, "kim", "mine", time.Time{}, r.now)
				break
			}
		}
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
