package configs

import (
	"time"

	"serin/probe/secret"
)

// Heartbeat is [heartbeat]: who learns that rounds of probes complete.
type Heartbeat struct {
	URL   secret.Secret // zero = nobody
	Every time.Duration // shortest distance between two pings
}

// heartbeatKeys are the keys of [heartbeat].
type heartbeatKeys struct {
	URL   secretKey     `koanf:"url"`
	Every time.Duration `koanf:"every"`
}

func (l *loader) resolveHeartbeat() {
	s := l.table("heartbeat")
	if s.present() && !s.gives("url") {
		s.fail("", "has no URL", `give url_env, url_file or url_credential`)
	}
	if l.file.Heartbeat.Every < time.Second {
		s.fail("every", "is shorter than 1s", `write "1m"`)
	}
	l.cfg.Heartbeat = Heartbeat{URL: s.secretURL("url", "copy it from the watcher's page"), Every: l.file.Heartbeat.Every}
}
