package alert

import (
	"slices"
	"testing"
	"time"

	"serin/probe"
)

func TestForgetfulDecidesTheSameAndKeepsNoState(t *testing.T) {
	run := func(forgetful bool) *ledger {
		r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(8)
		r.opt.Forgetful = forgetful
		r.world = during(r.now.Add(time.Hour), r.now.Add(2*time.Hour), slower(3))
		return r.start().run(4 * time.Hour).log
	}
	keeps, forgets := run(false), run(true)
	if len(keeps.blobs) == 0 || len(forgets.blobs) > 0 {
		t.Errorf("%d blobs, forgetful %d", len(keeps.blobs), len(forgets.blobs))
	}
	if len(keeps.transitions) == 0 || !slices.Equal(keeps.transitions, forgets.transitions) {
		t.Errorf("transitions %v, forgetful %v", keeps.transitions, forgets.transitions)
	}
}
