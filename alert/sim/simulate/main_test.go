package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"serin/configs"
)

func TestParseSeeds(t *testing.T) {
	f := func(text string, want ...uint64) {
		t.Helper()
		got, err := parseSeeds(text)
		if (err == nil) != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%q is %v, error %v; want %v", text, got, err, want)
		}
	}
	f("7", 7)
	f("101-103", 101, 102, 103)
	f("9, 1-3,2", 1, 2, 3, 9)
	f("")
	f("3-1")
	f("1-")
	f("-1")
	f("1-2000")
	f("x")
}

func TestPresets(t *testing.T) {
	all, err := presetsNamed(nil)
	if err != nil || len(all) != len(configs.Presets())+1 {
		t.Fatalf("%d presets, error %v", len(all), err)
	}
	for i, name := range configs.Presets() {
		if all[i].Name != name || all[i].Rule.Preset != name {
			t.Errorf("preset %d is %s with the rule of %s, want %s", i, all[i].Name, all[i].Rule.Preset, name)
		}
	}
	if c, err := presetsNamed([]string{"corroborated"}); err != nil || !c[0].PerTarget || !c[0].Rule.Corroborate || all[0].Rule.Corroborate {
		t.Errorf("corroborated is %+v, error %v; the others must not corroborate", c, err)
	}
	if one, err := presetsNamed([]string{"sharp", "sharp"}); err != nil || len(one) != 1 {
		t.Errorf("sharp twice: %d presets, error %v", len(one), err)
	}
}

func TestRefuses(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		var errs bytes.Buffer
		if code := run(t.Context(), args, io.Discard, &errs); code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: exit %d, %q; want 2 and %q", args, code, errs.String(), want)
		}
	}
	f(`"x" is no seed`, "-seeds", "x")
	f("use one of: balanced, sharp", "-preset", "brave")
	f("-format", "-format", "xml")
}
