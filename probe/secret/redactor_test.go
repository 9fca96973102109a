package secret

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// codes writes a text as servers, proxies and libraries may echo it.
var codes = map[string]func(string) string{
	"plain":      func(s string) string { return s },
	"upper":      strings.ToUpper,
	"lower":      strings.ToLower,
	"query":      url.QueryEscape,
	"path":       url.PathEscape,
	"query, %aa": func(s string) string { return strings.ToLower(url.QueryEscape(s)) },
	"html":       html.EscapeString,
	"json":       jsonEscaped,
	`json, \/`:   func(s string) string { return slashed(jsonEscaped(s)) },
	"%q":         goEscaped,
	"hex":        func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":        func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
}

func names[V any](m map[string]V) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// drawKey makes a key as a header can carry it, and a piece that must not be left: all of it, or a prefix or suffix.
func drawKey(t *rapid.T) (key, piece string) {
	key = rapid.OneOf(rapid.StringMatching(`[!-~]{8,60}`), rapid.StringMatching(`sk-[0-9A-Za-z_-]{5,50}`), rapid.StringMatching(`[%&\\"#;xu0-9a-f/]{8,20}`)).
		Filter(func(s string) bool { return !strings.Contains(s, "://") && !strings.Contains(s, "***") }).Draw(t, "key")
	n := len(key)
	if n > fragment {
		n = rapid.IntRange(fragment, n).Draw(t, "length")
	}
	if rapid.Bool().Draw(t, "suffix") {
		return key, key[len(key)-n:]
	}
	return key, key[:n]
}

// TestNoPieceSurvives: of any key, in any of the codes, within any text, no prefix or suffix is left.
func TestNoPieceSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, piece := drawKey(t)
		name := rapid.SampledFrom(names(codes)).Draw(t, "code")
		around := rapid.OneOf(rapid.StringMatching(`[ -~]{0,20}`), rapid.String())
		hidden := codes[name](piece)
		text := around.Draw(t, "before") + hidden + around.Draw(t, "after")
		if got := redactorOf(t, key).Redact(text); strings.Contains(got, hidden) {
			t.Fatalf("%s: %q is left of %q in %q", name, hidden, text, got)
		}
	})
}

// TestNoPieceSurvivesBase64 does so for base64 of texts that hold the piece at any place: what of the characters depends
// on it alone must be gone.
func TestNoPieceSurvivesBase64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, piece := drawKey(t)
		enc := rapid.SampledFrom([]*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding}).Draw(t, "alphabet")
		around := rapid.OneOf(rapid.SampledFrom([]string{"", "Bearer ", "user:", "x", "xy"}), rapid.StringMatching(`[ -~]{0,9}`))
		before := around.Draw(t, "before")
		packed := enc.EncodeToString([]byte(before + piece + around.Draw(t, "after")))
		got := redactorOf(t, key).Redact(packed)
		first, last := (8*len(before)+5)/6, 8*(len(before)+len(piece))/6
		if left := packed[first:last]; strings.Contains(got, left) {
			t.Fatalf("%q of %q is left in %q", left, piece, got)
		}
	})
}

func redactorOf(t rapid.TB, values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		s, err := FromValue("test", v)
		if err != nil {
			t.Fatal(err)
		}
		r.Add(s)
	}
	return r
}

func TestRedact(t *testing.T) {
	const hook = "https://hooks.example:8443/services/T0AB/B0CD/x9Kq"
	f := func(text, want string, secrets ...string) {
		t.Helper()
		if got := redactorOf(t, secrets...).Redact(text); got != want {
			t.Errorf("%q → %q, want %q", text, got, want)
		}
	}
	f("key sk-abcdef123456, again SK-ABCDEF123456.", "key ***, again ***.", "sk-abcdef123456")
	f("Incorrect key: sk-proj-abcd****3456", "Incorrect key: ***3456", "sk-proj-abcd****1234")
	f("only sk-abcdef12 of it", "only sk-abcdef12 of it", "sk-abcdef123456") // 11 characters
	f("got QmVhcmVyIHNrLWFiY2RlZjEyMzQ1Ng== in", "got QmVhcmVyIH***g== in", "sk-abcdef123456")
	f("0x736b2d616263646566313233343536!", "0x***!", "sk-abcdef123456")
	f("zwölf Grüße, 日本語 sk-abcdef123456 日本語", "zwölf Grüße, 日本語 *** 日本語", "sk-abcdef123456")
	f("two: first-key-1234 second-key-5678", "two: *** ***", "first-key-1234", "second-key-5678")
	f("nothing here", "nothing here", "sk-abcdef123456")
	f("", "", "sk-abcdef123456")
	// Of a URL scheme, host and port are no secret, nor are the words of its path where they stand alone.
	f("post "+hook+": refused", "post https://hooks.example:8443***: refused", hook)
	f("dial tcp hooks.example:8443: connect: connection refused", "dial tcp hooks.example:8443: connect: connection refused", hook)
	f("path /services/T0AB/B0CD/x9Kq", "path ***", hook)
	f("see https://hooks.example/services/ and our services", "see https://hooks.example/services/ and our services", hook)
	f("lookup llm2.example: no such host, dial tcp 10.0.0.1:101", "lookup llm2.example: no such host, dial tcp 10.0.0.1:101", "http://10.0.0.1:101/hook/llm2")
	f("GET https://u:passw0rd@beat.example/ping?token=t0ken-123", "GET https://u:***@beat.example***", "https://u:passw0rd@beat.example/ping?token=t0ken-123")
	f("token t0ken-123 is not known", "token *** is not known", "https://beat.example/ping?token=t0ken-123")
}

func TestParts(t *testing.T) {
	f := func(raw, wrong string, want ...string) {
		t.Helper()
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := Parts(u)
		if !slices.Equal(parts, want) || (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %q, %v", raw, parts, err)
		}
	}
	f("https://h.example", "")
	f("https://h.example:8080/", "")
	f("https://h.example/services/T0/B0/x", "", "/services/T0/B0/x")
	f("https://h.example/hook", "too short to be told from ordinary text")
	f("https://h.example/hooks/in?key=abc", `query parameter "key" has only 3 characters: this part is too short`, "/hooks/in?key=abc")
	f("https://u:pw@h.example/", "password has only 2 characters")
	f("https://t0ken-as-user@h.example/", "", "t0ken-as-user")
}

// TestSecretsThatCannotBeKept: each error names the place and what is wrong, and none the value.
func TestSecretsThatCannotBeKept(t *testing.T) {
	f := func(value, want string) {
		t.Helper()
		_, err := FromValue("environment variable K", value)
		if err == nil || !strings.Contains(err.Error(), "environment variable K ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), value) {
			t.Errorf("%q: %v", value, err)
		}
	}
	f("sk-abc def123456", "white space")
	f("sk-abc\u2019def123456", "U+2019 as character 7")
	f("sk-abcdef123456\u200b", "U+200B as character 16")
	f("sk\u2014abcdef123456", "U+2014 as character 3")
	f("sk-abc\u028bdef123456", "U+028B as character 7")
	good, err := FromValue("x", "\t12345678\r\n")
	if err != nil || good.Check() != nil {
		t.Error(err, good.Check())
	}
	short, err := FromValue("environment variable K", " EMPTY\n")
	if err != nil || !errors.Is(short.Check(), ErrShort) || !strings.HasPrefix(short.Check().Error(), "environment variable K is shorter than 8 characters") {
		t.Error(err, short.Check())
	}
}

// TestOldAndNewValuesOfAFile: a key that was replaced is still a key, and its successor is known before anybody can use it.
func TestOldAndNewValuesOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	write := func(v string) {
		if err := os.WriteFile(path, []byte(v), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first-secret-value")
	s, err := FromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r Redactor
	r.Add(s)
	write("second-secret-value!")
	if v, err := s.Reveal(); v != "second-secret-value!" || err != nil {
		t.Fatalf("%q, %v", v, err)
	}
	if got := r.Redact("first-secret-value second-secret-value!"); got != "*** ***" {
		t.Errorf("redacted to %q", got)
	}
}

// TestAbsorb keeps old values known and takes in those of a newer config.
func TestAbsorb(t *testing.T) {
	r := redactorOf(t, "first-secret-value")
	for range 3 {
		newer := redactorOf(t, "second-secret-value")
		newer.Know("third-hidden-thing")
		r.Absorb(newer)
	}
	if got := r.Redact("first-secret-value second-secret-value third-hidden-thing"); got != "*** *** ***" {
		t.Errorf("redacted to %q", got)
	}
}

func TestUnread(t *testing.T) {
	s := Unread("the config's api_key")
	if v, err := s.Reveal(); s.IsZero() || v != "" || err == nil {
		t.Errorf("%q, %v", v, err)
	}
}

// BenchmarkRedact shows that neither the number of secrets nor the kind of text makes a text dear.
func BenchmarkRedact(b *testing.B) {
	f := func(name, text string, keys int) {
		b.Run(fmt.Sprintf("%s, %d keys", name, keys), func(b *testing.B) {
			r := &Redactor{}
			for i := range keys {
				r.Know(fmt.Sprintf("sk-proj-%04d0123456789abcdefghij", i))
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Redact(text)
			}
		})
	}
	for _, keys := range []int{3, 500} {
		f("log text", `read tcp 10.1.2.3:41234->192.0.2.7:443: connection reset by peer after 12 of 86 pieces, request id req_011CSHoEeqs5C35K2UUqR7Fy`, keys)
		f("base64 8 KiB", strings.Repeat("QmVhcmVyIHNrLWFiY2RlZjEyMzQ1Ng", 273), keys)
		f("prefixes 8 KiB", strings.Repeat("sk-proj-0001", 683), keys)
	}
}
