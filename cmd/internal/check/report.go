package check

import (
	"fmt"
	"io"

	"serin/probe"
)

// Report prints probes for a person: a row each, details below it, and what can be said about why it went so.
type Report struct {
	Details bool // below each row, not only below failures
	Events  bool // every event of each answer
	Answers bool // their text

	w        io.Writer
	table    *table
	accuracy accuracy
}

// NewReport returns a report of probes of canaries with the given keys.
func NewReport(w io.Writer, keys []string) *Report {
	return &Report{w: w, table: newTable(w, keys)}
}

// Probe prints one probe.
func (r *Report) Probe(f Findings) {
	r.table.row(f.Sample)
	r.accuracy.add(f.Sample, f.Diary)
	if r.Details || !f.Sample.Outcome.Success() {
		printDetails(r.w, f.Sample, f.Diary)
	}
	if r.Events {
		printDiary(r.w, f.Diary)
	}
	if r.Answers {
		printAnswer(r.w, f.Diary)
	}
	for _, line := range diagnose(f) {
		_, _ = fmt.Fprintln(r.w, "  →", line)
	}
}

// Spread prints medians of the probes of one canary.
func (r *Report) Spread(samples []probe.Sample) { printSpread(r.w, samples) }

// Accuracy says how wrong the figures of all probes can be on this machine.
func (r *Report) Accuracy() { r.accuracy.print(r.w) }
