// Package human writes durations, instants and counts as people read them on a terminal. Every command and the demo use it, so
// that one value looks the same in all outputs.
package human
