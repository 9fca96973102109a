package alert

import "time"

// Mute says by what an alert is muted, and until when. The zero Mute is none.
type Mute struct {
	Silence     string    `json:"silence,omitempty"`     // id of the silence, or …
	Maintenance string    `json:"maintenance,omitempty"` // … name of the window
	By          string    `json:"by,omitempty"`          // who silenced
	Reason      string    `json:"reason,omitempty"`
	Until       time.Time `json:"until,omitzero"`
	Cap         Severity  `json:"cap,omitempty"` // told as no more than that; "" = not told
}

// IsFull reports whether nothing is sent; info pages nobody.
func (m Mute) IsFull() bool { return m != (Mute{}) && m.Cap != Warning }

// Lower returns the severity that an alert is shown with under the mute: its own, or less.
func (m Mute) Lower(s Severity) Severity {
	if m.Cap == Warning && s == Critical {
		return Warning
	}
	return s
}
