package incident

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// TestProviderAtRandom breaks and slows the targets of two providers at random for two days, with restarts and reloads in
// between: each message that was opened is closed once, no other is, and no alert stays in an incident that became part of
// another.
func TestProviderAtRandom(t *testing.T) {
	merged := 0
	for seed := range uint64(many(4, 2)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { merged += randomProviders(t, rand.New(rand.NewPCG(seed, 11))) })
	}
	if merged == 0 {
		t.Error("no incident ever became part of another: the test tries nothing")
	}
}

func randomProviders(t *testing.T, rnd *rand.Rand) (merged int) {
	var watched []Watched
	for i, name := range []string{"a1", "a2", "a3", "a4", "a5", "a6", "b1", "b2"} {
		some := target1(name, 15*time.Minute, DefaultRule(), probe.Short, probe.Long)
		for j := range some {
			phase := time.Duration(i)*37*time.Second + time.Duration(j)*2*time.Minute
			some[j].Canary.Target.Provider = name[:1]
			some[j].Due = func(after time.Time) time.Time {
				return after.Add(-phase).Truncate(15 * time.Minute).Add(15*time.Minute + phase)
			}
		}
		watched = append(watched, some...)
	}
	r := newRig(t, watched...)
	faults := providerFaults(rnd, r.now)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		for _, f := range faults {
			if strings.HasPrefix(c.Target.Name, f.target) && !at.Before(f.from) && at.Before(f.to) {
				return f.world(c, at)
			}
		}
		return healthy(c, at)
	}
	r.start()
	for range 48 {
		r.run(time.Hour)
		switch rnd.IntN(6) {
		case 0:
			r.start()
		case 1:
			if err := r.engine.Reload(t.Context(), r.watched, r.opt.Channels, r.opt.Incident, r.now); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.run(12 * time.Hour)
	r.settled(t)
	for _, body := range r.log.incidents {
		if inc := decode[Incident](body); inc.Merged != "" && inc.Revision > 0 {
			merged++
		}
	}
	return merged
}

// providerFaults are outages of a whole provider ("a") and of single targets ("a1").
func providerFaults(rnd *rand.Rand, from time.Time) (list []someFault) {
	worlds := []func(*probe.Canary, time.Time) probe.Sample{ends(probe.HTTP5xx), ends(probe.Connect), ends(probe.TimeoutTotal), ends(probe.Auth)}
	names := []string{"a", "b", "a1", "a2", "a3", "a4", "a5", "a6", "b1"}
	for range 40 {
		f := someFault{target: names[rnd.IntN(len(names))], from: from.Add(time.Duration(rnd.IntN(42*60)) * time.Minute), world: worlds[rnd.IntN(len(worlds))]}
		f.to = f.from.Add(time.Duration(20+rnd.IntN(300)) * time.Minute)
		list = append(list, f)
	}
	return list
}
