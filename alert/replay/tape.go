package replay

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"serin/probe"
)

// Tape holds what judging needs of recorded samples, a million in some 60 MB. Add may be called from several goroutines;
// the rest may be, once all is added.
type Tape struct {
	mu       sync.Mutex
	traits   []trait
	known    map[trait]int32
	canaries map[string]*track
	order    []string // keys of canaries, sorted by Canaries
}

// track is one canary's samples.
type track struct {
	target, scene string
	size          probe.Size
	parts         [][]row // as they were added
	rows          []row   // all of them, in order: made by sort
}

// partMost is how many rows a part holds at most: a long track that grew as one would be copied again and again.
const partMost = 1 << 15

func (c *track) add(r row) {
	n := len(c.parts)
	if n == 0 || len(c.parts[n-1]) == cap(c.parts[n-1]) {
		size := 64
		if n > 0 {
			size = min(2*cap(c.parts[n-1]), partMost)
		}
		c.parts = append(c.parts, make([]row, 0, size))
		n++
	}
	c.parts[n-1] = append(c.parts[n-1], r)
}

// join brings all parts into rows, in order; of two with one time and attempt the first that was added stays.
func (c *track) join() {
	if len(c.parts) == 0 {
		return
	}
	c.rows = slices.Concat(append([][]row{c.rows}, c.parts...)...)
	c.parts = nil
	slices.SortStableFunc(c.rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.attempt, b.attempt)) })
	c.rows = slices.CompactFunc(c.rows, func(a, b row) bool { return a.at == b.at && a.attempt == b.attempt })
}

// row is one sample; the spans are nanoseconds, −1 = not known.
type row struct {
	at                           int64 // Unix nanoseconds
	ttft, ttfa, tpot, e2e, total int64
	trait                        int32
	attempt                      int32
}

// trait is what many samples share.
type trait struct {
	trigger                  probe.Trigger
	outcome                  probe.Outcome
	reason, spec, instance   string
	first, suspect, buffered bool
}

// NewTape returns an empty tape.
func NewTape() *Tape { return &Tape{known: map[trait]int32{}, canaries: map[string]*track{}} }

// Add takes samples in, in any order. Checks, which judge nothing, are left out.
func (t *Tape) Add(samples ...probe.Sample) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range samples {
		if samples[i].Trigger != probe.Check {
			t.add(&samples[i])
		}
	}
}

func (t *Tape) add(s *probe.Sample) {
	key := s.Key()
	c := t.canaries[key]
	if c == nil {
		c = &track{target: s.Target, scene: s.Scene, size: s.Size}
		t.canaries[key] = c
	}
	t.order = nil
	c.add(row{at: s.Time.UnixNano(), ttft: packed(s.TTFT), ttfa: packed(s.TTFA), tpot: packed(s.TPOT), e2e: packed(s.E2E),
		total: packed(s.StreamTotal), trait: t.traitOf(s), attempt: int32(max(1, s.Attempt))})
}

func (t *Tape) traitOf(s *probe.Sample) int32 {
	x := trait{trigger: s.Trigger, outcome: s.Outcome, reason: s.Reason, spec: s.Spec, instance: s.Instance, first: s.First,
		suspect: s.Has(probe.ClientSuspect), buffered: s.Has(probe.BufferedSuspect)}
	if i, ok := t.known[x]; ok {
		return i
	}
	i := int32(len(t.traits))
	t.traits = append(t.traits, x)
	t.known[x] = i
	return i
}

func packed(s probe.Span) int64 {
	if !s.Known {
		return -1
	}
	return int64(s.D)
}

func unpacked(d int64) probe.Span {
	if d < 0 {
		return probe.Span{}
	}
	return probe.Known(time.Duration(d))
}

// sample returns the row as a sample.
func (t *Tape) sample(c *track, r *row) probe.Sample {
	x := &t.traits[r.trait]
	s := probe.Sample{Time: time.Unix(0, r.at).UTC(), Target: c.target, Scene: c.scene, Size: c.size, Trigger: x.trigger, Attempt: int(r.attempt),
		Spec: x.spec, Instance: x.instance, Outcome: x.outcome, Family: x.outcome.Family(), Side: x.outcome.Side(x.reason), Reason: x.reason, First: x.first,
		TTFT: unpacked(r.ttft), TTFA: unpacked(r.ttfa), TPOT: unpacked(r.tpot), E2E: unpacked(r.e2e), StreamTotal: unpacked(r.total)}
	if x.suspect {
		s.Flags = append(s.Flags, probe.ClientSuspect)
	}
	if x.buffered {
		s.Flags = append(s.Flags, probe.BufferedSuspect)
	}
	return s
}

// sort brings each canary's rows in order.
func (t *Tape) sort() {
	if t.order != nil {
		return
	}
	for key, c := range t.canaries {
		t.order = append(t.order, key)
		c.join()
	}
	slices.Sort(t.order)
}

// Canary is one canary of a tape.
type Canary struct {
	Key, Target, Scene string
	Size               probe.Size
	Samples            int
	Regular            int // of them, as the cut says
	Due                int // times of the cut's grid after which, before the next, there is a sample; without a grid as Regular
	First, Last        time.Time
	Metrics            []probe.Metric // that were measured at least once
	Gap                time.Duration  // the most common one between regular samples; 0 where there are fewer than two
}

// Canaries lists the tape's canaries by key, as a cut makes them. Call it when all is added.
func (t *Tape) Canaries(cut Cut) []Canary {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sort()
	var list []Canary
	for _, key := range t.order {
		c := t.canaries[key]
		n := len(c.rows)
		list = append(list, Canary{Key: key, Target: c.target, Scene: c.scene, Size: c.size, Samples: n, First: time.Unix(0, c.rows[0].at).UTC(),
			Last: time.Unix(0, c.rows[n-1].at).UTC(), Metrics: c.metrics(), Gap: t.gap(c, cut),
			Regular: t.regulars(c, cut), Due: t.due(c, cut)})
	}
	return list
}

func (t *Tape) regulars(c *track, cut Cut) (n int) {
	for i := range c.rows {
		if t.regular(&c.rows[i], cut) {
			n++
		}
	}
	return n
}

// due counts the parts of a cut's grid that hold a sample: each should begin with a regular one.
func (t *Tape) due(c *track, cut Cut) (n int) {
	if cut.Every <= 0 {
		return t.regulars(c, cut)
	}
	last := int64(math.MinInt64)
	for i := range c.rows {
		if part := cut.part(c.rows[i].at); part != last {
			n++
			last = part
		}
	}
	return n
}

func (c *track) metrics() []probe.Metric {
	var seen [4]bool
	for i := range c.rows {
		r := &c.rows[i]
		seen[0], seen[1], seen[2], seen[3] = seen[0] || r.ttft > 0, seen[1] || r.ttfa > 0, seen[2] || r.tpot > 0, seen[3] || r.e2e > 0
	}
	var list []probe.Metric
	for i, m := range []probe.Metric{probe.TTFT, probe.TTFA, probe.TPOT, probe.E2E} {
		if seen[i] {
			list = append(list, m)
		}
	}
	return list
}

// gap is the median distance of regular samples, to the whole minute where it is within 5 s of one.
func (t *Tape) gap(c *track, cut Cut) time.Duration {
	var gaps []int64
	last := int64(-1)
	for i := range c.rows {
		if r := &c.rows[i]; t.regular(r, cut) {
			if last >= 0 {
				gaps = append(gaps, r.at-last)
			}
			last = r.at
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	gap := time.Duration(gaps[len(gaps)/2])
	if whole := gap.Round(time.Minute); whole > 0 && (gap-whole).Abs() <= 5*time.Second {
		return whole
	}
	return max(gap.Round(time.Second), time.Second)
}

// Cut says which samples are regular: those whose trigger says so, or with Every those whose time, cut to the minute, is a
// multiple of it since 00:00 UTC. The others answer re-probes.
type Cut struct{ Every time.Duration }

func (t *Tape) regular(r *row, cut Cut) bool {
	if cut.Every <= 0 {
		trigger := t.traits[r.trait].trigger
		return trigger == "" || trigger == probe.Schedule
	}
	sinceMidnight := r.at - midnight(r.at)
	return (sinceMidnight-sinceMidnight%int64(time.Minute))%int64(cut.Every) == 0
}

// part is the instant at which the part of the grid around t began. Each midnight begins one.
func (cut Cut) part(t int64) int64 {
	from := midnight(t)
	return t - (t-from)%int64(cut.Every)
}

// midnight is the one of UTC at or before t.
func midnight(t int64) int64 {
	const day = 24 * int64(time.Hour)
	return t - (t%day+day)%day
}
