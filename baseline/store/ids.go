package store

import (
	"database/sql"
	"errors"
)

// ids remembers the numbers of rows that many samples share, so that most samples cost one statement. It belongs to one
// goroutine. The bound keeps endpoints with ever new answers from filling the memory.
type ids struct {
	canaries map[canary]int64
	traits   map[string]traitRef
}

const maxIDs = 4096

type canary struct{ target, scene, size string }

func (c canary) key() string { return c.target + "/" + c.scene + "/" + c.size }

type traitRef struct{ id, day int64 }

func newIDs() *ids {
	k := &ids{}
	k.forget()
	return k
}

func (k *ids) forget() {
	k.canaries = map[canary]int64{}
	k.traits = map[string]traitRef{}
}

// canary returns the number of c, giving it one at its first use.
func (k *ids) canary(t *txn, c canary) (int64, error) {
	if id, ok := k.canaries[c]; ok {
		return id, nil
	}
	if _, err := t.exec(`INSERT OR IGNORE INTO canary(target, scene, size) VALUES (?,?,?)`, c.target, c.scene, c.size); err != nil {
		return 0, err
	}
	id, err := t.number(`SELECT id FROM canary WHERE target = ? AND scene = ? AND size = ?`, c.target, c.scene, c.size)
	if err == nil && len(k.canaries) < maxIDs {
		k.canaries[c] = id
	}
	return id, err
}

// trait returns the number of a body and notes that it was in use on day.
func (k *ids) trait(t *txn, body string, day int64) (int64, error) {
	if ref, ok := k.traits[body]; ok && ref.day >= day {
		return ref.id, nil
	}
	_, err := t.exec(`INSERT INTO trait(body, day) VALUES (?,?) ON CONFLICT DO UPDATE SET day = max(day, excluded.day)`, body, day)
	if err != nil {
		return 0, err
	}
	id, err := t.number(`SELECT id FROM trait WHERE body = ?`, body)
	if err != nil {
		return 0, err
	}
	if len(k.traits) >= maxIDs {
		k.traits = map[string]traitRef{}
	}
	k.traits[body] = traitRef{id, day}
	return id, nil
}

func (t *txn) number(query string, args ...any) (n int64, err error) {
	return n, t.tx.QueryRowContext(t.ctx, query, args...).Scan(&n)
}

// find returns the number of a row, or 0 when there is none.
func (t *txn) find(query string, args ...any) (int64, error) {
	n, err := t.number(query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}
