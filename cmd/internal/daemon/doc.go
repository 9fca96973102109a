// Package daemon is the running serin: it wires prober, engine, incidents, store, channels and HTTP together, fires what is due,
// takes a changed config, and watches itself. Run is all of it; commands and the demo differ in its Options only.
package daemon
