package configs

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Digest is [digest]: when and where people are told, once a day, of what woke nobody.
type Digest struct {
	Zone     *time.Location
	At       time.Duration // since midnight, by the clock on the wall
	Channels []string      // names; none = no digest
}

// digestKeys are the keys of [digest].
type digestKeys struct {
	At       string   `koanf:"at"`
	Timezone string   `koanf:"timezone"`
	Channels []string `koanf:"channels"`
}

func defaultDigest() digestKeys { return digestKeys{At: "09:00", Timezone: "UTC"} }

// resolveDigest reads [digest]; the channels have been read.
func (l *loader) resolveDigest() {
	s := l.single("digest")
	k := defaultDigest()
	l.decode(layers{s}, &k)
	l.cfg.Digest = Digest{Zone: l.zone(s, k.Timezone)}
	at, err := time.Parse("15:04", k.At)
	if err != nil {
		l.rep.fail(s.at("at"), s.key("at"), fmt.Sprintf("%q is not a time of day", k.At), `write hours and minutes: at = "09:00"`)
	}
	l.cfg.Digest.At = time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	for _, name := range k.Channels {
		l.digestChannel(s, name)
	}
	if s.has("channels") {
		l.cfg.Digest.Channels = slices.Compact(slices.Sorted(slices.Values(k.Channels)))
		return
	}
	for _, c := range l.cfg.Channels {
		if c.Slack != nil && c.Slack.InfoChannel != "" {
			l.cfg.Digest.Channels = append(l.cfg.Digest.Channels, c.Name)
		}
	}
	if s.tree != nil && len(l.cfg.Digest.Channels) == 0 {
		l.rep.warn(s.at(""), s.path, "goes nowhere: no Slack channel has an info_channel", `set info_channel, or name the channels: channels = ["…"]`)
	}
}

// digestChannel checks one channel by name.
func (l *loader) digestChannel(s section, name string) {
	var names []string
	for _, c := range l.cfg.Channels {
		names = append(names, c.Name)
		if c.Name == name && (c.Alertmanager != nil || c.PagerDuty != nil) {
			l.rep.fail(s.at("channels"), s.key("channels"), fmt.Sprintf("%q keeps alerts, not messages", name), "name a channel that people read")
		}
	}
	if !slices.Contains(names, name) {
		l.rep.fail(s.at("channels"), s.key("channels"), fmt.Sprintf("there is no channel %q", name), "use one of: "+strings.Join(names, ", "))
	}
}
