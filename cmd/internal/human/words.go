package human

import (
	"fmt"
	"strings"
	"time"
)

// Plural writes a number of things.
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// List joins names, at most most of them.
func List(names []string, most int) string {
	if n := len(names) - most; n > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

// Time writes an instant, in UTC and saying so.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }
