package sim

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"serin/alert"
	"serin/probe"
)

// Preset is a rule under its name.
type Preset struct {
	Name      string
	Rule      alert.Rule
	PerTarget bool // the target's own alerts are scored, not those of its canaries
}

// Options say what a benchmark runs.
type Options struct {
	Seeds    []uint64
	Presets  []Preset
	Days     int                  // of every world but the shift's and the error profiles'; 0 = 60
	Small    bool                 // healthy and incident worlds on 5-minute schedules only, without error profiles
	Workers  int                  // at once; 0 = 1
	Progress func(done, jobs int) // after each job, from one goroutine at a time; nil = none
}

const (
	everyDefault = 5 * time.Minute
	worldDays    = 60
	shiftDays    = 40
	minuteDays   = 30 // of the schedule of one minute, which has five times the probes
)

// Report is what a benchmark found.
type Report struct {
	Seeds  []uint64
	Rules  []*RuleReport // as asked for
	Faults []FaultReport
	Fleets []FleetReport
	Gates  []Gate
}

// RuleReport is one preset's part of a report.
type RuleReport struct {
	Preset  string
	Courses map[Course]*Tally        // on 5-minute schedules
	Every   map[time.Duration]*Tally // healthy worlds on other schedules
}

// FaultReport is one error profile's part of a report.
type FaultReport struct {
	Profile string
	*FaultTally
}

// courses lists all courses.
func courses() []Course { return []Course{Healthy, Incidents, Wander, Shift, Ramp} }

// runs reports whether a course is run of a preset: those that it has gates for, all of the default.
func (o Options) runs(preset string, c Course) bool {
	switch {
	case o.Small, preset == "literal": // literal shows that the workload is hard
		return c == Healthy || c == Incidents
	case preset == "sharp":
		return c != Shift
	case preset == "corroborated":
		return c != Ramp
	}
	return true
}

// DefaultPreset is the one that other schedules and error profiles are run with.
const DefaultPreset = "balanced"

// otherSchedules are the intervals beside 5 minutes.
func otherSchedules() []time.Duration {
	return []time.Duration{time.Minute, 15 * time.Minute, time.Hour}
}

// Benchmark runs the workload and holds its numbers against the gates. The result does not depend on Workers.
func Benchmark(ctx context.Context, o Options) (*Report, error) {
	if o.Days == 0 {
		o.Days = worldDays
	}
	jobs := o.jobs()
	if err := work(ctx, jobs, max(1, o.Workers), o.Progress); err != nil {
		return nil, err
	}
	r := &Report{Seeds: o.Seeds}
	for _, p := range o.Presets {
		r.Rules = append(r.Rules, &RuleReport{p.Name, map[Course]*Tally{}, map[time.Duration]*Tally{}})
	}
	for _, j := range jobs {
		r.add(j)
	}
	r.Gates = gates(r)
	return r, nil
}

// job is a share of the work: the worlds of one seed and metric, or one error profile of a seed. Its results stay in it
// until all are done, so that their order is always the same.
type job struct {
	run    func(ctx context.Context, j *job) error
	rules  []ruleResult
	faults []FaultReport
	fleets []FleetReport
}

type ruleResult struct {
	preset string
	course Course
	every  time.Duration
	tally  *Tally
}

func (o Options) jobs() []*job {
	var list []*job
	for _, seed := range o.Seeds {
		for _, m := range []probe.Metric{probe.TTFT, probe.TPOT} {
			list = append(list, &job{run: func(ctx context.Context, j *job) error { return o.worlds(ctx, j, seed, m) }})
		}
	}
	i := slices.IndexFunc(o.Presets, func(p Preset) bool { return p.Name == DefaultPreset })
	if i < 0 || o.Small {
		return list
	}
	for _, seed := range o.Seeds {
		for _, f := range FaultProfiles() {
			list = append(list, &job{run: func(ctx context.Context, j *job) error {
				t, err := RunFaults(ctx, seed, f, o.Presets[i].Rule, everyDefault)
				j.faults = append(j.faults, FaultReport{f.Name, t})
				return err
			}})
		}
	}
	return append(list, o.fleetJobs()...)
}

// worlds runs every course of one seed and metric under the presets that it is for.
func (o Options) worlds(ctx context.Context, j *job, seed uint64, m probe.Metric) error {
	for _, c := range courses() {
		days := o.Days
		if c == Shift {
			days = shiftDays
		}
		w := NewWorld(seed, m, c, days)
		for _, p := range o.Presets {
			if !o.runs(p.Name, c) {
				continue
			}
			if err := j.one(ctx, w, p, everyDefault); err != nil {
				return err
			}
			if c == Healthy && p.Name == DefaultPreset && !o.Small {
				if err := o.schedules(ctx, j, w, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// schedules runs a healthy world on other schedules.
func (o Options) schedules(ctx context.Context, j *job, w *World, p Preset) error {
	for _, every := range otherSchedules() {
		part := *w
		if every == time.Minute {
			part.Minutes = min(part.Minutes, minuteDays*dayMinutes)
		}
		if err := j.one(ctx, &part, p, every); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) one(ctx context.Context, w *World, p Preset, every time.Duration) error {
	out, err := Run(ctx, w, p.Rule, every)
	if err != nil {
		return fmt.Errorf("run %s of seed %d, %s, under %s: %w", w.Course, w.Seed, w.Metric, p.Name, err)
	}
	j.rules = append(j.rules, ruleResult{p.Name, w.Course, every, Score(w, out, p.PerTarget)})
	return nil
}

// work runs jobs on some workers and returns the first error; the others stop at their next day.
func work(ctx context.Context, jobs []*job, workers int, progress func(done, all int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *job)
	var mu sync.Mutex
	done := 0
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range queue {
				if err := j.run(ctx, j); err != nil {
					cancel(err)
				}
				mu.Lock()
				done++
				if progress != nil {
					progress(done, len(jobs))
				}
				mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		queue <- j
	}
	close(queue)
	wg.Wait()
	return context.Cause(ctx)
}

// add takes in one job's results.
func (r *Report) add(j *job) {
	for _, x := range j.rules {
		rule := r.Rule(x.preset)
		if x.every != everyDefault {
			rule.Every[x.every] = sum(rule.Every[x.every], x.tally)
			continue
		}
		rule.Courses[x.course] = sum(rule.Courses[x.course], x.tally)
	}
	for _, f := range j.faults {
		i := slices.IndexFunc(r.Faults, func(have FaultReport) bool { return have.Profile == f.Profile })
		if i < 0 {
			i = len(r.Faults)
			r.Faults = append(r.Faults, FaultReport{f.Profile, &FaultTally{}})
		}
		r.Faults[i].Add(f.FaultTally)
	}
	for _, f := range j.fleets {
		r.addFleet(f)
	}
}

func sum(t, more *Tally) *Tally {
	if t == nil {
		t = newTally()
	}
	t.Add(more)
	return t
}

// Rule returns a preset's part, nil when it was not run.
func (r *Report) Rule(preset string) *RuleReport {
	for _, x := range r.Rules {
		if x.Preset == preset {
			return x
		}
	}
	return nil
}
