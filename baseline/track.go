package baseline

import (
	"math"
	"time"
)

// Track is where a level is believed to be at a time: the means of its processes, and their covariance by rows of its upper
// triangle. The zero Track knows nothing but that levels come back to usual.
type Track struct {
	At   time.Time                                `json:"at,omitzero"`
	Mean [processes]float64                       `json:"mean,omitzero"`
	Cov  [processes * (processes + 1) / 2]float64 `json:"cov,omitzero"`
}

// Seen is one observation of a level, or of several at a time one of them.
type Seen struct {
	At time.Time
	Share
	Start bool // a step may have come just before it
	Also  bool // it is of the same observation as the one before it
}

// Weighed is what a list of observations says together.
type Weighed struct {
	Best  Step    // what speaks most for a step, of any number of observations
	Sure  Step    // the same of as many as were asked for, and more
	Hours float64 // the level of hours after all of them, ln
	Reach float64 // what it is allowed to be from usual, ln
}

// Away is how far the level of hours is beyond what it is allowed to be from usual, ln; negative where it is not.
func (w Weighed) Away() float64 { return w.Hours - w.Reach }

// Step is what speaks for a lasting step up: Score is the logarithm of how much likelier the newest N observations are on a
// level that rose by By (ln) just before them than on one that moves as it always did.
type Step struct {
	Score float64
	N     int
	By    float64
	From  float64 // the level believed just before them, ln
}

// steps are the sizes that are tried, ln: a fault of half as much again, and of two and a half times.
var steps = [...]float64{math.Log(1.5), math.Log(2.5)}

// One observation speaks only so loud, in standard deviations: queues and retries make single ones far too slow.
const (
	loudUp   = 1.2
	loudDown = 2
)

// believed is a Track in the form that it is moved in.
type believed struct {
	mean [processes]float64
	cov  [processes][processes]float64
}

func (t Track) open(w Wander) (b believed) {
	if t.At.IsZero() {
		for i, v := range w {
			b.cov[i][i] = v
		}
		return b
	}
	b.mean = t.Mean
	n := 0
	for i := range processes {
		for j := i; j < processes; j++ {
			b.cov[i][j], b.cov[j][i] = t.Cov[n], t.Cov[n]
			n++
		}
	}
	return b
}

func (b *believed) shut(at time.Time) Track {
	t := Track{At: at, Mean: b.mean}
	n := 0
	for i := range processes {
		for j := i; j < processes; j++ {
			t.Cov[n] = b.cov[i][j]
			n++
		}
	}
	return t
}

// ahead moves the belief by the time in which left is left of each process.
func (b *believed) ahead(w Wander, left [processes]float64) {
	for i := range processes {
		b.mean[i] *= left[i]
		for j := range processes {
			b.cov[i][j] *= left[i] * left[j]
		}
		b.cov[i][i] += w[i] * (1 - left[i]*left[i])
	}
}

// weight is how an observation of scatter sw moves the belief: its own standard deviation, and how far each process follows.
func (b *believed) weight(sw float64) (sd float64, gain [processes]float64) {
	s := sw * sw
	for i := range processes {
		for j := range processes {
			gain[i] += b.cov[i][j]
		}
		s += gain[i]
	}
	for i := range processes {
		for j := i; j < processes; j++ {
			b.cov[i][j] -= gain[i] * gain[j] / s
			b.cov[j][i] = b.cov[i][j]
		}
	}
	for i := range gain {
		gain[i] /= s
	}
	return math.Sqrt(s), gain
}

func level(mean *[processes]float64) float64 { return mean[0] + mean[1] + mean[2] + mean[3] }

// slowPart is what lasts for hours.
func slowPart(of [processes]float64) [processes]float64 {
	for i, t := range forgetting {
		if t < 4*time.Hour {
			of[i] = 0
		}
	}
	return of
}

// follow moves means by what an observation adds, no more than so loud, and returns how unlikely it was: −ln of its density
// but for what is the same everywhere.
func follow(mean *[processes]float64, e, sd float64, gain *[processes]float64) (odd float64) {
	z := (e - level(mean)) / sd
	loud := min(max(z, -loudDown), loudUp)
	for i := range mean {
		mean[i] += gain[i] * loud * sd
	}
	return loud * (z - loud/2)
}

// since is how long after the track's time an instant is; clocks that were set back make it 0.
func since(t, at time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(0, at.Sub(t))
}

// Follow returns the track after observations, the newest last.
func (w Wander) Follow(t Track, list []Seen) Track {
	if len(list) == 0 {
		return t
	}
	b, at := t.open(w), t.At
	for _, x := range list {
		b.ahead(w, fade(since(at, x.At)))
		sd, gain := b.weight(x.SW)
		follow(&b.mean, x.E, sd, &gain)
		at = x.At
	}
	return b.shut(at)
}

// Weigh asks of each observation that may be a start, the newest last, whether a step came with it; Sure needs least of them. The
// level before a start is believed to be at most ln(most) from usual, or two of its standard deviations, and so is that of hours:
// a rise of a day is not followed without end.
func (w Wander) Weigh(t Track, list []Seen, least int, most float64) Weighed {
	best, sure := Step{Score: math.Inf(-1)}, Step{Score: math.Inf(-1)}
	moves := make([]move, len(list))
	b, at := t.open(w), t.At
	for i, x := range list {
		m := &moves[i]
		if m.later = since(at, x.At); m.later > 0 {
			m.left = fade(m.later)
			b.ahead(w, m.left)
		}
		m.mean = b.mean
		m.sd, m.gain = b.weight(x.SW)
		m.odd = follow(&b.mean, x.E, m.sd, &m.gain)
		at = x.At
	}
	hours := slowPart(b.mean)
	reach := max(math.Log(max(1, most)), 2*Wander(slowPart(w)).SD())
	room := max(math.Log(max(1, most)), 2*w.SD())
	var odd float64 // of all from i on, as they were followed
	n := 0
	for i := len(list) - 1; i >= 0; i-- {
		odd += moves[i].odd
		if list[i].Also {
			continue
		}
		n++
		if !list[i].Start {
			continue
		}
		before, moved := within(moves[i].mean, room)
		same := odd
		if moved {
			same = -score(before, list[i:], moves[i:], 0, 0, math.Inf(-1))
		}
		for _, by := range steps {
			beat := best.Score
			if n >= least {
				beat = min(beat, sure.Score)
			}
			s := Step{Score: score(before, list[i:], moves[i:], by, same, beat), N: n, By: by, From: level(&before)}
			if s.Score > best.Score {
				best = s
			}
			if n >= least && s.Score > sure.Score {
				sure = s
			}
		}
	}
	return Weighed{Best: best, Sure: sure, Hours: level(&hours), Reach: reach}
}

// move is what one observation of a list does to a belief, whatever its means are.
type move struct {
	later            time.Duration      // than the one before it; 0: left is not set, all of it is left
	left, mean, gain [processes]float64 // mean: before it
	sd, odd          float64            // odd: as it was followed
}

// score is how much likelier than same (−ln of a density) all observations are on a level that is before at the first, and higher
// by by ever since. Each takes from it or leaves it as it is: once it is no better than beat, the rest are not asked.
func score(before [processes]float64, list []Seen, moves []move, by, same, beat float64) float64 {
	var odd float64
	for i := range list {
		m := &moves[i]
		if i > 0 && m.later > 0 {
			for p := range before {
				before[p] *= m.left[p]
			}
		}
		odd += follow(&before, list[i].E-by, m.sd, &m.gain)
		if same-odd <= beat {
			break
		}
	}
	return same - odd
}

// within shrinks means so that the level is at most room from usual, and says whether it had to.
func within(mean [processes]float64, room float64) (out [processes]float64, moved bool) {
	m := math.Abs(level(&mean))
	if m <= room {
		return mean, false
	}
	for i := range mean {
		mean[i] *= room / m
	}
	return mean, true
}
