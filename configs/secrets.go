package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"serin/probe"
)

// secret reads the credential called name (api_key, webhook_url, …). It is zero when none is given, when it cannot be
// had (reported), and with NoSecrets.
func (l *loader) secret(from layers, name string, c credential) probe.Secret {
	given := 0
	for _, v := range []string{c.Plain, c.Env, c.File, c.Credential} {
		if v != "" {
			given++
		}
	}
	if given > 1 {
		at, key := l.firstOf(from, credentialKeys(name)[1:], name)
		l.rep.fail(at, key, "is given in more than one way", fmt.Sprintf("keep one of %s", strings.Join(credentialKeys(name)[1:], ", ")))
		return probe.Secret{}
	}
	if c.Plain != "" {
		return l.plainSecret(from, name, c)
	}
	if l.opt.NoSecrets || given == 0 {
		return probe.Secret{}
	}
	return l.readSecret(from, name, c)
}

func (l *loader) firstOf(from layers, keys []string, fallback string) (place, string) {
	for _, k := range keys {
		if from.has(k) {
			return from.at(k)
		}
	}
	return from.at(fallback)
}

func (l *loader) plainSecret(from layers, name string, c credential) probe.Secret {
	at, key := from.at(name)
	if !l.plain {
		l.rep.fail(at, key, "is a secret in the config itself", fmt.Sprintf("use %s_env, %s_file or %s_credential (or allow_plain_secrets = true at the top of the file)", name, name, name))
		return probe.Secret{}
	}
	s, err := probe.SecretFromValue("the config's "+name, c.Plain)
	return l.known(at, key, s, err, "write the bare value")
}

func (l *loader) readSecret(from layers, name string, c credential) probe.Secret {
	if suffix, pasted := c.pasted(); pasted {
		at, key := from.at(name + suffix)
		l.rep.fail(at, key, "looks like the secret itself", "write where it is: the name of a variable or credential, or a path")
		return probe.Secret{}
	}
	switch {
	case c.Env != "":
		at, key := from.at(name + "_env")
		s, err := probe.SecretFromEnv(c.Env)
		return l.known(at, key, s, err, fmt.Sprintf("set %s in serin's environment to the bare value (systemd: Environment= or EnvironmentFile=)", c.Env))
	case c.File != "":
		at, key := from.at(name + "_file")
		return l.secretFile(at, key, l.near(at, c.File))
	}
	at, key := from.at(name + "_credential")
	if strings.ContainsAny(c.Credential, "/\\") || strings.HasPrefix(c.Credential, ".") {
		l.rep.fail(at, key, fmt.Sprintf("%q is not the name of a credential", c.Credential), "name a credential of the unit's LoadCredential=, or use "+name+"_file for a path")
		return probe.Secret{}
	}
	s, err := probe.SecretFromCredential(c.Credential)
	if err == nil {
		l.checkMode(at, key, filepath.Join(os.Getenv("CREDENTIALS_DIRECTORY"), c.Credential))
	}
	return l.known(at, key, s, err, "add LoadCredential="+c.Credential+":PATH to the unit")
}

// pasted reports whether a secret stands where its place belongs, and under which suffix: no message may show it then.
func (c credential) pasted() (suffix string, yes bool) {
	switch {
	case c.Env != "":
		return "_env", !variableName(c.Env) || secretPrefix(c.Env)
	case c.File != "":
		return "_file", secretPrefix(c.File)
	}
	return "_credential", secretPrefix(c.Credential)
}

func secretPrefix(v string) bool {
	for _, p := range []string{"sk-", "sk_", "gsk_", "xoxb-", "xoxp-", "xapp-", "AIza", "Bearer ", "http://", "https://"} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
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

func (l *loader) secretFile(at place, key, path string) probe.Secret {
	s, err := probe.SecretFromFile(path)
	if err == nil {
		l.checkMode(at, key, path)
	}
	return l.known(at, key, s, err, "put the bare value into the file and let serin's user read it")
}

// known takes a secret in: the redactor knows it from here on.
func (l *loader) known(at place, key string, s probe.Secret, err error, fix string) probe.Secret {
	if err != nil {
		l.rep.fail(at, key, err.Error(), fix)
		return probe.Secret{}
	}
	l.cfg.Redactor.Add(s)
	return s
}

// near makes a path that the config file gives relative to that file's directory.
func (l *loader) near(at place, path string) string {
	if filepath.IsAbs(path) || at.file == fromEnvironment || at.file == "" {
		return path
	}
	return filepath.Join(filepath.Dir(at.file), path)
}

// checkMode looks at who else may read or write a secret's file.
func (l *loader) checkMode(at place, key, path string) {
	info, err := os.Stat(path)
	if err != nil {
		l.rep.fail(at, key, "cannot be looked at: "+reason(err), "let serin's user read the file")
		return
	}
	mode := info.Mode().Perm()
	if mode&0o002 != 0 {
		l.rep.fail(at, key, fmt.Sprintf("file %s may be written by everybody (mode %04o)", path, mode), "chmod 600 "+path)
		return
	}
	if mode&0o004 != 0 && !guarded(path) {
		l.rep.warn(at, key, fmt.Sprintf("file %s may be read by everybody (mode %04o)", path, mode), "chmod 600 "+path)
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
		for _, p := range []string{filepath.Clean(path), real} {
			if strings.HasPrefix(p, dir+"/") {
				return true
			}
		}
	}
	return false
}
