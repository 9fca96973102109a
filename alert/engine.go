package alert

import (
	"log/slog"
	"time"

	"serin/baseline"
)

// Reprober runs extra probes of a canary through the real scheduler, so that they obey its limits.
type Reprober interface {
	Reprobe(canary string, at []time.Time)
	CancelReprobes(canary string)
}

// Mailbox takes notices that are on disk (or held in memory while the store is broken) for delivery.
type Mailbox interface {
	Add(notices ...Notice)
}

// EngineOptions wire an Engine to the world.
type EngineOptions struct {
	Journal     Journal
	History     History
	Mailbox     Mailbox
	Reprober    Reprober
	Channels    []string // names of the channels that every notice is owed to
	Incident    IncidentOptions
	Baseline    baseline.Options
	Instance    string
	Region      string
	ExternalURL string
	Log         *slog.Logger
}
