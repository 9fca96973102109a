package configs

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"serin/probe/glob"
	"serin/probe/secret"
)

// credential is where a secret is taken from; at most one is set.
type credential struct {
	plain, env, file, credential string
	wrong                        bool // one of its keys has a wrong type, which is reported
}

// credential returns how the secret called name (api_key, webhook_url, …) is given.
func (s section) credential(name string) (c credential) {
	text := map[string]string{}
	for _, key := range credentialKeys(name) {
		v := s.l.value(join(s.path, key))
		t, isText := v.(string)
		if v != nil && !isText {
			s.fail(key, "must be a string, is "+typeName(v), "put the value in double quotes")
			s.l.bad[join(s.path, key)], c.wrong = true, true
		}
		text[key] = t
	}
	c.plain, c.env, c.file, c.credential = text[name], text[name+"_env"], text[name+"_file"], text[name+"_credential"]
	return c
}

// gives reports whether the secret is given in one of its ways, right or wrong.
func (s section) gives(name string) bool { return slices.ContainsFunc(credentialKeys(name), s.given) }

// givenAs returns the key by which the secret is given.
func (s section) givenAs(name string) string {
	keys := credentialKeys(name)
	if i := slices.IndexFunc(keys, s.given); i >= 0 {
		return keys[i]
	}
	return keys[1]
}

// secret reads the secret called name. It is zero when none is given, and when it cannot be had (reported).
func (s section) secret(name string) secret.Secret {
	c := s.credential(name)
	given := slices.DeleteFunc([]string{c.plain, c.env, c.file, c.credential}, func(v string) bool { return v == "" })
	switch {
	case c.wrong:
		return secret.Secret{}
	case len(given) > 1:
		keys := credentialKeys(name)[1:]
		key := keys[slices.IndexFunc(keys, s.given)]
		s.fail(key, "is given in more than one way", "keep one of "+strings.Join(keys, ", "))
		return secret.Secret{}
	case c.plain != "":
		return s.plainSecret(name, c.plain)
	case len(given) == 0:
		return secret.Secret{}
	case s.leftOut():
		return secret.Unread(c.label(name))
	}
	return s.readSecret(name, c)
}

// label says where the credential called name is to be found.
func (c credential) label(name string) string {
	switch {
	case c.env != "":
		return "environment variable " + c.env
	case c.file != "":
		return "file " + c.file
	}
	return "the config's " + name
}

// leftOut reports whether the options say not to read this table's credentials.
func (s section) leftOut() bool {
	o, pattern := s.l.opt, strings.SplitN(s.l.opt.Pattern, "/", 2)[0]
	probed := strings.HasPrefix(s.path, "target.") && (pattern == "" || glob.Match(pattern, s.l.names[s.path]))
	return o.NoSecrets || o.ProbesOnly && !probed
}

func (s section) plainSecret(name, value string) secret.Secret {
	if !s.l.file.AllowPlain {
		s.fail(name, "is a secret in the config itself", fmt.Sprintf("use %s_env, %s_file or %s_credential (or allow_plain_secrets = true at the top of the file)", name, name, name))
		return secret.Secret{}
	}
	v, err := secret.FromValue("the config's "+name, value)
	return s.known(name, v, err, "write the bare value")
}

func (s section) readSecret(name string, c credential) secret.Secret {
	switch {
	case c.env != "":
		key := name + "_env"
		if s.pasted(key, !variableName(c.env) || secretPrefix(c.env)) {
			return secret.Secret{}
		}
		v, err := secret.FromEnv(c.env)
		return s.known(key, v, err, fmt.Sprintf("set %s in serin's environment to the bare value (systemd: Environment= or EnvironmentFile=)", c.env))
	case c.file != "":
		return s.secretFile(name+"_file", c.file)
	}
	key := name + "_credential"
	if strings.ContainsAny(c.credential, "/\\") || strings.HasPrefix(c.credential, ".") {
		s.fail(key, "is not the name of a credential", "name a credential of the unit's LoadCredential=, or use "+name+"_file for a path")
		return secret.Secret{}
	}
	v, err := secret.FromCredential(c.credential)
	if s.pasted(key, secretPrefix(c.credential) || err != nil && looksSecret(c.credential)) {
		return secret.Secret{}
	}
	if err == nil {
		s.checkMode(key, filepath.Join(os.Getenv("CREDENTIALS_DIRECTORY"), c.credential))
	}
	return s.known(key, v, err, "add LoadCredential="+c.credential+":PATH to the unit")
}

// pasted reports a secret that stands where its place belongs; no message shows it.
func (s section) pasted(key string, yes bool) bool {
	if yes {
		s.fail(key, "looks like the secret itself", "write where it is: the name of a variable or credential, or a path")
	}
	return yes
}

func secretPrefix(v string) bool {
	for _, p := range []string{"sk-", "sk_", "gsk_", "xoxb-", "xoxp-", "xapp-", "AIza", "Bearer ", "http://", "https://"} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}

// looksSecret reports whether the name of what is not there looks like a token: a long mix of letters and digits, no path.
func looksSecret(v string) bool {
	return len(v) >= 16 && !strings.ContainsAny(v, `./\`) && strings.ContainsAny(v, "0123456789") &&
		strings.ContainsFunc(v, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
}

// variableName reports whether v may be shown as the name of an environment variable: letters, digits and _, and not
// the long mix of small letters and digits, without _, that keys are.
func variableName(v string) bool {
	small, digit := false, false
	for i, r := range v {
		switch {
		case r >= 'a' && r <= 'z':
			small = true
		case r >= '0' && r <= '9' && i > 0:
			digit = true
		case r != '_' && (r < 'A' || r > 'Z'):
			return false
		}
	}
	return v != "" && (len(v) < 24 || !small || !digit || strings.Contains(v, "_"))
}

// secretFile reads a secret from the file that a key names.
func (s section) secretFile(key, file string) secret.Secret {
	path := s.near(key, file)
	_, err := os.Stat(path)
	if s.pasted(key, secretPrefix(file) || err != nil && looksSecret(file)) || s.leftOut() {
		return secret.Secret{}
	}
	v, err := secret.FromFile(path)
	if err == nil {
		s.checkMode(key, path)
	}
	return s.known(key, v, err, "put the bare value into the file and let serin's user read it")
}

// known takes a secret in: the redactor knows it from here on.
func (s section) known(key string, v secret.Secret, err error, fix string) secret.Secret {
	if err == nil {
		err = v.Check()
	}
	if errors.Is(err, secret.ErrShort) {
		fix = fmt.Sprintf("use one of %d characters or more, or remove this key where none is wanted", secret.Least)
	}
	if err != nil {
		s.fail(key, err.Error(), fix)
		return secret.Secret{}
	}
	s.l.cfg.Redactor.Add(v)
	return v
}

// secretURL reads a secret that is an http or https URL; no message shows it. from says where to copy it.
func (s section) secretURL(name, from string) secret.Secret {
	v, key := s.secret(name), s.givenAs(name)
	raw, err := v.Reveal()
	if v.IsZero() || err != nil {
		return v // reported, or left out
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "" {
		s.fail(key, "does not hold an http or https URL", "put https://host/path into it, without anything else; "+from)
		return v
	}
	if u.Scheme == "http" && !privateHost(u.Hostname()) {
		s.warn(key, "goes out without encryption", "use https://")
	}
	s.checkParts(key, u)
	return v
}

// checkParts makes the redactor know what of a URL is secret, and reports what could not be kept out of logs and messages.
func (s section) checkParts(key string, u *url.URL) {
	parts, err := secret.Parts(u)
	s.l.cfg.Redactor.Know(parts...)
	if err != nil {
		s.fail(key, err.Error(), fmt.Sprintf("use %d characters or more there: all of them are masked in logs and messages", secret.Least))
	}
}

// near makes a path that a key gives relative to the directory of the key's file.
func (s section) near(key, path string) string {
	from := append([]string{join(s.path, key)}, s.l.elsewhere(join(s.path, key))...)
	for _, at := range from {
		if e, ok := s.l.doc.keys[at]; ok && !filepath.IsAbs(path) && e.file != fromEnvironment {
			return filepath.Join(filepath.Dir(e.file), path)
		}
	}
	return path
}

// checkMode looks at who else may read or write a secret's file.
func (s section) checkMode(key, path string) {
	info, err := os.Stat(path)
	if err != nil {
		s.fail(key, "cannot be looked at: "+reason(err), "let serin's user read the file")
		return
	}
	mode := info.Mode().Perm()
	if mode&0o002 != 0 {
		s.fail(key, fmt.Sprintf("file %s may be written by everybody (mode %04o)", path, mode), "chmod 600 "+path)
		return
	}
	if mode&0o004 != 0 && !guarded(path) {
		s.warn(key, fmt.Sprintf("file %s may be read by everybody (mode %04o)", path, mode), "chmod 600 "+path)
	}
}

// guarded reports whether path lies where the platform keeps strangers out: /run/secrets and $CREDENTIALS_DIRECTORY.
func guarded(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = filepath.Clean(path)
	}
	dirs := []string{"/run/secrets"}
	if d := os.Getenv("CREDENTIALS_DIRECTORY"); d != "" {
		dirs = append(dirs, filepath.Clean(d))
	}
	for _, dir := range dirs {
		if strings.HasPrefix(filepath.Clean(path), dir+"/") || strings.HasPrefix(real, dir+"/") {
			return true
		}
	}
	return false
}
