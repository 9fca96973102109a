package app

import (
	"context"
	"encoding/json"
	"fmt"

	"serin/alert"
	"serin/cmd/internal/telemetry"
	"serin/probe"
)

// waysKey is where the store keeps what answers were like, so that a change over a restart is seen.
const waysKey = "probe/ways"

// ways is the blob's body.
type ways struct {
	Seen map[string]probe.Seen `json:"seen"`
	Last map[string]lastWays   `json:"last"`
}

// recallWays gives prober and watch back what an earlier life of this daemon saw.
func (d *daemon) recallWays(blobs []alert.Blob) error {
	for _, b := range blobs {
		if b.Key != waysKey {
			continue
		}
		var all ways
		if err := json.Unmarshal(b.Body, &all); err != nil {
			return fmt.Errorf("read what answers were like: %w", err)
		}
		d.prober.Remind(all.Seen)
		d.changes.restore(all.Last)
	}
	return nil
}

func (d *daemon) waysBlob() []alert.Blob {
	body, err := json.Marshal(ways{d.prober.Seen(), d.changes.all()})
	if err != nil {
		d.log.Error("write what answers were like", "error", err)
		return nil
	}
	return []alert.Blob{{Key: waysKey, Body: body}}
}

// keepWays stores what answers were like.
func (d *daemon) keepWays() {
	_ = d.store.Commit(context.Background(), alert.Change{Judged: alert.Judged{Blobs: d.waysBlob()}}) // kept in memory until the store heals
}

// noteChanges tells what a sample says is otherwise than before: a line in the log and a row of history, of which the
// digest tells.
func (d *daemon) noteChanges(s *probe.Sample) {
	news := d.changes.observe(s)
	if len(news) == 0 {
		return
	}
	change := alert.Change{Judged: alert.Judged{Blobs: d.waysBlob()}}
	for _, n := range news {
		d.log.Info("endpoint changed", "canary", n.Canary, "what", n.What, "text", n.Text)
		d.tel.Count(1, "serin_changes_total", append(telemetry.CanaryLabels(s.Target, s.Scene, string(s.Size)), "what", n.What)...)
		change.Transitions = append(change.Transitions, alert.Transition{At: n.At, Series: n.Canary, Kind: alert.KindChange, To: alert.State(n.What), Reason: n.Text})
	}
	d.owe(change)
}
