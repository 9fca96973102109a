package app

import (
	"bytes"
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

func TestSimulatePresets(t *testing.T) {
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

func TestSimulateRefuses(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		var errs bytes.Buffer
		code := Run(t.Context(), Options{Args: append([]string{"simulate"}, args...), Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &errs})
		if code != ExitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: exit %d, %q; want %d and %q", args, code, errs.String(), ExitUsage, want)
		}
	}
	f(`"x" is no seed`, "--seeds", "x")
	f("use one of: balanced, sharp", "--preset", "brave")
	f("--format", "--format", "xml")
}

func TestSimulateIsHidden(t *testing.T) {
	var out bytes.Buffer
	if code := Run(t.Context(), Options{Args: []string{"--help"}, Stdout: &out, Stderr: &out}); code != ExitOK {
		t.Fatalf("exit %d", code)
	}
	if strings.Contains(out.String(), "simulate") || !strings.Contains(out.String(), "validate") {
		t.Errorf("the short help is\n%s", out.String())
	}
}
