package secret

import (
	"fmt"
	"log/slog"
)

// Secret is a credential: where its value comes from, and the value itself behind Reveal. Every way of printing it
// gives ***. Copies share one value, so a key file that changed is seen by all.
type Secret struct{ src *source }

// String returns ***.
func (s Secret) String() string { return Mask }

// GoString returns ***.
func (s Secret) GoString() string { return Mask }

// Format writes *** for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Mask)) }

// LogValue returns ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(Mask) }

// MarshalText returns ***.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Mask), nil }

// IsZero reports whether no credential was configured.
func (s Secret) IsZero() bool { return s.src == nil }
