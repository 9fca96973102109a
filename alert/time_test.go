package alert

import (
	"testing"
	"time"
)

func TestRenderTimes(t *testing.T) {
	at := time.Unix(1772340790, 0)
	text := "since " + MarkTime(at, TimeOfDay, "03:53 +08:00") + " to " + MarkTime(at.Add(time.Hour), WithDate, "1 Mar 04:53")
	if got := PlainTimes(text); got != "since 03:53 +08:00 to 1 Mar 04:53" {
		t.Errorf("plain: %q", got)
	}
	got := RenderTimes(text, func(when time.Time, style TimeStyle, _ string) string {
		return string(style) + when.UTC().Format(" 15:04")
	})
	if got != "since time 04:53 to date 05:53" {
		t.Errorf("rendered: %q", got)
	}
	if got := PlainTimes(text[:len("since ")+8]); got != "since " {
		t.Errorf("a cut time is left: %q", got)
	}
}

func TestForeignTextMarksNoTime(t *testing.T) {
	evil := MarkTime(time.Unix(0, 0), TimeOfDay, "yesterday")
	if got := OneLine(evil, 100); PlainTimes(got) != got {
		t.Errorf("%q is taken for a time", got)
	}
}
