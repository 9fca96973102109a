package webhook

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"serin/alert"
)

// Headers of the JSON document.
const (
	HeaderTimestamp = "Serin-Timestamp" // seconds since 1970 at which it was sent
	HeaderSignature = "Serin-Signature" // v1= and the hex of HMAC-SHA256(secret, timestamp + "." + body)
)

// Document is what the JSON format posts. Fields may be added to it; Version grows when one changes its meaning. Absent
// is not known. The same Key may come again when an answer was lost: it is the same document.
type Document struct {
	Version  int       `json:"version"`
	Key      string    `json:"key"` // incident/channel/revision, also in the header Idempotency-Key
	Incident string    `json:"incident"`
	Channel  string    `json:"channel"`
	Revision int       `json:"revision"`
	Act      string    `json:"act"`   // open, update, thread, reopen, resolve, test, note
	State    string    `json:"state"` // firing, update, reminder, eased, resolved, closed, digest, test
	Severity string    `json:"severity"`
	Decided  time.Time `json:"decided"`
	Mention  bool      `json:"mention"` // it should call people: a first firing, an escalation, firing again
	Pages    bool      `json:"pages"`   // worth a message of its own where none can be edited

	Headline string   `json:"headline"`
	Lines    []string `json:"lines"`
	Link     string   `json:"link,omitempty"`
	Runbook  string   `json:"runbook,omitempty"`
	Footer   []string `json:"footer,omitempty"`

	Scope    string    `json:"scope,omitempty"` // the group's name, as people know it
	Group    string    `json:"group,omitempty"` // its key: provider/NAME, host/HOST:PORT, target/NAME, credential/PROVIDER/KEY
	Opened   time.Time `json:"opened,omitzero"`
	Closed   time.Time `json:"closed,omitzero"`
	Acked    string    `json:"acked,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Region   string    `json:"region,omitempty"`
	Alerts   []Alert   `json:"alerts"`                // the leading one first; those that ended have resolved
	More     int       `json:"more_alerts,omitempty"` // alerts left out
}

// Alert is one alert of a Document. Values are seconds.
type Alert struct {
	ID        string            `json:"id"`
	Series    string            `json:"series"` // target/scene/size, or a target
	Target    string            `json:"target"`
	Scene     string            `json:"scene,omitempty"`
	Size      string            `json:"size,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Kind      string            `json:"kind"`
	State     string            `json:"state"`
	Severity  string            `json:"severity"`
	Since     time.Time         `json:"since,omitzero"` // of its first breach
	Fired     time.Time         `json:"fired,omitzero"`
	Resolved  time.Time         `json:"resolved,omitzero"`
	Reason    string            `json:"reason,omitempty"`
	Inhibited string            `json:"inhibited,omitempty"` // by what
	Muted     string            `json:"muted,omitempty"`     // by the silence or maintenance window of this id
	Fixed     bool              `json:"fixed,omitempty"`     // held against a fixed limit
	Probes    int               `json:"probes,omitempty"`
	Timeouts  int               `json:"timeouts"`
	Errors    int               `json:"errors"`
	Last      *alert.Evidence   `json:"last,omitempty"`
	Worst     *alert.Evidence   `json:"worst,omitempty"`
}

// key is the idempotency key of a notice.
func key(n alert.Notice) string { return fmt.Sprintf("%s/%s/%d", n.Incident, n.Channel, n.Revision) }

// documentOf returns the document of a notice.
func documentOf(n alert.Notice) Document {
	m, f := n.Alone(), n.Facts
	d := Document{Version: 2, Key: key(n), Incident: n.Incident, Channel: n.Channel, Revision: n.Revision, Act: string(n.Act),
		State: m.State, Severity: string(m.Severity), Decided: n.Created, Mention: m.Mention, Pages: n.Pages, Headline: m.Headline, Lines: []string{},
		Link: m.Link, Runbook: m.Runbook, Footer: m.Footer, Scope: f.Incident.Scope, Group: f.Incident.Group,
		Opened: f.Incident.Opened, Closed: f.Incident.Closed,
		Acked: f.Incident.Acked, Instance: f.Instance, Region: f.Region, Alerts: []Alert{}, More: f.More}
	for _, l := range m.Lines {
		d.Lines = append(d.Lines, l.Text)
	}
	for _, fact := range f.Alerts {
		d.Alerts = append(d.Alerts, alertOf(fact))
	}
	return d
}

func alertOf(f alert.Fact) Alert {
	a := f.Alert
	return Alert{ID: a.ID, Series: a.Series, Target: f.Target, Scene: f.Scene, Size: f.Size, Labels: f.Labels, Kind: string(a.Kind),
		State: string(a.State), Severity: string(a.Severity), Since: a.FirstBreach, Fired: a.Fired, Resolved: a.Resolved, Reason: a.Reason,
		Inhibited: f.Inhibited, Muted: cmp.Or(f.Mute.Silence, f.Mute.Maintenance), Fixed: a.Fixed, Probes: a.Probes, Timeouts: a.Timeouts, Errors: a.Errors, Last: seen(a.Last), Worst: seen(a.Worst)}
}

// seen is nil for a moment that was not.
func seen(e alert.Evidence) *alert.Evidence {
	if e.At.IsZero() {
		return nil
	}
	return &e
}

// signJSON signs a body.
func signJSON(secret string, unix int64, body []byte, h http.Header) {
	stamp := strconv.FormatInt(unix, 10)
	h.Set(HeaderTimestamp, stamp)
	h.Set(HeaderSignature, Signature(secret, stamp, body))
}

// Signature returns what HeaderSignature holds for a timestamp as sent and a body: what a receiver compares.
func Signature(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp))
	mac.Write([]byte("."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}
