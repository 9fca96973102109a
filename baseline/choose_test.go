package baseline

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestChoosingIsSorting holds choose and median against a sorted copy.
func TestChoosingIsSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-9, 9), rapid.Just(1.0), rapid.Just(2.0)), 1, 300).Draw(t, "x")
		k := rapid.IntRange(0, len(x)-1).Draw(t, "k")
		sorted := slices.Sorted(slices.Values(x))
		n := len(x)
		chosen := slices.Clone(x)
		choose(chosen, k)
		if chosen[k] != sorted[k] || k > 0 && slices.Max(chosen[:k]) > sorted[k] || slices.Min(chosen[k:]) < sorted[k] {
			t.Fatalf("place %d of %v: %v", k, sorted, chosen)
		}
		if slices.Sort(chosen); !slices.Equal(chosen, sorted) {
			t.Fatalf("values were lost: %v of %v", chosen, sorted)
		}
		if got, want := median(slices.Clone(x)), (sorted[(n-1)/2]+sorted[n/2])/2; got != want {
			t.Fatalf("median %v, want %v", got, want)
		}
	})
}
