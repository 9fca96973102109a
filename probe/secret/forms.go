package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Least is the length of the shortest value that is told from ordinary text.
const Least = 8

// isToken reports whether a part of a URL's path or query is a token, which a text may hold without the rest, and no word
// ("services", "incoming-webhook"): those are of small letters alone, and no longer than wordLength.
func isToken(part string) bool {
	const wordLength = 16
	return len(part) > wordLength || len(part) >= Least && strings.Trim(part, "abcdefghijklmnopqrstuvwxyz-_") != ""
}

// formsOf returns every form, folded, in which a text may hold value: as it is, behind URL, JSON and HTML escapes, in hex
// and in base64 at each alignment.
func formsOf(value string) []string {
	var list []string
	for _, v := range partsOf(value) {
		list = append(list, v, url.QueryEscape(v), url.PathEscape(v), html.EscapeString(v), hex.EncodeToString([]byte(v)),
			jsonEscaped(v), slashed(jsonEscaped(v)), goEscaped(v))
		for shift := range 3 {
			b := base64At(v, shift)
			list = append(list, b, slashed(b), url.QueryEscape(b))
		}
	}
	for i, form := range list {
		list[i] = string(foldAll([]byte(form)))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// slashed escapes the slashes of a JSON string, as some servers do.
func slashed(v string) string { return strings.ReplaceAll(v, "/", `\/`) }

// partsOf returns what of a value is secret: of a URL its Parts, anything else whole.
func partsOf(value string) []string {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return []string{value}
	}
	parts, _ := Parts(u) // parts that are too short were reported where the config was read
	return parts
}

// Parts returns what of a secret URL is secret: user info, and path with query. Scheme, host and port never are. The
// error says that a part is too short to be told from ordinary text.
func Parts(u *url.URL) (parts []string, err error) {
	keep := func(what, part string) {
		switch {
		case part == "" || part == "/":
		case len(part) < Least:
			err = fmt.Errorf("its %s has only %d characters: this part is too short to be told from ordinary text", what, len(part))
		default:
			parts = append(parts, part)
		}
	}
	if pw, ok := u.User.Password(); ok {
		keep("password", pw)
	} else if u.User != nil {
		keep("user info", u.User.Username())
	}
	keep("path", u.RequestURI())
	if plain, ok := strings.CutPrefix(u.RequestURI(), u.EscapedPath()); ok && u.Path != u.EscapedPath() {
		keep("path", u.Path+plain)
	}
	for _, p := range strings.Split(u.Path, "/") {
		if isToken(p) {
			parts = append(parts, p)
		}
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if Parameter(name) || isToken(v) {
				keep(fmt.Sprintf("query parameter %q", name), v)
			}
		}
	}
	return parts, err
}

// Parameter reports whether a query parameter of that name carries a credential.
func Parameter(name string) bool {
	switch strings.ToLower(name) {
	case "key", "api_key", "apikey", "api-key", "token", "access_token", "sig", "signature", "code", "subscription-key":
		return true
	}
	return false
}

// jsonEscaped returns v as it stands within a JSON string, as encoding/json writes it.
func jsonEscaped(v string) string {
	quoted, _ := json.Marshal(v) // a string always encodes
	return string(quoted[1 : len(quoted)-1])
}

// goEscaped returns v as it stands within a string that %q printed.
func goEscaped(v string) string {
	quoted := strconv.Quote(v)
	return quoted[1 : len(quoted)-1]
}

// base64At returns the characters that depend on v alone in the base64 of a text that holds v behind 3n+shift bytes.
func base64At(v string, shift int) string {
	whole := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:shift] + v))
	return whole[(8*shift+5)/6 : 8*(shift+len(v))/6]
}
