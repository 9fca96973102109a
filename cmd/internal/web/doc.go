// Package web serves serin over HTTP: /metrics, health, reload and the read-only API, on a TCP address, on a second one
// for scrapers, and on a unix socket whose file mode is the local authorisation. It holds no state of serin's: what it
// shows it asks for through Options.
//
// Who may do what: /healthz and /readyz are open to all. Without a token, all reading is open and writing (reload) is
// refused over TCP. With a token everything but health needs "Authorization: Bearer TOKEN". The unix socket may do
// everything.
package web
