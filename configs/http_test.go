package configs

import (
	"encoding/pem"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHTTPToken(t *testing.T) {
	setEnv(t)
	c := mustLoad(t, base+"[http]\nlisten = \":9469\"\ntoken_file = \"token\"\nexternal_url = \"https://serin.example\"\n", "token", "tok-1234\n")
	if v, err := c.HTTP.Token.Reveal(); v != "tok-1234" || err != nil || c.Redactor.Redact("tok-1234") != "***" {
		t.Errorf("token = %q, %v", v, err)
	}
	c = mustLoad(t, base+"[http]\nlisten = \"0.0.0.0:9469\"\nallow_public = true\n")
	if !c.HTTP.AllowPublic || !c.HTTP.Token.IsZero() {
		t.Errorf("http = %+v", c.HTTP)
	}
}

func TestCAFile(t *testing.T) {
	setEnv(t)
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	c := mustLoad(t, strings.Replace(base, "model", "ca_file = \"ca.pem\"\nmodel", 1), "ca.pem", cert)
	if !strings.HasSuffix(c.Targets[0].CAFile, "/ca.pem") {
		t.Errorf("ca_file = %q, want it beside the config", c.Targets[0].CAFile)
	}
}

func TestPrivateHost(t *testing.T) {
	f := func(host string, want bool) {
		t.Helper()
		if got := privateHost(host); got != want {
			t.Errorf("privateHost(%q) = %v", host, got)
		}
	}
	f("localhost", true)
	f("127.0.0.1", true)
	f("::1", true)
	f("10.1.2.3", true)
	f("192.168.0.1", true)
	f("100.64.1.1", true)
	f("fd00::1", true)
	f("::ffff:10.0.0.1", true)
	f("vllm", true)
	f("vllm.ml.svc", true)
	f("vllm.ml.svc.cluster.local", true)
	f("gw.corp.internal.", true)
	f("gateway.example.com", false)
	f("8.8.8.8", false)
	f("172.32.0.1", false)
	f("2001:db8::1", false)
}

func TestAdHoc(t *testing.T) {
	setEnv(t)
	c, problems := LoadAdHoc(AdHoc{BaseURL: "http://127.0.0.1:1/v1", Model: "m", Size: "short"})
	if c == nil || len(c.Runs) != 1 || c.Runs[0].Canary.Target.Protocol != "openai-chat" {
		t.Errorf("config = %+v, %s", c, lines(problems))
	}
	_, problems = LoadAdHoc(AdHoc{BaseURL: "https://a.example/v1/chat/completions", Model: "m", Size: "short", APIKeyEnv: "NO_SUCH"})
	got := lines(problems)
	for _, want := range []string{"command line:", "holds the endpoint's path", "NO_SUCH is not set"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}

// TestRoleOf gives the weakest role that does what the scopes of an old config allowed.
func TestRoleOf(t *testing.T) {
	f := func(want string, scopes ...any) {
		t.Helper()
		if got := roleOf(scopes); got != want {
			t.Errorf("%v need the role %s, want %s", scopes, got, want)
		}
	}
	f("read", "read")
	f("annotate", "read", "mark")
	f("annotate", "ack")
	f("admin", "silence", "reload")
	f("admin", "write")
	f("read")
}
