package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"serin/probe"
)

// layers are the sections that one thing takes its values from, nearest first.
type layers []section

// at returns the place and the name of a key in the nearest section that has it, else of the nearest section.
func (l layers) at(key string) (place, string) {
	for _, s := range l {
		if s.has(key) {
			return s.at(key), s.key(key)
		}
	}
	if len(l) == 0 {
		return place{}, key
	}
	return l[0].at(key), l[0].key(key)
}

func (l layers) has(key string) bool {
	for _, s := range l {
		if s.has(key) {
			return true
		}
	}
	return false
}

// wrong reports whether one of the sections has the key with a mistake that was reported.
func (l layers) wrong(key string) bool {
	for _, s := range l {
		if s.wrong(key) {
			return true
		}
	}
	return false
}

// credentialKeys are the ways to give one secret: the nearest section that uses one of them decides alone.
func credentialKeys(name string) []string {
	return []string{name, name + "_env", name + "_file", name + "_credential"}
}

// decode merges the sections by koanf, the nearest last, and unmarshals them over what out holds already.
func (l layers) decode(out any) error {
	// No key holds NUL, so koanf splits none: labels and header names may hold dots.
	k := koanf.New("\x00")
	for i := len(l) - 1; i >= 0; i-- {
		values := l[i].values
		for _, group := range []string{"api_key", "webhook_url", "bot_token"} {
			values = without(values, l[:i], credentialKeys(group))
		}
		if err := k.Load(confmap.Provider(values, ""), nil); err != nil {
			return fmt.Errorf("merge config: %w", err)
		}
	}
	conf := koanf.UnmarshalConf{Tag: "koanf", DecoderConfig: &mapstructure.DecoderConfig{DecodeHook: moneyHook}}
	if err := k.UnmarshalWithConf("", out, conf); err != nil {
		return fmt.Errorf("unmarshal config: %w", err)
	}
	return nil
}

// without drops the group's keys from values where a nearer section uses one of them.
func without(values map[string]any, nearer layers, group []string) map[string]any {
	hidden := false
	for _, key := range group {
		hidden = hidden || nearer.has(key)
	}
	if !hidden {
		return values
	}
	out := make(map[string]any, len(values))
	for k, v := range values {
		if !slices.Contains(group, k) {
			out[k] = v
		}
	}
	return out
}

// moneyHook turns a number into a known amount.
func moneyHook(_, to reflect.Type, v any) (any, error) {
	if f, ok := v.(float64); ok && to == reflect.TypeFor[probe.Money]() {
		return probe.Some(f), nil
	}
	return v, nil
}

// named returns the display path of element i of an array of tables: target[gw-eu], or target[2] where it has no name.
func named(kind string, i int, n *node) string {
	if t, ok := n.val.(*table); ok && t.kids["name"] != nil {
		if name, ok := t.kids["name"].val.(string); ok && name != "" && len(name) <= 80 {
			return kind + "[" + strings.ToValidUTF8(name, "?") + "]"
		}
	}
	return fmt.Sprintf("%s[%d]", kind, i+1)
}
