package blackbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// scenario is one file of testdata: why, a config, a script and the log that it leaves.
//
// The script has a line a step, by its instant: HH:MM of the first day, or 3d HH:MM of a later one.
//
//	config one.toml            the config: a file of the scenario, else of testdata/config
//	start 2026-03-02 10:00     the first instant; this is the default
//	learn 9                    days of healthy history; this is the default
//	tick 1m                    how often the engine looks at the clock; default 5 s
//	11:00 11:30 gw/*/short x2  what canaries answer from an instant until another, see spoil; with "for 3": three probes of
//	                           each only; with "on 5m off 20m": it comes and goes
//	11:10 restart              an order: restart, kill, kill-before-delivery, reload FILE, clock -2h, silence 2h MATCHER…,
//	                           cap warning 2h MATCHER…, expire, ack SCOPE, ack SCOPE HH:MM, accept PATTERN, undo PATTERN,
//	                           reset PATTERN, mark TEXT, states
//	14:00 end
//	restarts differ            some are not tried: the scenario has its own
type scenario struct {
	files    map[string]string
	config   string
	start    time.Time
	learn    int
	every    time.Duration
	troubles []*trouble
	orders   []order
	end      time.Time
	restarts bool // a restart changes nothing of it
}

// order is something that is done to a rig at an instant.
type order struct {
	at   time.Time
	what string
	args []string
}

func parse(t *testing.T, a *txtar.Archive) *scenario {
	s := &scenario{files: map[string]string{}, start: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), learn: 9, every: 5 * time.Second, restarts: true}
	for _, f := range a.Files {
		s.files[f.Name] = string(f.Data)
	}
	for line := range strings.Lines(s.files["script"]) {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			if err := s.step(words); err != nil {
				t.Fatalf("%q: %v", strings.TrimSpace(line), err)
			}
		}
	}
	if s.end.IsZero() || s.config == "" {
		t.Fatal("a scenario needs a config, and an end in its script")
	}
	slices.SortStableFunc(s.orders, func(a, b order) int { return a.at.Compare(b.at) })
	return s
}

// file returns a config of the scenario, or one that all share.
func (s *scenario) file(name string) (string, error) {
	if text, ok := s.files[name]; ok {
		return text, nil
	}
	text, err := os.ReadFile(filepath.Join("testdata", "config", name))
	return string(text), err
}

func (s *scenario) step(words []string) (err error) {
	switch words[0] {
	case "start":
		s.start, err = time.Parse("2006-01-02 15:04", strings.Join(words[1:], " "))
		return err
	case "learn":
		_, err = fmt.Sscan(words[1], &s.learn)
		return err
	case "tick":
		s.every, err = time.ParseDuration(words[1])
		return err
	case "config":
		s.config, err = s.file(words[1])
		return err
	case "restarts":
		s.restarts = false
		return nil
	}
	at, rest, err := s.instant(words)
	if err != nil || len(rest) == 0 {
		return fmt.Errorf("no instant and step: %w", err)
	}
	if to, rest, err := s.instant(rest); err == nil {
		return s.trouble(at, to, rest)
	}
	if rest[0] == "end" {
		s.end = at
		return nil
	}
	s.orders = append(s.orders, order{at, rest[0], rest[1:]})
	return nil
}

// instant reads "11:00", "11:00:30" or "2d 11:00" off the front of a line.
func (s *scenario) instant(words []string) (at time.Time, rest []string, err error) {
	day := midnight(s.start)
	if n, ok := strings.CutSuffix(words[0], "d"); ok && len(words) > 1 {
		var days int
		if _, err := fmt.Sscan(n, &days); err != nil {
			return at, nil, err
		}
		day, words = day.AddDate(0, 0, days), words[1:]
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if clock, err := time.Parse(layout, words[0]); err == nil {
			return day.Add(clock.Sub(midnight(clock))), words[1:], nil
		}
	}
	return at, nil, fmt.Errorf("%q is no time of day", words[0])
}

func (s *scenario) trouble(from, to time.Time, words []string) (err error) {
	x := &trouble{from: from, to: to, match: words[0], what: words[1], seen: map[string]int{}}
	for i := 2; i+1 < len(words) && err == nil; i += 2 {
		switch words[i] {
		case "for":
			_, err = fmt.Sscan(words[i+1], &x.times)
		case "on":
			x.on, err = time.ParseDuration(words[i+1])
		case "off":
			x.off, err = time.ParseDuration(words[i+1])
		default:
			err = fmt.Errorf("%q is unknown", words[i])
		}
	}
	s.troubles = append(s.troubles, x)
	return err
}

// base is a disk that has learned.
func (s *scenario) base(t *testing.T) *disk {
	d := newDisk()
	r := newRig(t, loadConfig(t, s.config, s.start), s.start, healthy, d)
	r.learn(s.learn)
	r.start()
	d.flush()
	return d
}

// play runs the script with some more orders; it returns what it left in the book.
func (s *scenario) play(t *testing.T, d *disk, more ...order) *rig {
	for _, x := range s.troubles {
		clear(x.seen)
	}
	r := newRig(t, loadConfig(t, s.config, s.start), s.start, play(s.troubles), d)
	r.every = s.every
	r.start()
	orders := slices.Concat(s.orders, more)
	slices.SortStableFunc(orders, func(a, b order) int { return a.at.Compare(b.at) })
	for _, o := range orders {
		r.until(o.at)
		r.obey(o, s)
	}
	r.until(s.end)
	r.states()
	return r
}

// obey does one order; what a person would read as an error stands in the book.
func (r *rig) obey(o order, s *scenario) {
	var err error
	switch o.what {
	case "restart":
		r.restart()
	case "kill":
		r.kill()
	case "kill-before-delivery":
		r.killBeforeDelivery()
	case "reload":
		var text string
		text, err = s.file(o.args[0])
		r.check(err)
		r.reload(loadConfig(r.t, text, r.now))
	case "clock":
		r.setClock(duration(r.t, o.args[0]))
	case "silence":
		err = r.beSilent(duration(r.t, o.args[0]), "", o.args[1:]...)
	case "cap":
		err = r.beSilent(duration(r.t, o.args[1]), o.args[0], o.args[2:]...)
	case "expire":
		err = r.expire()
	case "ack":
		var until time.Time
		if len(o.args) > 1 {
			until, _, err = s.instant(o.args[1:])
			r.check(err)
		}
		err = r.ack(o.args[0], until)
	case "accept":
		err = r.accept(o.args[0])
	case "undo":
		err = r.undo(o.args[0])
	case "reset":
		err = r.reset(o.args[0])
	case "mark":
		err = r.mark(strings.Join(o.args, " "))
	case "states":
		r.states()
	default:
		r.t.Fatalf("order %q is unknown", o.what)
	}
	if err != nil {
		r.book.say(r.now, "%s is refused", o.what)
	}
}

func duration(t testing.TB, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
