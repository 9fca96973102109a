package alert

import "time"

// Story is all that one message tells; Compose turns it into a Message. It holds no clock and no link to live state.
type Story struct {
	Act      Act
	Reminder bool
	Now      time.Time
	Incident Incident
	Alerts   []Alert       // of the incident, the leading one first; resolved ones too
	Siblings []Sibling     // other series of the same target, and sibling targets, with their state now
	Spark    []float64     // the leading series' values of the last hour, seconds, oldest first
	SparkOf  string        // what they are: "TTFT"
	Interval time.Duration // of the leading series' schedule
	M, N     int           // the rule's votes
	Title    string        // of the target, "" = its name
	Zone     *time.Location
	Runbook  string
	Instance string
	Region   string
	URL      string // [http] external_url, "" = none
	Unsent   bool   // the opening never got out: this message tells both
}

// Sibling is another series seen beside an incident.
type Sibling struct {
	Name  string // "TPOT", "short", "gw-us"
	State State
}
