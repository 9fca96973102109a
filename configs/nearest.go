package configs

import (
	"fmt"
	"strings"
)

// nearest returns the candidate with the smallest edit distance to s, if it is near enough to be what was meant.
func nearest(s string, candidates []string) (string, bool) {
	best, bestD := "", len(s)/2+1
	const most = 200 // thousands of names for thousands of mistakes would take minutes
	for _, c := range candidates[:min(most, len(candidates))] {
		if d := Distance(strings.ToLower(s), c); d < bestD {
			best, bestD = c, d
		}
	}
	return best, best != "" && bestD <= max(2, len(s)*2/5)
}

func nearestFix(s string, known []string) string {
	if n, ok := nearest(s, known); ok {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return "remove it; known here: " + strings.Join(known, " ")
}

// meant returns the fix for a value that is none of a list: the list, with the nearest in front.
func meant(s string, list []string, lead string) string {
	fix := lead + shorten(list, 20)
	if n, ok := nearest(s, list); ok {
		return fmt.Sprintf("did you mean %q? (%s)", n, strings.TrimPrefix(strings.TrimPrefix(fix, "use "), "match "))
	}
	return fix
}

// Distance counts the insertions, deletions, substitutions and swaps of neighbours that turn a into b.
func Distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
