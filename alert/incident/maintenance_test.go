package incident

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// once is a maintenance of all canaries between two instants.
func once(name string, from, to time.Time) Maintenance {
	return Maintenance{Name: name, Probe: true, Zone: time.UTC, Next: func(after time.Time) (time.Time, time.Time, bool) { return from, to, to.After(after) }}
}

// window puts one maintenance in force, from an hour after the start of a rig on.
func (r *rig) window(m ...Maintenance) *rig {
	r.maintenance = m
	r.engine.UseMaintenance(m)
	return r
}

// TestMaintenanceSumsUp lets one fault begin and end in a window, and one outlast it: nothing is sent inside, one summary
// comes at its end, and then the opening of what fires still.
func TestMaintenanceSumsUp(t *testing.T) {
	for _, how := range []string{"up", "restarted inside", "restarted at the end"} {
		t.Run(how, func(t *testing.T) {
			r := newRig(t, append(target1("a", 5*time.Minute, DefaultRule(), probe.Short), target1("b", 5*time.Minute, DefaultRule(), probe.Short)...)...).learn(9).start()
			begin := r.now.Add(time.Hour)
			end := begin.Add(4 * time.Hour)
			r.window(once("gpu-swap", begin, end))
			r.world = func(c *probe.Canary, at time.Time) probe.Sample {
				if c.Target.Name == "a" && at.After(begin) && at.Before(begin.Add(time.Hour)) || c.Target.Name == "b" && at.After(begin.Add(time.Hour)) && at.Before(end.Add(2*time.Hour)) {
					return answer(c, at, 2)
				}
				return healthy(c, at)
			}
			switch how {
			case "restarted inside":
				r.run(4 * time.Hour)
				r.start().run(time.Hour - r.every)
			case "restarted at the end":
				r.run(5*time.Hour - r.every)
				r.acts("")
				r.now = end.Add(10 * time.Minute)
				r.start()
			default:
				r.run(5*time.Hour - r.every)
			}
			if how != "restarted at the end" {
				r.acts("")
				if got := r.engine.Status().Canaries[1].States[KindTTFT]; got != NumMuted {
					t.Errorf("state %d", got)
				}
			}
			r.run(2 * r.every)
			r.acts("note open")
			n := r.log.notices[0]
			if want := "gpu-swap is over: 2 alerts fired inside, 1 still firing"; n.Message.Headline != want || n.Message.Mention || n.Revision != 1 {
				t.Errorf("%+v, want %q", n, want)
			}
			if got := n.Message.Lines; len(got) != 3 || !strings.HasPrefix(got[1].Text, "still firing: b / chat / short: TTFT") || !strings.HasPrefix(got[2].Text, "over: a / chat / short: TTFT normal again after") {
				t.Errorf("lines %+v", got)
			}
			r.run(6 * time.Hour)
			r.acts("note open resolve")
			if slices.ContainsFunc(slices.Collect(keys(r.log.blobs)), func(k string) bool { return strings.HasPrefix(k, blobWindow) }) {
				t.Error("the window is still stored")
			}
		})
	}
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestQuietMaintenanceSaysNothing sends nothing where nothing fired, and nothing of what was told before it began but its end.
func TestQuietMaintenanceSaysNothing(t *testing.T) {
	r := slowRig(t, 3*time.Hour) // from 11:00 on
	r.window(once("w", r.now.Add(2*time.Hour), r.now.Add(8*time.Hour)), once("quiet", r.now.Add(10*time.Hour), r.now.Add(11*time.Hour)))
	r.run(14 * time.Hour)
	r.acts("open update resolve")
}

// TestMaintenanceStaysOutOfTheBand finds no value of a window in the band, before and after a restart, and the reason.
func TestMaintenanceStaysOutOfTheBand(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.window(once("w", begin, begin.Add(3*time.Hour)))
	r.world = during(begin, begin.Add(3*time.Hour), slower(1.2)) // fires nothing
	r.run(26 * time.Hour)
	inside := func() (n int) {
		for _, p := range r.engine.watches["gw/chat/short"].series[probe.TTFT].Points() {
			if !p.At.Before(begin) && p.At.Before(begin.Add(3*time.Hour)) {
				n++
			}
		}
		return n
	}
	if n := inside(); n != 0 {
		t.Errorf("%d values of the window are in the history", n)
	}
	flagged := 0
	for _, rec := range r.log.records["gw/chat/short"] {
		if rec.Sample.Regular() && rec.Sample.Has(probe.InMaintenance) {
			flagged++
		}
	}
	if flagged < 36 || flagged > 37 {
		t.Errorf("%d samples are flagged, want those of 3 h", flagged)
	}
	r.maintenance = nil // the sample remembers, whatever the config says later
	r.start().run(10 * time.Minute)
	if n := inside(); n != 0 {
		t.Errorf("%d values of the window are in the history after a restart", n)
	}
	if got := r.engine.watches["gw/chat/short"].bands[probe.TTFT].LeftOut[string(probe.InMaintenance)]; got == 0 {
		t.Errorf("left out %v", r.engine.watches["gw/chat/short"].bands[probe.TTFT].LeftOut)
	}
}

// TestMaintenanceUnderASilence sums up nothing that a silence mutes by the end of the window.
func TestMaintenanceUnderASilence(t *testing.T) {
	r := newRig(t, append(target1("a", 5*time.Minute, DefaultRule(), probe.Short), target1("b", 5*time.Minute, DefaultRule(), probe.Short)...)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.window(once("w", begin, begin.Add(3*time.Hour)))
	r.world = during(begin, begin.Add(8*time.Hour), slower(2))
	r.run(2 * time.Hour)
	r.silence(10*time.Hour, "target=a")
	r.run(3 * time.Hour)
	r.acts("note open")
	if got := r.log.notices[0].Message; got.Headline != "w is over: 1 alert fired inside, and still fires" || !strings.HasPrefix(got.Lines[1].Text, "still firing: b /") {
		t.Errorf("%+v", got)
	}
	r.run(10 * time.Hour)
	r.acts("note open thread resolve") // the thread is a reminder
}

// TestMaintenanceOfADownTarget counts what people would have been told, not what was held back behind it.
func TestMaintenanceOfADownTarget(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.window(once("w", begin, begin.Add(6*time.Hour)))
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		switch since := at.Sub(begin); {
		case since > 0 && since < time.Hour:
			return answer(c, at, 2)
		case since >= time.Hour && since < 3*time.Hour:
			return bad(c, at, probe.Connect)
		}
		return healthy(c, at)
	}
	r.run(9 * time.Hour)
	r.acts("note")
	n := r.log.notices[0].Message
	if want := "w is over: 2 alerts fired inside, none fires now"; n.Headline != want || len(n.Lines) != 3 || !strings.HasPrefix(n.Lines[1].Text, "over: gw / chat / short: answers again") {
		t.Errorf("%+v, want %q", n, want)
	}
}

// TestMaintenanceCap tells within a window, as a warning at most, and sums nothing up.
func TestMaintenanceCap(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	m := once("w", begin, begin.Add(4*time.Hour))
	m.Cap = Warning
	r.window(m)
	r.world = during(begin, begin.Add(2*time.Hour), ends(probe.Connect))
	r.run(8 * time.Hour)
	r.acts("open resolve")
	if got := r.log.notices[0].Message.Severity; got != Warning {
		t.Errorf("told as %s", got)
	}
}

// TestMaintenanceLeavesTheConfig sums up a window that a reload takes away while it runs.
func TestMaintenanceLeavesTheConfig(t *testing.T) {
	r := slowRig(t, 6*time.Hour)
	r.window(once("w", r.now, r.now.Add(20*time.Hour)))
	r.run(2 * time.Hour)
	r.acts("")
	r.window()
	if err := r.engine.Reload(t.Context(), r.watched, r.opt.Channels, r.opt.Incident, r.now); err != nil {
		t.Fatal(err)
	}
	r.run(r.every)
	r.acts("note open")
	if got := r.log.notices[0].Message.Headline; got != "w is over: 1 alert fired inside, and still fires" {
		t.Error(got)
	}
}

func TestCovers(t *testing.T) {
	c := target1("gw", 5*time.Minute, DefaultRule(), probe.Short)[0].Canary
	m := once("w", day0, day0.Add(time.Hour))
	m.Match = matchers(t, "target=gw", "kind=ttft")
	rest := once("rest", day0, day0.Add(time.Hour))
	rest.Probe, rest.Match = false, matchers(t, "size!=long")
	f := func(list []Maintenance, at time.Time, resting bool, want string) {
		t.Helper()
		if got, ok := Covers(list, c, at, resting); got != want || ok != (want != "") {
			t.Errorf("%q %t, want %q", got, ok, want)
		}
	}
	f([]Maintenance{m, rest}, day0, false, "w")
	f([]Maintenance{m, rest}, day0, true, "rest")
	f([]Maintenance{m}, day0, true, "")
	f([]Maintenance{m}, day0.Add(time.Hour), false, "")
	f([]Maintenance{m}, day0.Add(-1), false, "")
}

// TestMaintenanceMessages holds the summaries against the golden files.
func TestMaintenanceMessages(t *testing.T) {
	still, over := ttftAlert(), ttftAlert()
	over.Series, over.Resolved, over.State, over.Reason = "gw-us/chat/short", at("14:20:00"), StateOK, "3 calm observations in a row"
	s := MaintenanceStory{Name: "gpu-swap", From: at("02:00:00"), To: at("14:21:00"), Now: at("14:21:05"), Zone: shanghai, Still: []Alert{still}, Over: []Alert{over}, Instance: "serin-1"}
	many := s
	many.Name, many.Still, many.Over, many.More = "evil\n<!channel> name", nil, slices.Repeat([]Alert{over}, 30), 7
	for name, story := range map[string]MaintenanceStory{"maintenance": s, "maintenance_many": many} {
		file := filepath.Join("testdata", "message", name+".txt")
		got := plain(ComposeMaintenance(story))
		if *updateGolden {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
}
