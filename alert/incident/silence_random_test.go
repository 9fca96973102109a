package incident

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"serin/probe"
)

// TestSilencesPairOpenAndClose silences at random for two days of random faults, with restarts: every opening tells of
// something that is not silenced, every incident that was opened is resolved once, and no other is told of.
func TestSilencesPairOpenAndClose(t *testing.T) {
	for seed := range uint64(many(4, 2)) {
		provider := []string{"", "p"}[seed%2] // of both targets: their incidents become one
		t.Run(fmt.Sprint(seed, provider), func(t *testing.T) { randomSilences(t, provider, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func randomSilences(t *testing.T, provider string, rnd *rand.Rand) {
	r := newRig(t, append(target1("a", 5*time.Minute, DefaultRule(), probe.Short, probe.Long), target1("b", 5*time.Minute, DefaultRule(), probe.Short)...)...).learn(9)
	for _, w := range r.watched {
		w.Canary.Target.Provider = provider
	}
	faults := randomFaults(rnd, r.now, 36*time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		for _, f := range faults {
			if c.Target.Name == f.target && !at.Before(f.from) && at.Before(f.to) {
				return f.world(c, at)
			}
		}
		return healthy(c, at)
	}
	r.start()
	matches := []string{"target=a", "target=*", "kind=ttft", "kind!=error", "severity=warning", "size=long", "scene=chat"}
	silences := 0
	for range 36 * 3 {
		r.run(20 * time.Minute)
		switch roll := rnd.IntN(12); {
		case roll < 2:
			s := Silence{Match: matchers(t, matches[rnd.IntN(len(matches))]), Reason: "r", By: "kim", Starts: r.now.Add(time.Duration(rnd.IntN(60)) * time.Minute)}
			s.Ends = s.Starts.Add(time.Duration(1+rnd.IntN(180)) * time.Minute)
			if _, _, err := r.engine.Silence(t.Context(), s, r.now); err != nil {
				t.Fatal(err)
			}
			silences++
		case roll < 3 && len(r.engine.silences) > 0:
			if _, err := r.engine.Expire(t.Context(), r.engine.silences[0].ID, "ann", r.now); err != nil {
				t.Fatal(err)
			}
		case roll < 4:
			r.start()
		}
	}
	r.run(14 * time.Hour) // all is well, and no silence holds
	checkPairs(t, r)
	if silences < 5 {
		t.Errorf("%d silences: the test tries nothing", silences)
	}
}

type someFault struct {
	target   string
	from, to time.Time
	world    func(*probe.Canary, time.Time) probe.Sample
}

func randomFaults(rnd *rand.Rand, from time.Time, over time.Duration) (list []someFault) {
	worlds := []func(*probe.Canary, time.Time) probe.Sample{slower(2), slower(5), ends(probe.Connect), ends(probe.TimeoutTotal)}
	for range 14 {
		f := someFault{target: []string{"a", "b"}[rnd.IntN(2)], from: from.Add(time.Duration(rnd.Int64N(int64(over - 5*time.Hour)))), world: worlds[rnd.IntN(4)]}
		f.to = f.from.Add(time.Duration(10+rnd.IntN(240)) * time.Minute)
		list = append(list, f)
	}
	return list
}

// checkPairs holds all notices against what an incident may say.
func checkPairs(t *testing.T, r *rig) {
	acts := map[string][]Act{}
	for _, n := range r.log.notices {
		acts[n.Incident] = append(acts[n.Incident], n.Act)
		if n.Act != ActOpen {
			continue
		}
		heard := false
		for _, f := range n.Facts.Alerts {
			heard = heard || f.Alert.Open() && !f.Alert.Muted() && f.Alert.Announced
		}
		if !heard {
			t.Errorf("%s: opening of %s tells of nothing that may be told: %s", n.Created, n.Incident, n.Message.Headline)
		}
	}
	if len(acts) < 3 {
		t.Errorf("%d incidents: the test tries nothing", len(acts))
	}
	for id, body := range r.log.incidents {
		inc, told := decode[Incident](body), acts[id]
		if inc.State != IncidentClosed {
			t.Errorf("incident %s is %s at the end", id, inc.State)
		}
		opens, resolves := 0, 0
		for _, a := range told {
			switch a {
			case ActOpen:
				opens++
			case ActResolve:
				resolves++
			}
		}
		if len(told) > 0 && (opens != 1 || resolves != 1 || told[0] != ActOpen || told[len(told)-1] != ActResolve) {
			t.Errorf("incident %s: %v", id, told)
		}
	}
}
