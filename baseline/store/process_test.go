package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// child plays the other process: this binary again, told by its environment what to do. It ends when its standard input
// is closed, or earlier by kill.
func child(play, path string) int {
	plays := map[string]func(path string) error{"write": playWrite, "hold": playHold, "import": playImport, "lock": playLock, "daemon": playDaemon}
	if err := plays[play](path); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// playWrite commits numbered changes as fast as a busy daemon would, each with a sample, an alert and a transition, and
// prints "try N NANOS" before each; every 700th holds a notice and is followed by "durable N NANOS".
func playWrite(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	tick := time.NewTicker(time.Millisecond)
	for i := 0; ; i++ {
		<-tick.C
		fmt.Fprintf(out, "try %d %d\n", i, time.Now().UnixNano())
		if err := out.Flush(); err != nil {
			return err
		}
		if err := s.Commit(ctx, numbered(i)); err != nil {
			return err
		}
		if i%700 == 0 {
			fmt.Fprintf(out, "durable %d %d\n", i, time.Now().UnixNano())
		}
	}
}

func numbered(i int) alert.Change {
	c := bare(plain("gw-eu", i))
	c.Alerts = []alert.Alert{{ID: fmt.Sprint(i), State: alert.StateFiring}}
	c.Transitions = []alert.Transition{{At: t0, Series: "gw-eu/chat/short", Alert: fmt.Sprint(i)}}
	if i%700 == 0 {
		c.Notices = []alert.Notice{notice("7f3k", i)}
	}
	return c
}

// playHold holds a transaction open.
func playHold(path string) error {
	s := &Store{path: path}
	db, err := pool(path, s.writeDSN(), 1)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, tx.Rollback(), db.Close())
}

func playImport(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	added, duplicates, err := s.Import(ctx, func(yield func(probe.Sample, error) bool) {
		for i := range 5000 {
			if !yield(plain("imported", i), nil) {
				return
			}
		}
	})
	fmt.Println("added", added, duplicates)
	return errors.Join(err, s.Close())
}

func playLock(path string) error {
	release, err := Lock(path, "serin-child")
	if err != nil {
		return err
	}
	defer release()
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// playDaemon holds a store with a sample in its log.
func playDaemon(path string) error {
	if _, err := Lock(path, "serin-child"); err != nil {
		return err
	}
	s, err := Open(context.Background(), path, Options{Daemon: true})
	if err != nil {
		return err
	}
	if err := s.Commit(context.Background(), urgent(99)); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// process is a running child with the lines that it prints.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

func start(t *testing.T, play, path string) *process {
	t.Helper()
	cmd := exec.Command(must[string](t)(os.Executable()))
	cmd.Env = append(os.Environ(), "STORE_TEST_PLAY="+play, "STORE_TEST_PATH="+path)
	cmd.Stderr = os.Stderr
	stdin := must[io.WriteCloser](t)(cmd.StdinPipe())
	stdout := must[io.ReadCloser](t)(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // so that no read below waits for ever
	t.Cleanup(func() { limit.Stop(); _ = cmd.Process.Kill() })
	return &process{cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
}

// expect reads the next line, which must begin with want.
func (p *process) expect(t *testing.T, want string) string {
	t.Helper()
	if !p.lines.Scan() || !strings.HasPrefix(p.lines.Text(), want) {
		t.Fatalf("child said %q (%v), want %q", p.lines.Text(), p.lines.Err(), want)
	}
	return p.lines.Text()
}

// end closes the child's input and waits for a good end.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := errors.Join(p.stdin.Close(), p.cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// Killed in the middle of commits, a few times over: what is older than a second is there, what was called durable is,
// and no change is there by half.
func TestKill(t *testing.T) {
	for _, lines := range []int{1500, 2100} {
		path := filepath.Join(t.TempDir(), "serin.db")
		p := start(t, "write", path)
		tried := map[int]int64{}
		durable, slowest, previous := -1, int64(0), int64(0)
		read := func() {
			var n int
			var at int64
			if _, err := fmt.Sscanf(p.lines.Text(), "try %d %d", &n, &at); err == nil {
				tried[n] = at
			} else if _, err := fmt.Sscanf(p.lines.Text(), "durable %d %d", &n, &at); err == nil {
				durable = n
			} else {
				t.Fatalf("child said %q", p.lines.Text())
			}
			if previous > 0 {
				slowest = max(slowest, at-previous)
			}
			previous = at
		}
		for range lines {
			if !p.lines.Scan() {
				t.Fatal("child ended", p.lines.Err())
			}
			read()
		}
		killed := time.Now()
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for p.lines.Scan() {
			read()
		}
		_ = p.cmd.Wait() // it was killed: an error is what it must give
		// A machine too busy to run the child, or to write for it, is not the store's fault: slowest tells how busy it was.
		checkKilled(t, openAt(t, path, Options{}), tried, durable, killed.Add(-time.Second).UnixNano()-4*slowest)
	}
}

func checkKilled(t *testing.T, s *Store, tried map[int]int64, durable int, old int64) {
	t.Helper()
	n := stored(t, s)
	if at, ok := tried[n]; ok && at < old || n <= durable { // change n is the first that is not there
		t.Errorf("change %d is lost though %v too old for that; %d was durable", n, time.Duration(old-at), durable)
	}
	alerts := must[[]alert.Alert](t)(s.Alerts(t.Context(), AlertQuery{}))
	history := must[[]alert.Transition](t)(s.Transitions(t.Context(), TransitionQuery{}))
	notices := must[[]alert.Notice](t)(s.Notices(t.Context(), NoticeQuery{}))
	if len(alerts) != n || len(history) != n || len(notices) != (n+699)/700 {
		t.Errorf("changes are there by half: %d samples, %d alerts, %d transitions, %d notices", n, len(alerts), len(history), len(notices))
	}
	sameDays(t, summed(t, s), everyDay(t, s))
	t.Logf("%d tried, %d on disk, %d durable", len(tried), n, durable)
}

// Another process' transaction holds up a notice for 2 s at most; reading goes on; when it ends, all is written.
func TestForeignTransaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serin.db")
	s := openAt(t, path, Options{})
	commit(t, s, bare(plain("gw-eu", 0)))
	flush(t, s)
	p := start(t, "hold", path)
	p.expect(t, "ready")
	began := time.Now()
	err := s.Commit(t.Context(), alert.Change{Told: alert.Told{Notices: []alert.Notice{notice("7f3k", 1)}}})
	if waited := time.Since(began); err == nil || waited > 10*time.Second {
		t.Errorf("commit waited %v: %v", waited, err)
	}
	if ok, why := s.Healthy(); ok {
		t.Errorf("healthy: %v", why)
	}
	if n := stored(t, s); n != 1 {
		t.Errorf("%d samples seen by a reader", n)
	}
	p.end(t)
	eventually(t, "healthy again", func() bool { ok, _ := s.Healthy(); return ok })
	if got := must[[]alert.Notice](t)(s.Notices(t.Context(), NoticeQuery{Incident: "7f3k"})); len(got) != 1 {
		t.Errorf("notices on disk: %v", got)
	}
}

// An import by another process while this one commits: both get through, and the revision tells.
func TestImportBesideDaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serin.db")
	s := openAt(t, path, Options{})
	before := must[int64](t)(s.ImportRevision(t.Context()))
	p := start(t, "import", path)
	p.expect(t, "ready")
	done := make(chan string)
	go func() { p.lines.Scan(); done <- p.lines.Text() }()
	i, said := 0, ""
	for ; said == ""; i++ {
		commit(t, s, alert.Change{Judged: alert.Judged{Records: bare(plain("gw-eu", i)).Records}, Told: alert.Told{Notices: []alert.Notice{notice("7f3k", i)}}})
		select {
		case said = <-done:
		default:
		}
	}
	p.end(t)
	if said != "added 5000 0" || i < 2 {
		t.Errorf("child said %q; %d commits beside it", said, i)
	}
	if after := must[int64](t)(s.ImportRevision(t.Context())); after <= before {
		t.Errorf("import revision %d after %d", after, before)
	}
	if n := stored(t, s); n != 5000+i {
		t.Errorf("%d samples, want 5000 and %d", n, i)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "serin.db")
	p := start(t, "lock", path)
	p.expect(t, "ready")
	host := must[string](t)(os.Hostname())
	_, err := Lock(path, "serin-1")
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != p.cmd.Process.Pid || locked.Holder.Instance != "serin-child" || locked.Holder.Host != host ||
		time.Since(locked.Holder.Since) > time.Minute {
		t.Fatalf("second lock: %v", err)
	}
	if !strings.Contains(err.Error(), fmt.Sprint("pid ", p.cmd.Process.Pid)) || !strings.Contains(err.Error(), path) {
		t.Errorf("error does not say who holds it: %v", err)
	}
	openAt(t, path, Options{}) // the lock is on the daemon's role, not on the file
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // killed

	release, err := Lock(path, "serin-1")
	if err != nil {
		t.Fatal("the lock outlived its process:", err)
	}
	if _, err := Lock(path, "serin-2"); !errors.As(err, &locked) || locked.Holder.Instance != "serin-1" {
		t.Errorf("a second lock in one process: %v", err)
	}
	release()
	release, err = Lock(path, "serin-2")
	if err != nil {
		t.Fatal(err)
	}
	release()
}
