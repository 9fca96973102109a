package configs

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestHeartbeat(t *testing.T) {
	setEnv(t)
	t.Setenv("BEAT", "https://beat.example/ping/5f0c1d2e-4b5a")
	c := mustLoad(t, base+"[heartbeat]\nurl_env = \"BEAT\"\nevery = \"5m\"\n")
	if v, err := c.Heartbeat.URL.Reveal(); v != "https://beat.example/ping/5f0c1d2e-4b5a" || err != nil || c.Heartbeat.Every != 5*time.Minute {
		t.Errorf("heartbeat %q every %s, %v", v, c.Heartbeat.Every, err)
	}
	said := fmt.Sprintf("%+v %s", c.Heartbeat, c.Redactor.Redact("GET https://beat.example/ping/5f0c1d2e-4b5a, path /ping/5f0c1d2e-4b5a"))
	if strings.Contains(said, "5f0c1d2e") {
		t.Errorf("the URL is shown: %s", said)
	}
	if c = mustLoad(t, base); !c.Heartbeat.URL.IsZero() {
		t.Errorf("heartbeat without a table: %+v", c.Heartbeat)
	}
}
