package alert

import (
	"testing"
	"time"
)

// TestLastVotes: 64 of three canaries, fewer of more, and 16 of any number.
func TestLastVotes(t *testing.T) {
	q := Quorum{N: 6, Sharp: true}
	f := func(canaries, want int) {
		t.Helper()
		votes := make([]Vote, 100)
		for i := range votes {
			votes[i].At, votes[i].Said = day0.Add(time.Duration(i)), make([]Contribution, canaries)
		}
		if got := q.last(votes); len(got) != want || !got[want-1].At.Equal(votes[99].At) {
			t.Errorf("%d canaries: %d votes, want the newest %d", canaries, len(got), want)
		}
	}
	f(1, 64)
	f(4, 64)
	f(9, 28)
	f(16, 16)
	f(300, 16)
	q.Sharp = false
	f(9, 6)
}
