package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"serin/configs"
)

// Delivery says where messages go, for people who check a config.
type Delivery struct {
	Channels []DeliveryChannel `json:"channels"`
	Routes   []DeliveryRoute   `json:"routes"`
}

// DeliveryChannel is one channel and what it can do.
type DeliveryChannel struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Can  string `json:"can"`
}

// DeliveryRoute is one route.
type DeliveryRoute struct {
	Match    map[string]string `json:"match"`
	Channels []string          `json:"channels"`
}

// DeliveryOf returns the channels and routes in the order of the file.
func DeliveryOf(c *configs.Config) Delivery {
	d := Delivery{Channels: []DeliveryChannel{}, Routes: []DeliveryRoute{}}
	for _, ch := range c.Channels {
		d.Channels = append(d.Channels, DeliveryChannel{ch.Name, ch.Type, ch.Can()})
	}
	for _, r := range c.Routes {
		d.Routes = append(d.Routes, DeliveryRoute{r.Match, r.Channels})
	}
	return d
}

// String returns a line for each channel and route.
func (d Delivery) String() string {
	var b strings.Builder
	for _, c := range d.Channels {
		fmt.Fprintf(&b, "channel %s (%s): %s\n", c.Name, c.Type, c.Can)
	}
	for _, r := range d.Routes {
		var match []string
		for _, name := range slices.Sorted(maps.Keys(r.Match)) {
			match = append(match, name+" = "+r.Match[name])
		}
		what := strings.Join(match, ", ")
		if what == "" {
			what = "everything"
		}
		fmt.Fprintf(&b, "route: %s to %s\n", what, strings.Join(r.Channels, ", "))
	}
	switch {
	case len(d.Channels) == 0:
		b.WriteString("no channel: nobody will be told\n")
	case len(d.Routes) > 0:
		b.WriteString("route: what none of these matches to all channels\n")
	}
	return b.String()
}
