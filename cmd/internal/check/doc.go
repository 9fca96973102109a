// Package check reports probes that a person asked for: a row each, what it is made of, and a diagnosis that names the fix. It
// sends nothing itself and knows no store.
package check
