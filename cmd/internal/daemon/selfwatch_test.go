package daemon

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/alert/slack/slacktest"
	"serin/configs"
	"serin/probe"
)

const twoHostsToml = rigToml + `
[[target]]
name = "us"
base_url = "http://us.test/v1"
model = "m"
[[scene]]
name = "other"
targets = ["us"]
short = "*/5 * * * *"
`

// posted returns the texts of what was posted and edited, in order.
func (r *rig) posted() (list []string) {
	for _, c := range r.slack.Calls() {
		if c.Method == slacktest.Post && c.Thread == "" || c.Method == slacktest.Update {
			list = append(list, c.Text)
		}
	}
	return list
}

// wantPosted checks that exactly so many messages went out, each with its words.
func (r *rig) wantPosted(words ...string) {
	r.t.Helper()
	list := r.posted()
	if len(list) != len(words) {
		r.t.Fatalf("%d messages, want %d: %q\n%s", len(list), len(words), list, r.log.String())
	}
	for i, w := range words {
		if !strings.Contains(list[i], w) {
			r.t.Errorf("message %d is %q, want %q in it", i, list[i], w)
		}
	}
}

// unplug makes the rig's network reach none of the named hosts from some time to another.
func (r *rig) unplug(from, to time.Duration, hosts ...string) {
	start := time.Now()
	r.dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		now := time.Since(start)
		for _, h := range hosts {
			if strings.HasPrefix(addr, h) && now >= from && now < to {
				return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("network is unreachable")}
			}
		}
		return r.pipe.DialContext(ctx, network, addr)
	}
}

// TestOwnNetworkLost unplugs everything for an hour: one message and its end, none about a target, no failure counted
// against one.
func TestOwnNetworkLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, twoHostsToml)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		r.unplug(time.Hour, 2*time.Hour, "gw.test", "us.test")
		r.run(4 * time.Hour)
		r.wantPosted("lost its own network: none of its 2 endpoints", "RESOLVED")
		lost := 0
		for _, s := range r.seen {
			switch {
			case s.Outcome == probe.Client && s.Side == probe.SideClient && strings.HasPrefix(s.Reason, reasonNetwork):
				lost++
			case s.Outcome != probe.OK:
				t.Errorf("%s at %s: %s %s", s.Key(), s.Time, s.Outcome, s.Reason)
			}
		}
		if lost < 20 {
			t.Errorf("%d samples say that the network was lost", lost)
		}
	})
}

// TestOneEndpointDown is no loss of the own network: the other one can be reached.
func TestOneEndpointDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, twoHostsToml)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		r.unplug(time.Hour, 2*time.Hour, "us.test")
		r.run(90 * time.Minute)
		for _, text := range r.posted() {
			if !strings.Contains(text, "us") || strings.Contains(text, "own network") {
				t.Errorf("message %q", text)
			}
		}
		if len(r.posted()) == 0 {
			t.Errorf("nobody was told that us is down\n%s", r.log.String())
		}
	})
}

// deaf is a channel that takes nothing until some time.
type deaf struct {
	until time.Time
	took  []string
}

func (*deaf) Name() string              { return "deaf" }
func (*deaf) Skips(n alert.Notice) bool { return false }
func (c *deaf) Send(_ context.Context, n alert.Notice, _ alert.Receipt) (alert.Receipt, error) {
	if time.Now().Before(c.until) {
		return alert.Receipt{}, &alert.SendError{Code: "http 503", Retryable: true}
	}
	c.took = append(c.took, n.Message.Headline)
	return alert.Receipt{TS: "1"}, nil
}

// TestDeadChannelIsToldOnTheOthers leaves one of two channels dead while an endpoint is down.
func TestDeadChannelIsToldOnTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		r.unplug(0, 20*time.Minute, "gw.test")
		dead := &deaf{until: time.Now().Add(time.Hour)}
		r.chans = func(cfg *configs.Config) ([]alert.Channel, error) {
			list, err := r.channels(cfg)
			return append(list, dead), err
		}
		r.run(2 * time.Hour)
		opened, ended := 0, 0
		for _, text := range r.posted() {
			switch {
			case strings.Contains(text, "cannot deliver messages to deaf"):
				opened++
			case strings.Contains(text, "delivers its messages again"):
				ended++
			}
		}
		if opened != 1 || ended != 1 {
			t.Errorf("told %d times, ended %d times: %q", opened, ended, r.posted())
		}
		for _, headline := range dead.took {
			if strings.Contains(headline, "deliver") {
				t.Errorf("the dead channel was told of itself: %q", headline)
			}
		}
	})
}

// TestReloadFailedIsTold says it once, however often it fails, and once when a config is taken.
func TestReloadFailedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml)
		began := time.Now()
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		bad := true
		r.load = func() (*configs.Config, []configs.Problem) {
			if bad {
				return nil, []configs.Problem{{File: "serin.toml", Line: 1, Key: "x", What: "is only odd", Severity: configs.Warning}, {File: "serin.toml", Line: 3, Key: "target.modle", What: "is not a key", Severity: configs.Error}}
			}
			return r.cfg, nil
		}
		r.start = func(d *Daemon) {
			for i := range 3 {
				time.AfterFunc(time.Duration(i+1)*time.Minute, func() {
					if err := (reloader{d}).reload(t.Context()); err == nil {
						t.Error("a bad config was taken")
					}
				})
			}
			time.AfterFunc(5*time.Minute, func() {
				bad = false
				if err := (reloader{d}).reload(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		r.run(10 * time.Minute)
		if !slices.ContainsFunc(r.seen, func(s probe.Sample) bool { return s.Time.Sub(began) > 3*time.Minute }) {
			t.Error("nothing was probed after the bad config")
		}
		r.wantPosted("could not take its new config", "RESOLVED")
		told := string(r.slack.Calls()[0].Blocks)
		if !strings.Contains(told, "serin.toml:3: error: target.modle: is not a key") || !strings.Contains(told, "then: serin reload") || strings.Contains(told, "is only odd") {
			t.Errorf("told %q, want the mistake alone and what to do", told)
		}
	})
}

func TestClockWatch(t *testing.T) {
	f := func(wall, monotonic, want time.Duration) {
		t.Helper()
		if got := drift(wall, monotonic); got != want {
			t.Errorf("drift(%s, %s) = %s, want %s", wall, monotonic, got, want)
		}
	}
	f(15*time.Second, 15*time.Second, 0)
	f(16*time.Second, 15*time.Second, 0) // slewed, or a busy machine
	f(time.Hour, time.Hour, 0)           // looked late
	f(2*time.Hour, 15*time.Second, 2*time.Hour-15*time.Second)
	f(-2*time.Hour, 15*time.Second, -2*time.Hour-15*time.Second)

	var c clockWatch
	now := time.Now()
	if by, steady := c.look(now); by != 0 || !steady {
		t.Errorf("first look: %s, %v", by, steady)
	}
	c.jumped = now
	if _, steady := c.look(now.Add(clockSteady - time.Second)); steady {
		t.Error("steady too early")
	}
	if _, steady := c.look(now.Add(clockSteady)); !steady {
		t.Error("not steady again")
	}
}

// TestStuckScheduleIsTold says once that the scheduler does not turn, and once that it does again.
func TestStuckScheduleIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		var heard []string
		r.start = func(d *Daemon) {
			d.watch.schedule.tell = func(list ...alert.Notice) {
				for _, n := range list {
					heard = append(heard, n.Message.Headline)
				}
			}
			d.watch.lookAtSchedule(errors.New("the scheduler has not turned since noon"))
			d.watch.lookAtSchedule(errors.New("the scheduler has not turned since noon"))
			d.watch.lookAtSchedule(nil)
		}
		r.run(time.Minute)
		if got := strings.Join(heard, "; "); got != "serin's schedule is stuck: no probe is sent; serin's schedule runs again" {
			t.Errorf("heard %q", got)
		}
	})
}
