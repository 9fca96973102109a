package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/alert"
)

// Incidents of an older file know their alerts by id and say nothing of what was sent; a start finds them with members.
func TestIncidentsOfAnOlderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serin.db")
	s := must[*Store](t)(Open(t.Context(), path, Options{}))
	flush(t, s)
	for _, q := range []string{
		`INSERT INTO alert VALUES ('a1', 'gw-eu/chat/short', 'ttft', 'firing', '7f3k', 1, NULL, 1, '{"id":"a1","series":"gw-eu/chat/short","kind":"ttft","state":"firing","incident":"7f3k","announced":true}')`,
		`INSERT INTO alert VALUES ('a2', 'gw-us', 'ttft', 'ok', '7f3k', 1, 2, 2, '{"id":"a2","series":"gw-us","kind":"ttft","state":"ok","incident":"7f3k","resolved":"2026-03-01T08:05:00Z"}')`,
		`INSERT INTO incident VALUES ('7f3k', 'acme', 'open', 1, NULL, 1, '{"id":"7f3k","scope":"acme","provider":"acme","targets":["gw-eu"],"state":"open","alerts":["a1","a2"],"revision":4}')`,
		`PRAGMA user_version = 4`} {
		if _, err := s.write.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path, Options{})
	got := must[[]alert.Incident](t)(s.Incidents(t.Context(), IncidentQuery{}))
	want := []alert.Incident{{ID: "7f3k", Group: "provider/acme", Scope: "acme", State: "open", Revision: 4, Members: []alert.Member{
		{Alert: "a1", Target: "gw-eu", Announced: true},
		{Alert: "a2", Target: "gw-us", Announced: true, Ended: time.Date(2026, 3, 1, 8, 5, 0, 0, time.UTC), EndSent: true}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("incidents (-want +got):\n%s", diff)
	}
}
