package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
)

// logCount counts log lines by level.
type logCount struct {
	mu    sync.Mutex
	lines []string
}

func (c *logCount) Enabled(context.Context, slog.Level) bool { return true }
func (c *logCount) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c *logCount) WithGroup(string) slog.Handler            { return c }
func (c *logCount) Handle(_ context.Context, r slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	c.lines = append(c.lines, line)
	return nil
}

func (c *logCount) logger() *slog.Logger { return slog.New(c) }

func (c *logCount) count(prefix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, l := range c.lines {
		if strings.HasPrefix(l, prefix) {
			n++
		}
	}
	return n
}

func TestOrderAndPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		advance(10 * time.Second)
		b.tell(note("a", 1, alert.ActOpen))
		b.tell(note("a", 2, alert.ActThread), note("a", 3, alert.ActUpdate))
		advance(time.Millisecond)
		b.tell(note("b", 1, alert.ActOpen))
		crit := note("c", 1, alert.ActOpen)
		crit.Message.Severity = alert.Critical
		b.tell(crit)
		advance(time.Minute)
		b.tell(note("a", 4, alert.ActResolve))
		ch.want(t,
			`10s open a.1 "a open"`,
			`11s thread a.2 on 1 "a thread"`, // first come, first served
			`12s update a.3 on 1 "a update"`,
			`13s open b.1 "b open"`,
			`14s open c.1 "c open"`,
			`1m10.001s resolve a.4 on 1 "a resolve"`)
		b.count("slack sent", 6)
		if n, oldest := b.box.Pending(); n != 0 || !oldest.IsZero() {
			t.Errorf("%d pending since %v", n, oldest)
		}
		if r := b.journal.row(note("c", 1, alert.ActOpen)); r.State != alert.NoticeSent || r.Receipt.TS != "5" || r.Sending || r.Attempts != 1 {
			t.Errorf("the store has %+v", r)
		}
	})
}

func TestOneChannelHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &fakeChannel{name: "slow", edits: true, delay: time.Hour}
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{}, slow, ch)
		defer b.end()
		n := note("a", 1, alert.ActOpen)
		n.Channel = "slow"
		b.tell(n, note("a", 1, alert.ActOpen), note("b", 1, alert.ActOpen))
		advance(31 * time.Second)
		ch.want(t, `0s open a.1 "a open"`, `1s open b.1 "b open"`)
		// Each call is cut at 10 s, then backs off by 1, 2, 4 s.
		slow.want(t, `0s open a.1 "a open"`, `11s open a.1 "a open"`, `23s open a.1 "a open"`)
	})
}

func TestBackoffThenGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true, answer: func(int, alert.Notice) error { return &alert.SendError{Code: "http 500", Retryable: true} }}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		b.tell(note("a", 1, alert.ActOpen))
		advance(17 * time.Minute)
		at := []string{"0s", "1s", "3s", "7s", "15s", "31s", "1m3s", "2m7s", "4m15s", "8m31s", "13m31s"}
		var want []string
		for _, s := range at {
			want = append(want, s+` open a.1 "a open"`)
		}
		ch.want(t, want...)
		advance(24 * time.Hour)
		calls := len(ch.sent())
		advance(24 * time.Hour)
		if len(ch.sent()) != calls {
			t.Error("still sending after a day")
		}
		b.count("slack dropped", 1)
		if b.log.count("ERROR notice given up") != 1 {
			t.Errorf("not loud: %q", b.log.lines)
		}
		if r := b.journal.row(note("a", 1, alert.ActOpen)); r.State != alert.NoticeDropped || r.Error != "http 500" {
			t.Errorf("the store has %+v", r)
		}
		// Its end is still told, once the channel is back, as one message.
		ch.heal()
		b.tell(note("a", 2, alert.ActThread), note("a", 3, alert.ActResolve))
		if got := ch.sent()[calls:]; len(got) != 1 || !strings.Contains(got[0], `resolve a.3 "a resolve"`) {
			t.Errorf("after the end: %q", got)
		}
		if r := b.journal.row(note("a", 3, alert.ActResolve)); !saysUnsent(r.Message) {
			t.Errorf("the message is %+v", r.Message)
		}
	})
}

func TestRateLimit(t *testing.T) {
	f := func(name string, after time.Duration, want string) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ch := &fakeChannel{name: "slack", edits: true, answer: func(call int, _ alert.Notice) error {
					if call == 1 {
						return &alert.SendError{Code: "ratelimited", Retryable: true, Limited: true, RetryAfter: after}
					}
					return nil
				}}
				j := &memJournal{}
				b := launch(t, j, ch)
				b.tell(note("a", 1, alert.ActOpen))
				b.tell(note("b", 1, alert.ActOpen)) // the channel wants nothing: the other waits too
				advance(5 * time.Second)
				b.end()
				b = launch(t, j, ch) // a restart respects it
				defer b.end()
				advance(2 * time.Minute)
				ch.want(t, `0s open a.1 "a open"`, want+` open a.1 "a open"`, plus(want, time.Second)+` open b.1 "b open"`)
				b.count("slack sent", 2)
			})
		})
	}
	f("told", 30*time.Second, "30s")
	f("not told", 0, "1m0s")
	f("odd", -time.Hour, "1m0s")
}

func plus(d string, by time.Duration) string {
	v, _ := time.ParseDuration(d)
	return (v + by).String()
}

func TestBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := true
		ch := &fakeChannel{name: "slack", edits: true, answer: func(int, alert.Notice) error {
			if refuse {
				return &alert.SendError{Code: "channel_not_found", Fix: "invite the bot"}
			}
			return nil
		}}
		j := &memJournal{}
		b := launch(t, j, ch)
		b.tell(note("a", 1, alert.ActOpen), note("b", 1, alert.ActOpen), note("b", 2, alert.ActThread))
		advance(48 * time.Hour)
		ch.want(t, `0s open a.1 "a open"`, `1s open b.1 "b open"`)
		b.count("slack blocked", 2)
		if b.log.count("ERROR channel refuses") != 1 || b.log.count("WARN channel refuses") != 1 {
			t.Errorf("want loud once: %q", b.log.lines)
		}
		if n, _ := b.box.Pending(); n != 3 {
			t.Errorf("%d pending, want 3", n)
		}
		b.box.Use([]alert.Channel{ch}) // a reload that did not help
		advance(2 * time.Second)
		if b.log.count("ERROR channel refuses") != 2 {
			t.Errorf("a new refusal must be loud again: %q", b.log.lines)
		}
		b.end()
		refuse = false
		ch.reset()
		b = launch(t, j, ch)
		defer b.end()
		advance(10 * time.Second)
		ch.want(t, `0s open a.1 "a open"`, `1s open b.1 "b open"`, `2s thread b.2 on 2 "b thread"`)
	})
}

func TestUsesOtherChannelsAfterReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := &fakeChannel{name: "slack", edits: true, answer: func(int, alert.Notice) error { return &alert.SendError{Code: "invalid_auth"} }}
		b := launch(t, &memJournal{}, old)
		defer b.end()
		n := note("a", 1, alert.ActOpen)
		n.Channel = "page"
		b.tell(note("a", 1, alert.ActOpen), n)
		fresh, page := &fakeChannel{name: "slack", edits: true, start: time.Now()}, &fakeChannel{name: "page", start: time.Now()}
		b.box.Use([]alert.Channel{fresh, page})
		advance(5 * time.Second)
		old.want(t, `0s open a.1 "a open"`)
		fresh.want(t, `1s open a.1 "a open"`)
		page.want(t, `0s open a.1 "a open"`)
	})
}

func TestDropsWhatIsNotWorthACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true, noInfo: true, delay: 5 * time.Second}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		b.tell(note("a", 1, alert.ActOpen))
		b.tell(note("a", 2, alert.ActUpdate), note("a", 3, alert.ActThread), note("a", 4, alert.ActUpdate))  // 2 is superseded
		b.tell(note("x", 2, alert.ActUpdate), note("x", 3, alert.ActThread), note("x", 4, alert.ActResolve)) // no opening is known
		info := note("i", 1, alert.ActOpen)
		info.Message.Severity = alert.Info
		end := note("i", 2, alert.ActResolve)
		end.Message.Severity = alert.Info
		b.tell(info, end)
		advance(time.Minute)
		ch.want(t, `0s open a.1 "a open"`, `5s thread a.3 on 1 "a thread"`, `10s update a.4 on 1 "a update"`,
			`15s resolve x.4 "x resolve"`) // rather an end too many than one too few
		b.count("slack skipped", 5)
		b.forgets("a") // which has not ended
	})
}

func TestPromotesAnEditOfWhatWasNotForTheChannel(t *testing.T) {
	for _, edits := range []bool{true, false} {
		t.Run(fmt.Sprint(edits), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ch := &fakeChannel{name: "slack", edits: edits, noInfo: true}
				b := launch(t, &memJournal{}, ch)
				defer b.end()
				info := note("a", 1, alert.ActOpen)
				info.Message.Severity = alert.Info
				b.tell(info)
				escalated := note("a", 3, alert.ActThread)
				escalated.Pages, escalated.Created = true, note("a", 2, alert.ActUpdate).Created
				b.tell(note("a", 2, alert.ActUpdate), escalated) // now a warning: people hear of it for the first time, once
				b.tell(note("a", 4, alert.ActResolve))
				advance(5 * time.Second)
				on := ""
				if edits {
					on = " on 1"
				}
				ch.want(t, `0s open a.2 "a update"`, `1s resolve a.4`+on+` "a resolve"`)
				if r := b.journal.row(note("a", 2, alert.ActOpen)); !r.Message.Mention || r.Act != alert.ActOpen {
					t.Errorf("it is %+v", r)
				}
			})
		})
	}
}

func TestOpeningAndEndInOne(t *testing.T) {
	f := func(name string, refusal *alert.SendError, want string) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				down := true
				ch := &fakeChannel{name: "slack", edits: true, answer: func(int, alert.Notice) error {
					if down {
						return refusal
					}
					return nil
				}}
				j := &memJournal{}
				b := launch(t, j, ch)
				b.tell(note("a", 1, alert.ActOpen))
				b.tell(note("a", 2, alert.ActThread), note("a", 3, alert.ActUpdate), note("a", 4, alert.ActResolve))
				b.end()
				if r := j.row(note("a", 1, alert.ActOpen)); r.State != alert.NoticeDropped {
					t.Errorf("the opening is %+v", r)
				}
				down = false
				b = launch(t, j, ch)
				defer b.end()
				advance(2 * time.Minute)
				ch.want(t, `0s open a.1 "a open"`, want+` resolve a.4 "a resolve"`)
				r := j.row(note("a", 4, alert.ActResolve))
				if len(r.Message.Lines) != 1 || r.Message.Lines[0].Text != unsent || r.State != alert.NoticeSent {
					t.Errorf("the end is %+v", r)
				}
				if n, _ := b.box.Pending(); n != 0 {
					t.Errorf("%d pending", n)
				}
				b.forgets()
			})
		})
	}
	f("down", &alert.SendError{Code: "http 503", Retryable: true}, "1s")
	f("limited", &alert.SendError{Code: "ratelimited", Retryable: true, Limited: true}, "1m0s")
	f("blocked", &alert.SendError{Code: "invalid_auth"}, "0s") // a restart tries at once
}

func TestStoreBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{broken: true}, ch)
		defer b.end()
		b.tell(note("a", 1, alert.ActOpen), note("a", 2, alert.ActResolve))
		b.tell(note("b", 1, alert.ActOpen))
		b.tell(note("b", 2, alert.ActResolve))
		advance(time.Minute)
		ch.want(t, `0s resolve a.2 "a resolve"`, `1s resolve b.2 "b resolve"`)
		if b.log.count("WARN notices not on disk yet") == 0 {
			t.Error("silent about the store")
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true, delay: 3 * time.Second}
		j := &memJournal{}
		b := launch(t, j, ch)
		b.tell(note("a", 1, alert.ActOpen), note("b", 1, alert.ActOpen))
		begin := time.Now()
		b.box.Stop() // waits for the call under way
		if d := time.Since(begin); d != 3*time.Second {
			t.Errorf("stop took %v", d)
		}
		b.end()
		if r := j.row(note("a", 1, alert.ActOpen)); r.State != alert.NoticeSent {
			t.Errorf("the one under way is %+v", r)
		}
		b = launch(t, j, ch)
		synctest.Wait()
		b.end() // cuts
		if r := j.row(note("b", 1, alert.ActOpen)); r.State != alert.NoticePending || !r.Sending {
			t.Errorf("the one cut is %+v", r)
		}
		b = launch(t, j, ch)
		advance(10 * time.Second)
		b.box.Stop()
		b.end()
		ch.want(t, `0s open a.1 "a open"`, `3s open b.1 "b open"`, `3s open b.1 "b open"`)
		New(Options{Journal: j}).Stop() // never ran
	})
}

func TestRedacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", answer: func(int, alert.Notice) error { return errors.New("token xoxb-1 refused") }}
		j, log := &memJournal{}, &logCount{}
		box := New(Options{Journal: j, Channels: []alert.Channel{ch}, Log: log.logger(),
			Redact: func(s string) string { return strings.ReplaceAll(s, "xoxb-1", "***") }})
		box.Add(note("a", 1, alert.ActOpen))
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		box.Run(ctx)
		if r := j.row(note("a", 1, alert.ActOpen)); r.Error != "token *** refused" {
			t.Errorf("stored %q", r.Error)
		}
		if all := strings.Join(log.lines, "\n"); strings.Contains(all, "xoxb-1") || !strings.Contains(all, "***") {
			t.Errorf("logged %s", all)
		}
	})
}

func TestKeepsTheNewestThreadLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true, delay: 5 * time.Second}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		b.tell(note("a", 1, alert.ActOpen))
		for i := range maxThreads + 3 {
			b.tell(note("a", 2+i, alert.ActThread))
		}
		advance(10 * time.Minute)
		if len(ch.sent()) != 1+maxThreads || !strings.Contains(ch.sent()[1], "a.5 ") {
			t.Errorf("%d calls, the second %s", len(ch.sent()), ch.sent()[1])
		}
	})
}

func TestTellsAnEndWhoseOpeningTheStoreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end, thread := note("a", 3, alert.ActResolve), note("a", 2, alert.ActThread)
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{rows: map[string]alert.Notice{rowKey(end): end, rowKey(thread): thread}}, ch)
		defer b.end()
		advance(10 * time.Second)
		ch.want(t, `0s resolve a.3 "a resolve"`)
		if r := b.journal.row(end); len(r.Message.Lines) != 0 {
			t.Errorf("it is %+v", r)
		}
	})
}

func TestWaitsNoLongerWhereTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := note("a", 1, alert.ActOpen)
		n.NotBefore, n.Limited = time.Now().Add(72*time.Hour), true
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{rows: map[string]alert.Notice{rowKey(n): n}}, ch)
		defer b.end()
		advance(2 * time.Hour)
		ch.want(t, `1h0m0s open a.1 "a open"`)
	})
}

// TestFiresAgain: an incident that ended and fires again goes on in its thread, for a day.
func TestFiresAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		b.tell(note("a", 1, alert.ActOpen))
		advance(time.Minute)
		b.tell(note("a", 2, alert.ActResolve))
		advance(20 * time.Minute)
		b.tell(note("a", 3, alert.ActReopen))
		ch.want(t, `0s open a.1 "a open"`, `1m0s resolve a.2 on 1 "a resolve"`, `21m0s reopen a.3 on 1 "a reopen"`)
		b.forgets("a") // it has not ended
		b.tell(note("a", 4, alert.ActResolve))
		b.forgets()
	})
}

// TestFiresAgainBeforeItsEndIsSent: both are sent, in order, and the incident stays known.
func TestFiresAgainBeforeItsEndIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true, delay: time.Second}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		b.tell(note("a", 1, alert.ActOpen))
		b.tell(note("a", 2, alert.ActResolve), note("a", 3, alert.ActReopen))
		advance(time.Minute)
		ch.want(t, `0s open a.1 "a open"`, `1s resolve a.2 on 1 "a resolve"`, `2s reopen a.3 on 1 "a reopen"`)
		b.forgets("a")
	})
}

// TestFiresAgainUnheardOf: what fires again and was never announced here is an opening, which later notices edit and end.
func TestFiresAgainUnheardOf(t *testing.T) {
	f := func(name string, before ...alert.Notice) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ch := &fakeChannel{name: "slack", edits: true, noInfo: true}
				rows := map[string]alert.Notice{}
				for _, n := range before {
					rows[rowKey(n)] = n
				}
				b := launch(t, &memJournal{rows: rows}, ch)
				defer b.end()
				b.tell(note("a", 3, alert.ActReopen))
				advance(time.Minute)
				b.tell(note("a", 4, alert.ActUpdate))
				advance(time.Minute)
				b.tell(note("a", 5, alert.ActResolve))
				ch.want(t, `0s open a.3 "a reopen"`, `1m0s update a.4 on 1 "a update"`, `2m0s resolve a.5 on 1 "a resolve"`)
			})
		})
	}
	info, unsent := note("a", 1, alert.ActOpen), note("a", 1, alert.ActOpen)
	info.Message.Severity = alert.Info
	unsent.State, unsent.Error = alert.NoticeDropped, whyJoined
	f("it was info", info)
	f("its opening was sent with its end", unsent)
	f("the store lost it")
}

func TestEndedIncidentIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		b.tell(note("a", 1, alert.ActOpen))
		b.tell(note("a", 2, alert.ActResolve))
		b.forgets()
	})
}

// TestPanicOfAChannel: it fails one attempt, its value is redacted, and the other channels go on.
func TestPanicOfAChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logCount{}
		ch := &fakeChannel{name: "slack", start: time.Now(), answer: func(call int, _ alert.Notice) error {
			if call == 1 {
				panic("token xoxb-1")
			}
			return nil
		}}
		box := New(Options{Journal: &memJournal{}, Channels: []alert.Channel{ch}, Log: log.logger(),
			Redact: func(s string) string { return strings.ReplaceAll(s, "xoxb-1", "***") }})
		box.Add(note("a", 1, alert.ActOpen))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		box.Run(ctx)
		ch.want(t, `0s open a.1 "a open"`, `1s open a.1 "a open"`)
		if all := strings.Join(log.lines, "\n"); strings.Contains(all, "xoxb-1") || !strings.Contains(all, "panic: token ***") {
			t.Errorf("logged %s", all)
		}
	})
}

// A real clock moves between two readings: what is due goes out all the same.
func TestSendsWhileTheClockMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var readings atomic.Int64
		channel := &fakeChannel{name: "slack", start: time.Now()}
		box := New(Options{Journal: &memJournal{}, Channels: []alert.Channel{channel}, Now: func() time.Time {
			return time.Now().Add(time.Duration(readings.Add(1)))
		}})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { box.Run(ctx) })
		box.Add(note("1", 1, alert.ActOpen))
		time.Sleep(time.Second)
		cancel()
		wg.Wait()
		if n := len(channel.sent()); n != 1 {
			t.Errorf("%d calls, want the notice sent once", n)
		}
	})
}
