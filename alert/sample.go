package alert

import (
	"time"

	"serin/baseline"
	"serin/probe"
)

// SampleTargets are the invented targets of a test message: two of one gateway, each with three sizes, the first of which is
// slow or does not answer, by kind.
func SampleTargets(k Kind) []Target {
	scene := &probe.Scene{Name: "chat", Title: "Customer chat"}
	var list []Target
	for _, name := range []string{"gw-eu", "gw-us"} {
		p := probe.DefaultTarget()
		p.Name, p.Provider, p.Model, p.Labels = name, "gateway", "qwen2.5-72b", map[string]string{"team": "search"}
		t := Target{Target: &p}
		for i, size := range []probe.Size{"long", "medium", "short"} {
			c := CanaryStatus{Canary: &probe.Canary{Target: &p, Scene: scene, Size: size, Interval: time.Minute},
				States: map[Kind]State{KindTTFT: StateOK, KindTPOT: StateOK, KindTimeout: StateOK, KindError: StateOK},
				Bands:  map[probe.Metric]baseline.Band{probe.TTFT: {State: "ready", Mean: .3, Limit: .378}}}
			if name == "gw-eu" {
				c.States[k] = []State{StatePending, StatePending, StateFiring}[i]
			}
			t.Canaries = append(t.Canaries, c)
		}
		list = append(list, t)
	}
	return list
}
