// Package store keeps samples, bands, alerts, incidents and the outbox in one SQLite file.
package store
