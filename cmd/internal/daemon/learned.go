package daemon

import (
	"context"
	"encoding/json"
	"fmt"

	"serin/alert"
	"serin/probe"
)

// learnedKey is where the store keeps what targets were seen to refuse.
const learnedKey = "probe/learned"

// recallLearned gives the prober back what an earlier life of this daemon learned.
func recallLearned(p *probe.Prober, blobs []alert.Blob) error {
	for _, b := range blobs {
		if b.Key != learnedKey {
			continue
		}
		var all map[string]probe.Learned
		if err := json.Unmarshal(b.Body, &all); err != nil {
			return fmt.Errorf("read what targets refuse: %w", err)
		}
		p.Restore(all)
	}
	return nil
}

// keepLearned stores what the prober has learned, so that no target is asked twice for what it refuses.
func (d *Daemon) keepLearned(ctx context.Context) {
	body, err := json.Marshal(d.prober.Learned())
	if err != nil {
		d.log.Error("write what targets refuse", "error", err)
		return
	}
	_ = d.store.Commit(ctx, alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{{Key: learnedKey, Body: body}}}}) // kept in memory until the store heals
}
