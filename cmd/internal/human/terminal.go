package human

import "os"

// IsTerminal reports whether w is a terminal that a person looks at.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Paint colours an outcome on a terminal, unless NO_COLOR asks not to.
func Paint(text string, good, terminal bool) string {
	if !terminal || os.Getenv("NO_COLOR") != "" {
		return text
	}
	colour := map[bool]string{true: "32", false: "31"}[good]
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
