package daemon

import (
	"context"
	"time"

	"serin/alert"
	"serin/baseline/store"
	"serin/cmd/internal/web"
)

var _ web.Timeline = webStore{}

// Silences returns those in force at some time in the asked span.
func (w webStore) Silences(ctx context.Context, q web.Query) ([]alert.Silence, error) {
	return w.d.store.Silences(ctx, store.SilenceQuery{Since: q.Since, Until: q.Until, Limit: q.Limit})
}

// Marks returns those in the asked span.
func (w webStore) Marks(ctx context.Context, q web.Query) ([]alert.Mark, error) {
	return w.d.store.Marks(ctx, store.MarkQuery{Since: q.Since, Until: q.Until, Limit: q.Limit})
}

// markWriter puts silences and marks on the time line, in the engine's goroutine.
type markWriter struct{ d *Daemon }

var _ web.Writer = markWriter{}

// Silence begins or plans a silence.
func (w markWriter) Silence(ctx context.Context, s alert.Silence) (made alert.Silence, canaries []string, err error) {
	if !w.d.onEngine(ctx, func(ctx context.Context) {
		var told alert.Told
		told, made, canaries, err = w.d.incidents.Silence(s, time.Now())
		w.d.commit(ctx, alert.Judged{}, told)
	}) {
		return made, nil, errStopping
	}
	return made, canaries, err
}

// Expire ends a silence.
func (w markWriter) Expire(ctx context.Context, id, who string) (ended alert.Silence, err error) {
	if !w.d.onEngine(ctx, func(ctx context.Context) {
		var told alert.Told
		told, ended, err = w.d.incidents.Expire(id, who, time.Now())
		w.d.commit(ctx, alert.Judged{}, told)
	}) {
		return ended, errStopping
	}
	if err != nil {
		err = noSuchID{err}
	}
	return ended, err
}

// noSuchID is an error about an id that nothing has, in words of its own.
type noSuchID struct{ error }

// Is makes it web.ErrNotFound.
func (noSuchID) Is(target error) bool { return target == web.ErrNotFound }

// Mark sets a mark.
func (w markWriter) Mark(ctx context.Context, m alert.Mark) (made alert.Mark, err error) {
	if !w.d.onEngine(ctx, func(ctx context.Context) {
		var told alert.Told
		told, made, err = w.d.incidents.Mark(m, time.Now())
		w.d.commit(ctx, alert.Judged{}, told)
	}) {
		return made, errStopping
	}
	return made, err
}

// tokens are those of [[http.token]].
func (d api) tokens() []web.Token {
	var list []web.Token
	for _, t := range d.config().HTTP.Tokens {
		list = append(list, web.Token{Name: t.Name, Secret: t.Secret, Role: t.Role})
	}
	return list
}
