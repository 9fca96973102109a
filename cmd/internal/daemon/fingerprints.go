package daemon

import (
	"context"
	"encoding/json"
	"fmt"

	"serin/alert"
	"serin/cmd/internal/telemetry"
	"serin/probe"
)

// fingerprintsKey is where the store keeps what answers were like, so that a change over a restart is seen.
const fingerprintsKey = "probe/ways"

// fingerprints is the blob's body.
type fingerprints struct {
	Seen map[string]probe.Fingerprint `json:"seen"` // by canary
}

// loadFingerprints gives the prober back what an earlier life of this daemon saw.
func (d *Daemon) loadFingerprints(blobs []alert.Blob) error {
	for _, b := range blobs {
		if b.Key != fingerprintsKey {
			continue
		}
		var all fingerprints
		if err := json.Unmarshal(b.Body, &all); err != nil {
			return fmt.Errorf("read what answers were like: %w", err)
		}
		d.prober.RestoreFingerprints(all.Seen)
	}
	return nil
}

func (d *Daemon) fingerprintsBlob() []alert.Blob {
	body, err := json.Marshal(fingerprints{d.prober.Fingerprints()})
	if err != nil {
		d.log.Error("write what answers were like", "error", err)
		return nil
	}
	return []alert.Blob{{Key: fingerprintsKey, Body: body}}
}

// saveFingerprints stores what answers were like.
func (d *Daemon) saveFingerprints() {
	_ = d.store.Commit(context.Background(), alert.Change{Judged: alert.Judged{Blobs: d.fingerprintsBlob()}}) // kept in memory until the store heals
}

// noteChanges tells what a sample says is otherwise than before: a line in the log and a row of history, of which the
// digest tells.
func (d *Daemon) noteChanges(s *probe.Sample) {
	if len(s.Changes) == 0 {
		return
	}
	change := alert.Change{Judged: alert.Judged{Blobs: d.fingerprintsBlob()}}
	for _, c := range s.Changes {
		d.log.Info("endpoint changed", "canary", s.Key(), "what", c.What, "text", c.Text)
		d.tel.Count(1, "serin_changes_total", append(telemetry.CanaryLabels(s.Target, s.Scene, string(s.Size)), "what", c.What)...)
		change.Transitions = append(change.Transitions, alert.Transition{At: s.Time, Series: s.Key(), Kind: alert.KindChange, To: alert.State(c.What), Reason: c.Text})
	}
	d.owe(change)
}
