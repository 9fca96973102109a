package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"serin/alert"
	"serin/baseline"
	"serin/cmd/internal/human"
	"serin/probe"
)

// Pace of the demo's story.
const (
	calmFor    = 8 * time.Second  // bands shown before the fault
	roundEvery = 2 * time.Second  // one line a target so often
	holdFor    = 6 * time.Second  // the fault lasts on after the alert
	storyLimit = 80 * time.Second // the whole story; later means that something is broken
)

// story tells what the daemon does, and injects the fault that it is to find.
type story struct {
	out      io.Writer
	terminal bool
	start    time.Time
	fault    func(on bool)                                           // slows the fake endpoint down, or lets it recover
	status   func() (time.Time, []alert.CanaryStatus, []alert.Alert) // of the engine
	samples  chan probe.Sample                                       // from the prober
	slack    chan slackMessage                                       // what the fake Slack took

	newest map[string]probe.Sample // by canary, since the last line

	mu sync.Mutex
}

// slackMessage is one message as Slack shows it.
type slackMessage struct {
	Method string // chat.postMessage, chat.update
	Thread bool
	Text   string
}

// say prints one line of the story with the seconds since its start.
func (s *story) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(s.out, "%5.1f s  %s\n", time.Since(s.start).Seconds(), fmt.Sprintf(format, args...))
}

// demoWidth is how much of a message fits a line of 80 columns.
const demoWidth = 69

// wrap breaks a line between words.
func wrap(line string, width int) []string {
	var out []string
	now := ""
	for word := range strings.FieldsSeq(line) {
		if next := strings.TrimSpace(now + " " + word); now == "" || utf8.RuneCountInString(next) <= width {
			now = next
			continue
		}
		out, now = append(out, now), word
	}
	return append(out, now)
}

// take hears of one probe; when the story is busy the line is left out.
func (s *story) take(x probe.Sample) {
	select {
	case s.samples <- x:
	default:
	}
}

// hear hears of one message; Slack got it already, so the sender waits for its place in the story.
func (s *story) hear(m slackMessage) { s.slack <- m }

// errTooSlow says that the demo did not show what it promises.
var errTooSlow = errors.New("the demo did not reach its end in time; run serin demo again on a less busy machine, or report this")

// tell plays the story: calm, fault, alert, recovery. It returns nil when the incident was resolved.
func (s *story) tell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storyLimit)
	defer cancel()
	s.say("probing two fake endpoints every 2 seconds, held against seven days of history:")
	if err := s.watch(ctx, calmFor, func(slackMessage) bool { return false }); err != nil {
		return err
	}
	s.bands()
	s.fault(true)
	s.say("FAULT  gw-eu is slowed down now: first token 3x, time per token 2x")
	if err := s.watch(ctx, storyLimit, func(m slackMessage) bool { return m.Method == "chat.postMessage" && !m.Thread }); err != nil {
		return err
	}
	if err := s.watch(ctx, holdFor, func(slackMessage) bool { return false }); err != nil {
		return err
	}
	s.fault(false)
	s.say("FIX    gw-eu answers at its usual pace again")
	resolved := func(m slackMessage) bool { return m.Method == "chat.update" && strings.Contains(m.Text, "RESOLVED") }
	return s.watch(ctx, storyLimit, resolved)
}

// goOn leaves the story on the screen and prints only further messages until ctx ends.
func (s *story) goOn(ctx context.Context) {
	s.say("the daemon runs on, silently, until Ctrl-C")
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.samples:
		case m := <-s.slack:
			s.message(m)
		}
	}
}

// band returns the TTFT band of a canary.
func (s *story) band(canary string) (baseline.Band, bool) {
	_, canaries, _ := s.status()
	for _, c := range canaries {
		if b, ok := c.Bands[probe.TTFT]; ok && c.Key() == canary && b.State == "ready" {
			return b, true
		}
	}
	return baseline.Band{}, false
}

// bands prints what serin learned from the history.
func (s *story) bands() {
	_, canaries, _ := s.status()
	for _, c := range canaries {
		if b, ok := c.Bands[probe.TTFT]; ok {
			s.say("usual  %-17s first token %3.0f ms, limit %3.0f ms (%d samples)", c.Key(), b.Mean*1000, b.Limit*1000, b.N)
		}
	}
}

// watch prints what comes in until done says so of a message, or for at most limit.
func (s *story) watch(ctx context.Context, limit time.Duration, done func(slackMessage) bool) error {
	end, round := time.NewTimer(limit), time.NewTicker(roundEvery)
	defer end.Stop()
	defer round.Stop()
	for {
		select {
		case <-ctx.Done():
			return errTooSlow
		case <-end.C:
			return nil
		case <-round.C:
			s.rounds()
		case x := <-s.samples:
			s.newest[x.Key()] = x
		case m := <-s.slack:
			s.message(m)
			if done(m) {
				return nil
			}
		}
	}
}

// rounds prints the newest values, one line a target; values above their limit are marked.
func (s *story) rounds() {
	for _, target := range targets() {
		var cells []string
		var tpot probe.Span
		for _, size := range probe.Sizes() {
			x, ok := s.newest[target+"/"+scene+"/"+string(size)]
			if !ok {
				continue
			}
			cells, tpot = append(cells, s.cell(x)), x.TPOT
		}
		if len(cells) > 0 {
			s.say("%s  %s %s a token", target, strings.Join(cells, " "), human.Span(tpot))
		}
	}
	clear(s.newest)
}

// cell is one canary's newest value.
func (s *story) cell(x probe.Sample) string {
	if !x.Outcome.Success() {
		return fmt.Sprintf("%s %s", x.Size, x.Outcome)
	}
	text, slow := fmt.Sprintf("%s %3.0f ms", x.Size, x.TTFT.Millis()), false
	if b, ok := s.band(x.Key()); ok {
		slow = x.TTFT.Seconds() > b.Limit
	}
	if !slow {
		return text + "  "
	}
	return human.Paint(text+" ▲", false, s.terminal)
}

// message prints what Slack got, as its reader sees it.
func (s *story) message(m slackMessage) {
	what := map[bool]string{true: "in the thread", false: "new message"}[m.Thread]
	if m.Method == "chat.update" {
		what = "edited"
	}
	s.say("SLACK  #llm-alerts, %s:", what)
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(strings.TrimSpace(m.Text)) {
		for _, part := range wrap(strings.TrimRight(line, "\n"), demoWidth) {
			_, _ = fmt.Fprintf(s.out, "         │ %s\n", part)
		}
	}
}
