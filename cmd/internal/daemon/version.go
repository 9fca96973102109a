package daemon

import (
	"runtime/debug"
)

// Version and Commit are set by the linker in release builds: -X serin/cmd/internal/daemon.Version=…
var (
	Version = "dev"
	Commit  = ""
)

// Revision returns the commit that the binary was built from, "unknown" where the build did not record it.
func Revision() string {
	if Commit != "" {
		return Commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "unknown"
}
