package configs

import (
	"strings"
	"time"

	"serin/probe"
)

// Heartbeat is [heartbeat]: who is told that rounds of probes complete.
type Heartbeat struct {
	URL   probe.Secret  // zero = nobody
	Every time.Duration // shortest distance between two pings
}

// heartbeatKeys are the keys of [heartbeat].
type heartbeatKeys struct {
	URLEnv        string        `koanf:"url_env"`
	URLFile       string        `koanf:"url_file"`
	URLCredential string        `koanf:"url_credential"`
	URLPlain      string        `koanf:"url"`
	Every         time.Duration `koanf:"every"`
}

func defaultHeartbeat() heartbeatKeys { return heartbeatKeys{Every: time.Minute} }

// resolveHeartbeat reads [heartbeat]; the URL is a secret, and no message shows it.
func (l *loader) resolveHeartbeat() {
	s := l.single("heartbeat")
	k := defaultHeartbeat()
	from := layers{s}
	l.decode(from, &k)
	given := credential{Plain: k.URLPlain, Env: k.URLEnv, File: k.URLFile, Credential: k.URLCredential}
	if s.tree != nil && given == (credential{}) {
		l.rep.fail(s.at(""), s.path, "has no URL", `give url_env, url_file or url_credential`)
	}
	if k.Every < time.Second {
		l.rep.fail(s.at("every"), s.key("every"), "is shorter than 1s", `write "1m"`)
	}
	l.cfg.Heartbeat = Heartbeat{URL: l.secret(from, "url", given), Every: k.Every}
	if l.cfg.Heartbeat.URL.IsZero() {
		return
	}
	at, key := l.firstOf(from, credentialKeys("url"), "url")
	v, err := l.cfg.Heartbeat.URL.Reveal()
	if err != nil {
		l.rep.fail(at, key, err.Error(), "put the bare URL into it")
		return
	}
	u, err := parseWebhook(v)
	if err != nil {
		l.rep.fail(at, key, "does not hold an http or https URL", "copy it from the watcher's page")
		return
	}
	// The path is the secret: a log may hold it without the host.
	if path := strings.Trim(u.Path, "/"); len(path) >= 12 {
		l.learnWords("heartbeat path", path)
	}
}
