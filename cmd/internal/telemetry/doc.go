// Package telemetry counts what the daemon does and writes /metrics: one table of all metrics with their meaning, counters and
// histograms, and gauges that are read at each scrape. It can also push the same text.
package telemetry
