package check

import (
	"fmt"
	"strings"

	"serin/probe"
	"serin/probe/wire"
)

// auth explains 401 and 403.
func (f Findings) auth() []string {
	t := f.Target
	if t.APIKey.IsZero() {
		return []string{fmt.Sprintf("no key was sent to %s: give --api-key-env VAR, or api_key_env in the config", f.Diary.URL)}
	}
	lines := []string{fmt.Sprintf("the endpoint refused the key from %s: check that it is this endpoint's key, is not revoked, and may use model %s", t.APIKey.Label(), t.Model)}
	key, err := t.APIKey.Reveal()
	if err != nil {
		return append(lines, err.Error())
	}
	for _, hint := range []string{keyHint(t, key), f.headerHint()} {
		if hint != "" {
			lines = append(lines, hint)
		}
	}
	return lines
}

// headerHint says when the endpoint asks for the key in a header that it was not sent in.
func (f Findings) headerHint() string {
	t := f.Target
	proto, err := wire.Find(t.Protocol)
	if err != nil {
		return ""
	}
	sent, _ := proto.Key(t.Auth)
	said := strings.ToLower(f.Sample.Reason + " " + f.Diary.Snippet + " " + f.Diary.Headers["www-authenticate"])
	asked := ""
	for _, name := range []string{"x-goog-api-key", "x-api-key", "api-key", "authorization", "bearer"} { // api-key is part of the others
		if strings.Contains(said, name) {
			asked = name
			break
		}
	}
	switch {
	case asked == "" || strings.EqualFold(asked, sent) || sent == "Authorization" && asked == "bearer":
		return ""
	case asked == "authorization" || asked == "bearer":
		return fmt.Sprintf(`the endpoint speaks of the header Authorization, and the key went as %s: set auth = "bearer"`, sent)
	case asked == "x-api-key" && t.Protocol != "anthropic":
		return fmt.Sprintf(`the endpoint speaks of the header x-api-key, and the key went as %s: set auth = "x-api-key", or protocol = "anthropic" if it speaks that`, sent)
	}
	return fmt.Sprintf(`the endpoint speaks of the header %s, and the key went as %s: set auth = %q`, asked, sent, asked)
}

// keyHint says when the shape of a key and the way it was sent do not fit.
func keyHint(t *probe.Target, key string) string {
	anthropicKey, oauth := strings.HasPrefix(key, "sk-ant-"), strings.HasPrefix(key, "sk-ant-oat")
	switch {
	case t.Protocol == "anthropic" && oauth && t.Auth != "bearer":
		return `this is an OAuth token, not an API key: set auth = "bearer" (what an ANTHROPIC_AUTH_TOKEN wants), or use a key that begins with sk-ant-api`
	case t.Protocol == "anthropic" && anthropicKey && !oauth && t.Auth == "bearer":
		return `this is an API key, sent as a bearer token: leave auth out, so that it goes as x-api-key`
	case t.Protocol == "anthropic" && !anthropicKey && t.Auth == "":
		return `the key went as x-api-key; a gateway in front of the API often wants auth = "bearer"`
	case t.Protocol != "anthropic" && anthropicKey:
		return `this looks like an Anthropic key, but protocol is ` + t.Protocol + `: set protocol = "anthropic", or use the key of this endpoint`
	case strings.HasPrefix(strings.ToLower(key), "bearer "), strings.HasPrefix(strings.ToLower(key), "bearer:"):
		return `the key itself begins with "Bearer": keep only what stands behind it`
	case strings.HasPrefix(key, "$"):
		return `the key begins with "$": a variable was not expanded where the key was set`
	case strings.HasPrefix(key, `"`) || strings.HasPrefix(key, "'"):
		return `the key stands in quotes: an env file took them literally, write it without`
	}
	return ""
}
