package level

import (
	"math"
	"time"
)

// KalmanState is the belief about a level at a time: the means of its processes, and their covariance by rows of its upper
// triangle. The zero state expects a level that is usual, and as uncertain as its model.
type KalmanState struct {
	At   time.Time                                `json:"at,omitzero"`
	Mean [processes]float64                       `json:"mean,omitzero"`
	Cov  [processes * (processes + 1) / 2]float64 `json:"cov,omitzero"`
}

// Measurement is one residual of a level.
type Measurement struct {
	At       time.Time
	E        float64 // ln value less usual
	ProbeSD  float64 // scatter of the probe, ln
	MayStart bool    // a step may have come just before it
	Also     bool    // it belongs to the same observation as the measurement before it
}

// Innovations are Huber-clipped at so many standard deviations: queues and retries make single probes far too slow.
const (
	huberUp   = 1.2
	huberDown = 2
)

// filter is a KalmanState with its covariance as a full matrix.
type filter struct {
	mean [processes]float64
	cov  [processes][processes]float64
}

// decode makes a filter of a state.
func (k KalmanState) decode(m Model) (f filter) {
	if k.At.IsZero() {
		for i, v := range m {
			f.cov[i][i] = v
		}
		return f
	}
	f.mean = k.Mean
	n := 0
	for i := range processes {
		for j := i; j < processes; j++ {
			f.cov[i][j], f.cov[j][i] = k.Cov[n], k.Cov[n]
			n++
		}
	}
	return f
}

// encode makes a state of a filter.
func (f *filter) encode(at time.Time) KalmanState {
	k := KalmanState{At: at, Mean: f.mean}
	n := 0
	for i := range processes {
		for j := i; j < processes; j++ {
			k.Cov[n] = f.cov[i][j]
			n++
		}
	}
	return k
}

// predict moves the filter by the time in which left is left of each process.
func (f *filter) predict(m Model, left [processes]float64) {
	for i := range processes {
		f.mean[i] *= left[i]
		for j := range processes {
			f.cov[i][j] *= left[i] * left[j]
		}
		f.cov[i][i] += m[i] * (1 - left[i]*left[i])
	}
}

// gain reduces the covariance by a measurement, and returns the standard deviation of its innovation and the Kalman gain of each
// process. Neither depends on the value measured.
func (f *filter) gain(probeSD float64) (sd float64, gain [processes]float64) {
	s := probeSD * probeSD
	for i := range processes {
		for j := range processes {
			gain[i] += f.cov[i][j]
		}
		s += gain[i]
	}
	for i := range processes {
		for j := i; j < processes; j++ {
			f.cov[i][j] -= gain[i] * gain[j] / s
			f.cov[j][i] = f.cov[i][j]
		}
	}
	for i := range gain {
		gain[i] /= s
	}
	return math.Sqrt(s), gain
}

// update moves means by a measurement with a Huber-clipped innovation, and returns its negLogLik: −ln of its density up to a
// constant.
func update(mean *[processes]float64, e, sd float64, gain *[processes]float64) (negLogLik float64) {
	z := (e - sum(mean)) / sd
	clipped := min(max(z, -huberDown), huberUp)
	for i := range mean {
		mean[i] += gain[i] * clipped * sd
	}
	return clipped * (z - clipped/2)
}

func sum(mean *[processes]float64) float64 { return mean[0] + mean[1] + mean[2] + mean[3] }

// elapsed is the time since a state's; clocks that were set back make it 0.
func elapsed(since, at time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	return max(0, at.Sub(since))
}

// Follow returns the state after measurements, the newest last.
func (m Model) Follow(k KalmanState, list []Measurement) KalmanState {
	if len(list) == 0 {
		return k
	}
	f, at := k.decode(m), k.At
	for _, x := range list {
		f.predict(m, decay(elapsed(at, x.At)))
		sd, gain := f.gain(x.ProbeSD)
		update(&f.mean, x.E, sd, &gain)
		at = x.At
	}
	return f.encode(at)
}
