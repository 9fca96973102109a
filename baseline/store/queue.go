package store

import (
	"slices"

	"serin/alert"
)

// entry is one change in the queue.
type entry struct {
	ops     []op
	urgent  bool
	bytes   int
	records int
	done    chan error // takes one answer: nil = on disk, else the first failure
}

func newEntry(ops []op, c alert.Change) *entry {
	e := &entry{ops: ops, urgent: len(c.Notices)+len(c.Silences)+len(c.Marks) > 0, done: make(chan error, 1)}
	e.measure()
	return e
}

func (e *entry) measure() {
	e.bytes, e.records = 0, 0
	for _, o := range e.ops {
		e.bytes += o.size()
		if _, ok := o.(*sampleRow); ok {
			e.records++
		}
	}
}

// answer tells a waiting Commit, once.
func (e *entry) answer(err error) {
	select {
	case e.done <- err:
	default:
	}
}

// queue holds changes in order; the first `flying` of them are being written and are left alone. It is not safe for
// concurrent use.
type queue struct {
	entries []*entry
	flying  int
	bytes   int
	records int
}

func (q *queue) add(e *entry) {
	q.entries = append(q.entries, e)
	q.count(e, +1)
}

func (q *queue) count(e *entry, sign int) {
	q.bytes += sign * e.bytes
	q.records += sign * e.records
}

// take marks the changes that the next transaction holds: at least one, and then up to max bytes.
func (q *queue) take(max int) []*entry {
	n, bytes := 0, 0
	for n < len(q.entries) && (n == 0 || bytes+q.entries[n].bytes <= max) {
		bytes += q.entries[n].bytes
		n++
	}
	q.flying = n
	return q.entries[:n:n]
}

// written drops the changes taken, which are on disk now; failed puts them back.
func (q *queue) written() {
	for _, e := range q.entries[:q.flying] {
		q.count(e, -1)
	}
	q.entries = append([]*entry(nil), q.entries[q.flying:]...)
	q.flying = 0
}

func (q *queue) failed() { q.flying = 0 }

// writing tells whether e is being written now.
func (q *queue) writing(e *entry) bool { return slices.Contains(q.entries[:q.flying], e) }

// dropOldest makes room when the queue is over its bounds, down to seven eighths of them. First go rows that a later change
// writes again, which loses nothing; then the oldest samples; then the oldest transitions. Alerts, incidents, notices,
// bands, exclusions and blobs stay. It returns how many rows were lost.
func (q *queue) dropOldest(bytes, records int) (lost int) {
	if q.bytes <= bytes && q.records <= records {
		return 0
	}
	bytes, records = bytes*7/8, records*7/8
	q.filter(superseded(q.entries[q.flying:]))
	lost = q.stripOldest(isSample, func() bool { return q.bytes > bytes || q.records > records })
	return lost + q.stripOldest(isTransition, func() bool { return q.bytes > bytes })
}

// stripOldest strips ops of one kind from the oldest changes on while over says so.
func (q *queue) stripOldest(kind func(op) bool, over func() bool) (n int) {
	for _, e := range q.entries[q.flying:] {
		if !over() {
			break
		}
		n += q.strip(e, kind)
	}
	return n
}

func isSample(o op) bool { _, ok := o.(*sampleRow); return ok }

func isTransition(o op) bool { p, ok := o.(*put); return ok && p.id == "" }

// strip takes the ops of one kind out of e.
func (q *queue) strip(e *entry, kind func(op) bool) (n int) {
	kept := make([]op, 0, len(e.ops))
	for _, o := range e.ops {
		if !kind(o) {
			kept = append(kept, o)
		}
	}
	if n = len(e.ops) - len(kept); n > 0 {
		q.count(e, -1)
		e.ops = kept
		e.measure()
		q.count(e, +1)
	}
	return n
}

// superseded returns the ops that a later change writes again.
func superseded(entries []*entry) map[op]bool {
	needless, seen := map[op]bool{}, map[string]bool{}
	for i := len(entries) - 1; i >= 0; i-- {
		for j := len(entries[i].ops) - 1; j >= 0; j-- {
			o := entries[i].ops[j]
			if key := o.key(); key != "" {
				needless[o] = seen[key]
				seen[key] = true
			}
		}
	}
	return needless
}

// filter takes needless ops out, and then changes that hold nothing any more and that nobody waits for.
func (q *queue) filter(needless map[op]bool) {
	kept := append([]*entry(nil), q.entries[:q.flying]...)
	for _, e := range q.entries[q.flying:] {
		q.strip(e, func(o op) bool { return needless[o] })
		if len(e.ops) > 0 || e.urgent {
			kept = append(kept, e)
		}
	}
	q.entries = kept
}
