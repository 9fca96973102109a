package configs

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Digest is [digest]: when and where people get, once a day, what paged nobody.
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

// resolveDigest reads [digest]; the channels have been read.
func (l *loader) resolveDigest() {
	s, k, d := l.table("digest"), l.file.Digest, &l.cfg.Digest
	d.Zone = s.zone(k.Timezone)
	at, ok := timeOfDay(k.At)
	if !ok || at == day {
		s.fail("at", fmt.Sprintf("%q is not a time of day", k.At), `write hours and minutes: at = "09:00"`)
	}
	d.At = at
	for _, name := range k.Channels {
		l.digestChannel(s, name)
	}
	if s.has("channels") {
		d.Channels = slices.Compact(slices.Sorted(slices.Values(k.Channels)))
		return
	}
	for _, c := range l.cfg.Channels {
		if c.Slack != nil && c.Slack.InfoChannel != "" {
			d.Channels = append(d.Channels, c.Name)
		}
	}
	if s.present() && len(d.Channels) == 0 {
		s.warn("", "goes nowhere: no Slack channel has an info_channel", `set info_channel, or name the channels: channels = ["…"]`)
	}
}

// digestChannel checks one channel by name.
func (l *loader) digestChannel(s section, name string) {
	i := slices.IndexFunc(l.cfg.Channels, func(c Channel) bool { return c.Name == name })
	switch {
	case i < 0:
		s.fail("channels", fmt.Sprintf("there is no channel %q", name), "use one of: "+strings.Join(l.channelNames(), ", "))
	case l.cfg.Channels[i].Alertmanager != nil || l.cfg.Channels[i].PagerDuty != nil:
		s.fail("channels", fmt.Sprintf("%q keeps alerts, not messages", name), "name a channel that people read")
	}
}
