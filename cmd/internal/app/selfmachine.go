package app

import (
	"math"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// machine reads what the machine does to this process: how long it waited for a CPU, was throttled, paused for the
// garbage collector. Its figures are of Linux; what cannot be read is unknown.
type machine struct {
	root    string                   // of the file system; "" = /
	waited  map[string]time.Duration // of each thread when last read
	queue   time.Duration            // waited by all threads since the first reading
	pauses  []uint64                 // of the collector by length, when last read
	recent  [4]time.Duration         // the longest pause of each of the latest readings
	reading int
}

// read takes a reading.
func (m *machine) read() {
	m.runQueue()
	m.recent[m.reading%len(m.recent)] = m.longestPause()
	m.reading++
}

// runQueue adds up what each thread has waited for a CPU since the last reading: a thread's own sum ends with it.
func (m *machine) runQueue() {
	files, _ := filepath.Glob(m.root + "/proc/self/task/*/schedstat") // the pattern is sound
	now := make(map[string]time.Duration, len(files))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has just ended
		}
		fields := strings.Fields(string(text)) // ns on a CPU, ns waiting for one, time slices
		if len(fields) < 2 {
			continue
		}
		if ns, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			now[name] = time.Duration(ns)
			if m.waited != nil {
				m.queue += max(0, now[name]-m.waited[name])
			}
		}
	}
	if len(now) > 0 {
		m.waited = now
	}
}

// runQueueDelay returns the sum since the first reading.
func (m *machine) runQueueDelay() (d time.Duration, known bool) { return m.queue, m.waited != nil }

// throttled returns how long the process's control group was kept from the CPU by its quota, since the group was made.
func (m *machine) throttled() (d time.Duration, known bool) {
	text, err := os.ReadFile(m.root + "/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) { // 0::/path, or 4:cpu,cpuacct:/path
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		dir := ""
		switch {
		case controllers == "":
			dir = "/sys/fs/cgroup"
		case strings.Contains(","+controllers+",", ",cpu,"):
			dir = "/sys/fs/cgroup/" + controllers
		default:
			continue
		}
		for _, name := range []string{dir + path + "/cpu.stat", dir + "/cpu.stat"} { // inside a container the path is the host's
			if d, ok := throttledIn(m.root + name); ok {
				return d, true
			}
		}
	}
	return 0, false
}

// throttledIn reads one cpu.stat: throttled_usec of version 2, throttled_time in ns of version 1.
func throttledIn(name string) (time.Duration, bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
		case key == "throttled_usec":
			return time.Duration(n) * time.Microsecond, true
		case key == "throttled_time":
			return time.Duration(n), true
		}
	}
	return 0, false
}

// longestPause returns the longest pause of the collector since the last call, rounded up to the bounds that the runtime
// counts by.
func (m *machine) longestPause() time.Duration {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	h := sample[0].Value.Float64Histogram()
	longest := time.Duration(0)
	for i, n := range h.Counts {
		if i < len(m.pauses) && n == m.pauses[i] || n == 0 {
			continue
		}
		edge := h.Buckets[i+1]
		if math.IsInf(edge, 1) {
			edge = h.Buckets[i]
		}
		longest = time.Duration(edge * float64(time.Second))
	}
	m.pauses = append(m.pauses[:0], h.Counts...)
	return longest
}

// pause returns the longest pause of the latest readings.
func (m *machine) pause() time.Duration {
	longest := time.Duration(0)
	for _, d := range m.recent {
		longest = max(longest, d)
	}
	return longest
}
