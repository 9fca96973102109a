package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline/store"
	"serin/cmd/internal/web"
)

// admin carries out what people order.
type admin struct{ *Daemon }

// adminCommand carries out what a person asks of the engine or of an incident.
func (d admin) adminCommand(ctx context.Context, o web.Order) (done []string, err error) {
	patterns := []string{o.Pattern}
	switch o.Do {
	case web.OrderUndo:
		if patterns, err = d.accepted(ctx, o.Pattern); err != nil {
			return nil, err
		}
	case web.OrderAccept:
		patterns = d.patterns(o.Pattern)
	}
	if !d.onEngine(ctx, func(ctx context.Context) {
		for _, p := range patterns {
			var some []string
			if some, err = d.orderOne(ctx, o, p, time.Now()); err != nil {
				return
			}
			done = append(done, some...)
		}
	}) {
		return nil, errStopping
	}
	slices.Sort(done)
	return slices.Compact(done), err
}

// orderOne carries out an order for one pattern or incident id.
func (d admin) orderOne(ctx context.Context, o web.Order, pattern string, now time.Time) (done []string, err error) {
	var judged alert.Judged
	switch o.Do {
	case web.OrderAck:
		told, err := d.incidents.Ack(pattern, o.Who, o.Why, o.Until, now)
		d.commit(ctx, judged, told)
		return []string{pattern}, err
	case web.OrderUndo:
		judged, done, err = d.engine.Undo(pattern, o.Who, o.Why, now)
	case web.OrderReset:
		judged, done, err = d.engine.ResetBaseline(pattern, o.Who, o.Why, now)
	default:
		judged, done, err = d.engine.Accept(pattern, o.Who, o.Why, now)
	}
	d.carry(ctx, judged)
	return done, err
}

// patterns turns the id of an open incident into the series of its alerts; what is none is a pattern itself.
func (d admin) patterns(text string) []string {
	var list []string
	_, _, firing := d.engine.Status()
	for _, inc := range d.incidents.Status().Incidents {
		for _, a := range firing {
			if inc.ID == text && inc.Member(a.ID).Alert != "" && a.Kind.Metric() != "" && !slices.Contains(list, a.Series) {
				list = append(list, a.Series)
			}
		}
	}
	if len(list) == 0 {
		return []string{text}
	}
	return list
}

// accepted turns the id of an incident into the series whose level was taken for normal by it; what is none is a pattern
// itself.
func (d admin) accepted(ctx context.Context, text string) ([]string, error) {
	ended, err := d.store.Alerts(ctx, store.AlertQuery{Incident: text})
	if err != nil {
		return nil, err
	}
	var list []string
	for _, a := range ended {
		if a.Accepted > 0 && !slices.Contains(list, a.Series) {
			list = append(list, a.Series)
		}
	}
	if len(list) == 0 {
		return []string{text}, nil
	}
	return list, nil
}

// learningEvery is how often the log says how far learning is.
const learningEvery = 24 * time.Hour

// sayLearning logs how many canaries have all their bands. It reports whether some have not.
func (d *Daemon) sayLearning() bool {
	judged, learning := d.learning()
	d.log.Info("learning progress", "judged", judged, "learning", learning, "canaries", judged+learning,
		"words", fmt.Sprintf("%d of %d canaries judged, %d learning", judged, judged+learning, learning))
	return learning > 0
}

// tellLearning logs the progress of learning at the start and once a day, and for the last time when all are judged.
func (d *Daemon) tellLearning(ctx context.Context) {
	day := time.NewTicker(learningEvery)
	defer day.Stop()
	for was := d.sayLearning(); ; {
		select {
		case <-ctx.Done():
			return
		case <-day.C:
			if _, learning := d.learning(); was || learning > 0 {
				was = d.sayLearning()
			}
		}
	}
}

// learning counts the canaries that have all their bands, and those that have not.
func (d *Daemon) learning() (judged, learning int) {
	_, canaries, _ := d.engine.Status()
	for _, c := range canaries {
		ready := len(c.Bands) > 0
		for _, b := range c.Bands {
			ready = ready && b.State == "ready"
		}
		if ready {
			judged++
		} else {
			learning++
		}
	}
	return judged, learning
}
