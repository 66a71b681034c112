package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/disk/changed"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/paths"
)

// doubted are the commands that could have made what nobody has judged. Of one that was
// read, and changes no more than the paths it names, all was judged before it began; what
// comes meanwhile is somebody else's.
func (t *auditor) doubted() iter.Seq[*started] {
	return func(yield func(*started) bool) {
		for r := range t.runs {
			if !r.exact && !yield(r) {
				return
			}
		}
	}
}

// suspect reports whether some command could have made what is at path.
func (t *auditor) suspect(path string, it item, final bool) bool {
	doubted := slices.Collect(t.doubted())
	if len(doubted) == 0 {
		return false
	}
	for r := range t.runs {
		if allowed(r.open, path) {
			return false
		}
		if it.why != "" && r.setting(path) != nil {
			return false // it is of no program that can be judged
		}
	}
	if it.passing() {
		return final
	}
	for _, r := range doubted {
		if r.setting(path) != nil && !newest(path).Before(r.since) {
			return true
		}
		if !t.reaches(r, path) || r.stands(path) {
			continue
		}
		if !r.had[path] && (!it.late && !r.partial || !newest(path).Before(r.since)) {
			return true
		}
	}
	return false
}

// stands reports whether a path in a folder that a command takes away is still what it was.
func (r *started) stands(path string) bool {
	was, ok := r.was[path]
	return ok && (was == stampOf(path) || was == "" && newest(path).Before(r.since))
}

// allowed reports whether path is open, or a folder in which all that is, is.
func allowed(open []string, path string) bool {
	if paths.WithinAny(open, path) {
		return true
	}
	if !slices.ContainsFunc(open, func(o string) bool { return paths.Within(path, o) }) {
		return false
	}
	n := 0
	return filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > maxStamped || !d.IsDir() && !paths.WithinAny(open, p) {
			return fs.ErrPermission
		}
		return nil
	}) == nil
}

// more reports whether a list of a rebase, or git's settings, have more to run
// than when each command began.
func (t *auditor) more(it item, known []string) bool {
	runs := conf.Runs(it.steer, known)
	if len(runs) == 0 {
		return true // it is judged as a whole
	}
	for r := range t.runs {
		for _, line := range runs {
			if !slices.Contains(r.todo[it.steer.Path], line) {
				return true
			}
		}
	}
	return false
}

// asBefore reports whether a file that was replaced says what it said before.
func (t *auditor) asBefore(path string) bool {
	text, ok := t.before[path]
	if !ok {
		return false
	}
	b, err := readSmall(path)
	return err == nil && bytes.Equal(b, text)
}

// judge says why what is at path matters; "" when it does not.
func (it item) judge(path string, known []string) string {
	if it.why == "" {
		return conf.Plain(it.steer, known)
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		if list, err := os.ReadDir(path); err == nil && len(list) == 0 {
			return ""
		}
	case info.Mode().IsRegular() && (info.Size() == 0 || plainKin(path)):
		return ""
	}
	return it.why
}

// maxStamped bounds how much of a tree is looked at to tell whether it changed.
const maxStamped = 2000

// stampOf tells whether what is at path is still what it was; "" when nothing is.
func stampOf(path string) string {
	h := sha256.New()
	n := 0
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it shows in its folder's time
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if n++; n > maxStamped {
			return fs.SkipAll
		}
		at, ino := changed.At(info)
		fmt.Fprintf(h, "%s\x00%v %d %d %d\n", p, info.Mode(), info.Size(), at.UnixNano(), ino)
		return nil
	})
	if n == 0 {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// newest is when what is at path changed last, which nobody can set.
func newest(path string) time.Time {
	_, last := span(path)
	return last
}

// oldest is when the first thing at path that still is there was made or
// changed.
func oldest(path string) time.Time {
	first, _ := span(path)
	return first
}

func span(path string) (first, last time.Time) {
	n := 0
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > maxStamped {
			return nil
		}
		if info, err := d.Info(); err == nil {
			at, _ := changed.At(info)
			if first.IsZero() || at.Before(first) {
				first = at
			}
			if at.After(last) {
				last = at
			}
		}
		return nil
	})
	return first, last
}
