package web

import (
	"container/heap"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"time"
)

// listing says how one kind of element is selected and ordered.
type listing[T any] struct {
	key     func(*T) string               // held against Query.Canary
	at      func(*T) time.Time            // what "newest" means
	overlap func(*T) (from, to time.Time) // the span held against [Since, Until); a zero to is still open
	also    func(*T) []string             // more keys, any of which will do; nil = none
	points  bool                          // each element lies at one instant: at
}

// firstWindow is the time in which the newest points are looked for at first; each further window is twice as long.
const firstWindow = time.Hour

// read returns the newest elements that q asks for, newest first. Points are read in windows backwards from q.Until, so
// that a few of them cost little however far back q goes.
func (l listing[T]) read(ctx context.Context, q Query, source func(context.Context, Query) iter.Seq2[T, error]) ([]*T, error) {
	if !l.points {
		return l.newest(q, source(ctx, q))
	}
	var list []*T
	window := q
	for step := firstWindow; window.Until.After(q.Since) && len(list) < q.Limit; step *= 2 {
		window.Since = window.Until.Add(-step)
		if window.Since.Before(q.Since) {
			window.Since = q.Since
		}
		window.Limit = q.Limit - len(list)
		part, err := l.newest(window, source(ctx, window))
		if err != nil {
			return nil, err
		}
		list = append(list, part...)
		window.Until = window.Since
	}
	return list, nil
}

// takes reports whether q asks for v.
func (l listing[T]) takes(q Query, v *T) bool {
	from, to := l.overlap(v)
	if !from.Before(q.Until) || !to.IsZero() && to.Before(q.Since) {
		return false
	}
	return q.Match(l.key(v)) || l.also != nil && slices.ContainsFunc(l.also(v), q.Match)
}

// newest returns the q.Limit newest elements of seq that q asks for, newest first; of equal instants the one that came
// first. It reads seq to its end and holds no more than q.Limit elements.
func (l listing[T]) newest(q Query, seq iter.Seq2[T, error]) ([]*T, error) {
	var kept ages[T]
	n := 0
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		if !l.takes(q, &v) {
			continue
		}
		n++
		e := aged[T]{at: l.at(&v), seq: n, v: &v}
		switch {
		case len(kept) < q.Limit:
			heap.Push(&kept, e)
		case kept[0].older(e):
			kept[0] = e
			heap.Fix(&kept, 0)
		}
	}
	slices.SortFunc(kept, func(a, b aged[T]) int {
		if a.older(b) {
			return 1
		}
		return -1
	})
	list := make([]*T, len(kept))
	for i := range kept {
		list[i] = kept[i].v
	}
	return list, nil
}

// aged is an element with what orders it.
type aged[T any] struct {
	at  time.Time
	seq int
	v   *T
}

func (a aged[T]) older(b aged[T]) bool {
	if a.at.Equal(b.at) {
		return a.seq > b.seq
	}
	return a.at.Before(b.at)
}

// ages is a heap with the oldest element on top.
type ages[T any] []aged[T]

func (a ages[T]) Len() int           { return len(a) }
func (a ages[T]) Less(i, j int) bool { return a[i].older(a[j]) }
func (a ages[T]) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *ages[T]) Push(x any)        { *a = append(*a, x.(aged[T])) }

// Pop is there for heap.Interface.
func (a *ages[T]) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// answer serves one list: its parameters, its elements, its errors.
func answer[T any](s *Server, w http.ResponseWriter, r *http.Request, age time.Duration, l listing[T],
	source func(context.Context, Query) iter.Seq2[T, error]) {
	q, err := parseQuery(r.URL.Query(), time.Now(), age)
	if err != nil {
		s.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if !s.readers.enter(r.Context()) {
		w.Header().Set("Retry-After", "5")
		s.fail(w, http.StatusServiceUnavailable, "too many lists are being read at once: ask again in 5 s")
		return
	}
	defer s.readers.leave()
	ctx, cancel := context.WithTimeout(r.Context(), listWithin)
	defer cancel()
	list, err := l.read(ctx, q, source)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		s.fail(w, http.StatusServiceUnavailable, "reading this takes more than 30 s: ask for less with since, until or canary")
	case err != nil:
		s.broken(w, r, err)
	default:
		sendArray(s, w, r, list)
	}
}
