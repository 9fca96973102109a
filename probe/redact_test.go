package probe

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// codes writes a text as servers and proxies may echo it, character by character or as a whole.
var codes = map[string]func(string) string{
	"plain":      func(s string) string { return s },
	"upper":      strings.ToUpper,
	"lower":      strings.ToLower,
	"query":      url.QueryEscape,
	"path":       url.PathEscape,
	"query ×2":   func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"every %":    each("%%%02x"),
	"every %X":   each("%%%02X"),
	"every %u":   each("%%u%04x"),
	`every \u`:   each(`\u%04x`),
	`every \U`:   each(`\U%04X`),
	`every \x`:   each(`\x%02x`),
	"every &#":   each("&#%d;"),
	"every &#x":  each("&#x%x;"),
	"every &#X":  each("&#X%04X;"),
	"html":       html.EscapeString,
	"json":       quoted,
	"json ×2":    func(s string) string { return quoted(quoted(s)) },
	"json %":     func(s string) string { return url.QueryEscape(quoted(s)) },
	"hex":        func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":        func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"hex lower":  func(s string) string { return hex.EncodeToString([]byte(strings.ToLower(s))) },
	"html upper": func(s string) string { return html.EscapeString(strings.ToUpper(s)) },
}

func each(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(b), `"`), `"`)
}

// TestNoPieceSurvives: of any key, in any of the codes, within any text, no minFragment characters in a row are left.
func TestNoPieceSurvives(t *testing.T) {
	names := make([]string, 0, len(codes))
	for name := range codes {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t)
		name := rapid.SampledFrom(names).Draw(t, "code")
		code := codes[name]
		around := rapid.OneOf(rapid.StringMatching(`[ -~]{0,20}`), rapid.String(), rapid.StringMatching(`[%\\&#xu0-9a-f;]{0,8}`))
		text := ended(around.Draw(t, "before")) + code(key) + around.Draw(t, "after")
		got := strings.ToLower(redactorOf(t, key).Redact(text))
		for i := 0; i+minFragment <= len(key); i++ {
			piece := strings.ToLower(code(key[i : i+minFragment]))
			if strings.Contains(got, piece) {
				t.Fatalf("%s: %q is left of %q in %q", name, piece, text, got)
			}
		}
	})
}

// TestNoPieceSurvivesBase64 does so for base64 of texts that hold the key at any place: what of the characters depends
// on the key alone is looked for.
func TestNoPieceSurvivesBase64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := drawKey(t)
		enc := rapid.SampledFrom([]*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding}).Draw(t, "alphabet")
		inner := rapid.SampledFrom([]string{"plain", "upper", "lower", "json", "query", "every %"}).Draw(t, "inner")
		outer := rapid.SampledFrom([]string{"plain", "query", "json", "html", "every &#"}).Draw(t, "outer")
		around := rapid.OneOf(rapid.SampledFrom([]string{"", "Bearer ", "user:", "x", "xy"}), rapid.StringMatching(`[ -~]{0,9}`))
		packed := enc.EncodeToString([]byte(ended(around.Draw(t, "before")) + codes[inner](key) + around.Draw(t, "after")))
		got := redactorOf(t, key).Redact(ended(around.Draw(t, "left")) + codes[outer](packed) + around.Draw(t, "right"))
		for i := 0; i+minFragment <= len(key); i++ {
			for at := range 3 {
				piece := codes[inner](key[i : i+minFragment])
				whole := enc.EncodeToString([]byte("xyz"[:at] + piece))
				first, last := (8*at+5)/6, 8*(at+len(piece))/6
				if left := codes[outer](whole[first:last]); strings.Contains(got, left) {
					t.Fatalf("%q of %q is left in %q", left, piece, got)
				}
			}
		}
	})
}

// ended ends an escape that text breaks off in: with the first characters of a key it would make another character.
func ended(text string) string {
	if regexp.MustCompile(`(%|\\|&)[#0-9a-zA-Z]*$`).MatchString(text) {
		return text + " "
	}
	return text
}

// drawKey makes a key as a header can carry it, of 8 to 60 characters.
func drawKey(t *rapid.T) string {
	return rapid.OneOf(rapid.StringMatching(`[!-~]{8,60}`), rapid.StringMatching(`sk-[0-9A-Za-z_-]{5,50}`), rapid.StringMatching(`[%&\\"#;xu0-9a-f]{8,20}`)).
		Filter(func(s string) bool { return !strings.Contains(s, "://") && !strings.Contains(s, "***") }).Draw(t, "key")
}

func redactorOf(t rapid.TB, values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		s, err := SecretFromValue("test", v)
		if err != nil {
			t.Fatal(err)
		}
		r.Add(s)
	}
	return r
}

func TestRedact(t *testing.T) {
	const hook = "https://hooks.example/services/T0AB/B0CD/x9Kq2Lm4"
	f := func(text, want string, secrets ...string) {
		t.Helper()
		if got := redactorOf(t, secrets...).Redact(text); got != want {
			t.Errorf("%q → %q, want %q", text, got, want)
		}
	}
	f("key sk-abcdef123456, again SK-ABCDEF123456.", "key ***, again ***.", "sk-abcdef123456")
	f("Incorrect key: sk-abcde****3456", "Incorrect key: ***3456", "sk-abcde****1234")
	f("only sk-abcd of it", "only sk-abcd of it", "sk-abcdef123456") // 7 characters
	f("got QmVhcmVyIHNrLWFiY2RlZjEyMzQ1Ng== in", "got QmVhcmVyI***== in", "sk-abcdef123456")
	f("0x736b2d616263646566313233343536!", "0x***!", "sk-abcdef123456")
	f("x&#115;&#107;&#45;&#97;&#98;&#99;&#100;&#101;&#102;y", "x***y", "sk-abcdef")
	f("post "+hook+": refused", "post ***: refused", hook)
	f("path /services/T0AB/B0CD/x9Kq2Lm4", "path /services***", hook)
	f("see https://hooks.example/services/ and our services", "see https://hooks.example/services/ and our services", hook)
	f("an EMPTY line, empty too", "an *** line, empty too", "EMPTY") // short: as it is written
	f("auth dXNlcjpFTVBUWQ==", "auth ***", "EMPTY")
	f("nothing here", "nothing here", "sk-abcdef123456")
	f("", "", "sk-abcdef123456")
	f("zwölf Grüße, 日本語 sk-abcdef123456 日本語", "zwölf Grüße, 日本語 *** 日本語", "sk-abcdef123456")
}

// TestModelsAreRedacted: an endpoint may echo the key where a model's name is due.
func TestModelsAreRedacted(t *testing.T) {
	srv := scripted(answer(200, `{"data":[{"id":"`+key+`"},{"id":"org/`+strings.ToUpper(key)+`"},{"id":"qwen-7b"}]}`, "Content-Type: application/json"))
	defer srv.stop()
	p := New(Options{Dial: srv.dial})
	defer p.Close()
	names, err := p.Models(t.Context(), keyed(t).Target)
	if want := []string{"***", "org/***", "qwen-7b"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("names %q, %v; want %q", names, err, want)
	}
	if got := srv.requests[0].Header.Get("Authorization"); got != "Bearer "+key {
		t.Errorf("sent %q", got)
	}
	if http.MethodGet != srv.requests[0].Method {
		t.Errorf("method %s", srv.requests[0].Method)
	}
}

func BenchmarkRedact(b *testing.B) {
	f := func(name, text string) {
		b.Run(name, func(b *testing.B) {
			r := redactorOf(b, "sk-proj-0123456789abcdefghij", "xoxb-1234567890-abcdefghijkl", "https://hooks.example/services/T0AB/B0CD/x9Kq2Lm4")
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Redact(text)
			}
		})
	}
	f("log text", `read tcp 10.1.2.3:41234->192.0.2.7:443: connection reset by peer after 12 of 86 pieces, request id req_011CSHoEeqs5C35K2UUqR7Fy`)
	f("base64 8 KiB", strings.Repeat("QmVhcmVyIHNrLWFiY2RlZjEyMzQ1Ng", 273))
	f("escapes 8 KiB", strings.Repeat("%25252525252525", 546))
}
