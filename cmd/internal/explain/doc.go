// Package explain says why an alert fired, or why none did, from what was stored with the decision. It works nothing out again:
// what another rule would have decided is a question for backtest.
package explain
