package baseline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"serin/probe"
)

// Options are the keys of [baseline].
type Options struct {
	Window   time.Duration `koanf:"window"`    // default 7 days; a whole number of days
	Slot     time.Duration `koanf:"slot"`      // default 30 min; divides the day
	OnChange string        `koanf:"on_change"` // relearn, rescale, keep: what a changed spec does
}

// DefaultOptions returns the defaults of [baseline].
func DefaultOptions() Options {
	return Options{Window: 7 * 24 * time.Hour, Slot: 30 * time.Minute, OnChange: "relearn"}
}

// Threshold is the part of a rule that turns a band into a limit.
type Threshold struct {
	Literal      bool          `koanf:"-"`             // preset "literal": mean + Sigma·sd of exactly that slot, in seconds
	Sharp        bool          `koanf:"-"`             // preset "sharp": measures how the level moves by itself, too
	Sigma        float64       `koanf:"sigma"`         // 2
	Kappa        float64       `koanf:"kappa"`         // 1.375
	MinRatio     float64       `koanf:"min_ratio"`     // 1.25
	MinAbs       time.Duration `koanf:"min_abs"`       // 0
	OffsetCap    float64       `koanf:"offset_cap"`    // 1.15
	ResolveRatio float64       `koanf:"resolve_ratio"` // 1.12
}

// DefaultThreshold returns the balanced preset's.
func DefaultThreshold() Threshold {
	return Threshold{Sigma: 2, Kappa: presetKappa, MinRatio: 1.25, OffsetCap: 1.15, ResolveRatio: 1.12}
}

// Residual is what judging left of one value: how far it was from usual, in ln units.
// E = y − mu(slot), O = today's offset at that time, R = E − O.
type Residual struct {
	E, O, R float64
	Judged  bool // false: there was no band then; E, O and R mean nothing
}

// Point is one observation in a series' history. Y = ln(seconds).
type Point struct {
	At       time.Time
	Y        float64
	Regular  bool // re-probes and checks never enter a band
	Excluded bool // left out of bands: inside a long alert
	Res      Residual
}

// Band is what is normal in one slot, as it was when a value was judged. All of Mean, SD and Limit are seconds.
type Band struct {
	Canary    string         `json:"canary"`
	Metric    probe.Metric   `json:"metric"`
	Slot      time.Time      `json:"slot"` // start of the slot on its own date, in the scene's zone
	Spec      string         `json:"spec,omitempty"`
	State     string         `json:"state"`             // ready, learning
	N         int            `json:"n"`                 // samples in P; while learning: regular samples of the last days
	Days      int            `json:"days"`              // days with a sample in P; while learning: which day of it this is
	Widened   string         `json:"widened,omitempty"` // 30m, 1h, 2h, 4h: how far the window reached on both sides; day: all of it; "": not at all
	Mu        float64        `json:"mu"`                // ln seconds
	Offset    float64        `json:"offset"`            // o(t), ln
	SW        float64        `json:"sw"`
	SL        float64        `json:"sl"`
	Sigma     float64        `json:"sigma"`
	Kappa     float64        `json:"kappa"`
	Line      float64        `json:"line"` // ln ratio above which a value breaches
	Mean      float64        `json:"mean"`
	SD        float64        `json:"sd"`
	Limit     float64        `json:"limit"`
	Low       float64        `json:"low"`                // lower end of the normal range
	LeftOut   map[string]int `json:"left_out,omitempty"` // reason → samples: excluded, spec, first, client_suspect, failed
	Threshold string         `json:"threshold"`          // hash of the threshold it was made with
}

// Call is what a verdict says.
type Call string

// The calls. Neither is between calm and breach.
const (
	Breach    Call = "breach"
	Calm      Call = "calm"
	Neither   Call = "neither"
	NotJudged Call = "not_judged"
)

// Ruling is what a verdict says. Value, Mean and Limit are seconds.
type Ruling struct {
	Call  Call    `json:"call"`
	Why   string  `json:"why,omitempty"` // of not_judged: learning, missing
	Value float64 `json:"value,omitempty"`
	Mean  float64 `json:"mean,omitempty"`
	Limit float64 `json:"limit,omitempty"`
	Z     float64 `json:"z,omitempty"`
	Ratio float64 `json:"ratio,omitempty"`
}

// Verdict is one value held against its band.
type Verdict struct {
	Ruling
	Low  bool // literal: below mean − 2 sd
	Res  Residual
	Band *Band
}

// Hash names the threshold: 8 hexadecimal digits that change with any of its values.
func (t Threshold) Hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", t))
	return hex.EncodeToString(sum[:4])
}

// Y returns what a Point holds of a duration: the natural logarithm of its seconds.
func Y(d time.Duration) float64 { return math.Log(d.Seconds()) }
