package daemon

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// storeFile watches whether the store's file is still the one that was opened: what is written to a deleted file is
// gone with the process, and no write says so.
type storeFile struct {
	path   string
	opened os.FileInfo // nil = not known
	lost   atomic.Bool
	alert  *selfAlert
}

func watchStoreFile(path string, self *selfAlert) *storeFile {
	info, err := os.Stat(path)
	if err != nil {
		info = nil // the store opened a moment ago: what is wrong with the file shows at its first write
	}
	return &storeFile{path: path, opened: info, alert: self}
}

// look compares, and reports with why whether that has changed since the last look.
func (f *storeFile) look() (changed bool, why error) {
	if f.opened == nil {
		return false, nil
	}
	now, err := os.Stat(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		why = fmt.Errorf("%s was deleted", f.path)
	case err != nil:
		return false, nil // an unreadable directory says nothing about the file that is open
	case !os.SameFile(f.opened, now):
		why = fmt.Errorf("%s was replaced by another file", f.path)
	}
	return f.lost.Swap(why != nil) != (why != nil), why
}

// checkStoreFile says once when the file is lost, and once when it is back.
func (d *Daemon) checkStoreFile() {
	changed, why := d.file.look()
	switch {
	case !changed:
	case why != nil:
		d.log.Error("store file is lost; alerting goes on, restart serin for a new store", "error", why)
		d.file.alert.begin("serin has lost its store: "+why.Error(), "alerts are still decided and sent; what is stored now is gone with this process",
			"put the file back, or restart serin: it makes a new store and learns anew (serin restore brings a backup back)")
	default:
		d.log.Info("store file is back", "path", d.file.path)
		d.file.alert.end("serin has its store file back")
	}
}
