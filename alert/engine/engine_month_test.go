package engine

import (
	"math/rand/v2"
	"testing"
	"time"

	"serin/probe"
)

// TestRestartsOfAMonth kills and loads the engine some fifty times within a month of troubles, three canaries judged
// together: all that is decided, told and recorded is what it would have been without.
func TestRestartsOfAMonth(t *testing.T) {
	base := newRig(t, target1("gw", 15*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...).learn(9).start()
	base.run(time.Minute)
	d := rand.New(rand.NewPCG(11, 30))
	var list []episode
	for from := base.now; from.Before(base.now.AddDate(0, 0, 30)); from = from.Add(time.Duration(20+d.IntN(40)) * time.Hour) {
		list = append(list, drawEpisodes(d, from)...)
	}
	list = append(list, episode{From: base.now.AddDate(0, 0, 12), To: base.now.AddDate(0, 0, 14), Kind: "x1.3"}) // long enough to be accepted
	straight, broken := base.fork(script(list)), base.fork(script(list))
	straight.every, broken.every = time.Minute, time.Minute
	straight.run(30 * 24 * time.Hour)
	restarts := 0
	for broken.now.Before(straight.now.Add(-26 * time.Hour)) {
		broken.run(time.Duration(1+d.IntN(26*3600)) * time.Second)
		broken.start()
		restarts++
	}
	broken.run(straight.now.Sub(broken.now))
	if diff := difference(straight.log, broken.log); diff != "" {
		t.Fatalf("%d restarts change the history (-without +with):\n%s", restarts, diff)
	}
	if err := paired(straight.log); err != nil {
		t.Fatal(err)
	}
	opens := 0
	for _, x := range straight.log.transitions {
		if x.To == StateFiring && x.From != StateRecovering {
			opens++
		}
	}
	if restarts < 40 || opens < 20 {
		t.Errorf("%d restarts and %d alerts are no month of troubles", restarts, opens)
	}
}
