package sim

import (
	"context"
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

// The fleet: healthy targets with the scenes of a real one, each canary watched in both metrics, under a rule as users
// have it, with the targets' own alerts.
const (
	fleetTargets = 40
	fleetDays    = 15 // of which the first eight are for learning
	fleetSeed    = 1000
)

func fleetScenes() []string { return []string{"chat", "support", "batch"} }

// FleetReport is what a rule did on a healthy fleet after day 8: its alerts of drift, all of which are false.
type FleetReport struct {
	Rule     string
	Targets  int
	Canaries int     // a target's
	Months   float64 // watched, of one target
	Pages    int     // times that a target had an alert of level warning or worse, until it had none
	Paging   int     // alerts that were of level warning or worse
	Promoted int     // of them, single canaries' under a target that judges them together
	Info     int     // alerts below it
	Regular  int     // probes
	Extra    int     // re-probes
}

// FleetRow is a fleet's numbers a month, Extra in percent.
type FleetRow struct {
	Rule     string  `json:"rule"`
	Targets  int     `json:"targets"`
	Canaries int     `json:"canariesEach"`
	Pages    float64 `json:"pages"`
	Paging   float64 `json:"paging"`
	Promoted float64 `json:"promoted"`
	Info     float64 `json:"info"`
	Extra    float64 `json:"extraRequests"`
}

func (f FleetReport) row() FleetRow {
	month := func(n int) float64 { return rounded(float64(n) * float64(f.Targets) / f.Months) }
	return FleetRow{Rule: f.Rule, Targets: f.Targets, Canaries: f.Canaries, Pages: month(f.Pages), Paging: month(f.Paging),
		Promoted: month(f.Promoted), Info: month(f.Info), Extra: rounded(100 * float64(f.Extra) / float64(max(1, f.Regular)))}
}

// fleetTarget answers with both metrics of one target.
type fleetTarget struct{ ttft, tpot *World }

func newFleetTarget(seed uint64) fleetTarget {
	n := canaries * len(fleetScenes())
	return fleetTarget{newWorld(seed, probe.TTFT, Healthy, fleetDays, n), newWorld(seed, probe.TPOT, Healthy, fleetDays, n)}
}

func (t fleetTarget) probe(k int, sent time.Time) (probe.Sample, bool) {
	s, ok := t.ttft.probe(k, sent)
	if more, both := t.tpot.probe(k, sent); both {
		s.TPOT = more.TPOT
	}
	return s, ok
}

// fleetJobs runs the default and the literal preset, where they are asked for, on every target of a fleet.
func (o Options) fleetJobs() []*job {
	var list []*job
	for _, p := range o.Presets {
		if o.Small || p.Name != DefaultPreset && p.Name != "literal" {
			continue
		}
		for i := range uint64(fleetTargets) {
			list = append(list, &job{run: func(ctx context.Context, j *job) error {
				f, err := runFleetTarget(ctx, p, fleetSeed*o.Seeds[0]+i)
				j.fleets = append(j.fleets, f)
				return err
			}})
		}
	}
	return list
}

func runFleetTarget(ctx context.Context, p Preset, seed uint64) (FleetReport, error) {
	rule := p.Rule
	rule.Corroborate = !rule.Literal()
	world := newFleetTarget(seed)
	watched := watchedScenes(rule, []probe.Metric{probe.TTFT, probe.TPOT}, everyDefault, fleetScenes()...)
	o, err := run(ctx, world, watched, world.ttft.Minutes)
	f := FleetReport{Rule: p.Name, Targets: 1, Canaries: len(watched), Months: float64(world.ttft.Minutes-scoredFrom) / monthLong,
		Regular: o.Regular, Extra: o.Extra}
	var paging []Episode
	for _, e := range o.Episodes {
		switch {
		case e.Start.Before(minuteTime(scoredFrom)), e.Kind.Metric() == "": // the prober's own outages are no data
		case e.Severity == alert.Info:
			f.Info++
		default:
			paging = append(paging, e)
			f.Paging++
			if e.Series != targetName && rule.Corroborate {
				f.Promoted++
			}
		}
	}
	f.Pages = spells(paging)
	return f, err
}

// spells counts the times with an alert: alerts (by start) that overlap are one.
func spells(list []Episode) (n int) {
	var end time.Time
	open := false // one never ended
	for _, e := range list {
		if !open && (n == 0 || e.Start.After(end)) {
			n++
		}
		if open = open || e.End.IsZero(); e.End.After(end) {
			end = e.End
		}
	}
	return n
}

func (r *Report) addFleet(f FleetReport) {
	i := slices.IndexFunc(r.Fleets, func(have FleetReport) bool { return have.Rule == f.Rule })
	if i < 0 {
		r.Fleets = append(r.Fleets, f)
		return
	}
	sum := &r.Fleets[i]
	sum.Targets++
	sum.Months += f.Months
	sum.Pages += f.Pages
	sum.Paging += f.Paging
	sum.Promoted += f.Promoted
	sum.Info += f.Info
	sum.Regular += f.Regular
	sum.Extra += f.Extra
}
