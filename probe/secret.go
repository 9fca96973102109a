package probe

import (
	"fmt"
	"log/slog"
)

// Secret is a credential: where its value comes from, and the value itself behind Reveal. Every way of printing it
// gives ***. Copies share one value, so a key file that changed is seen by all.
type Secret struct{ src *secretSource }

// String returns ***.
func (s Secret) String() string { return "***" }

// GoString returns ***.
func (s Secret) GoString() string { return "***" }

// Format writes *** for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("***")) }

// LogValue returns ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue("***") }

// MarshalText returns ***.
func (s Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }

// IsZero reports whether no credential was configured.
func (s Secret) IsZero() bool { return s.src == nil }
