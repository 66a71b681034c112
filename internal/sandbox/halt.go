package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/paths"
)

// Bounds of what is taken away while a command runs, before it is ended: a
// command that puts the same thing back does not do so by accident.
const (
	maxTaken    = 2  // of one path
	maxTakenAll = 50 // of all paths
)

// again counts that what is at path was taken away while commands run, and ends
// the last begun of those that can have put it back too often; t.mu is held.
func (t *auditor) again(path string) {
	var last *started
	over := false
	for r := range t.doubted() {
		if r.halted {
			return // it may be what did it, until it is gone
		}
		if r.had[path] || !t.reaches(r, path) {
			continue
		}
		r.taken[path]++
		r.takes++
		over = over || r.taken[path] > maxTaken || r.takes > maxTakenAll
		if last == nil || r.since.After(last.since) {
			last = r
		}
	}
	if over && last != nil {
		for r := range t.runs { // if it was not that one, the next does it again
			clear(r.taken)
			r.takes = 0
		}
		last.end(fmt.Sprintf("it put back %s, which is protected, again and again", path))
	}
}

// end has a command ended.
func (r *started) end(why string) {
	if r.halted || r.halt == nil {
		return
	}
	r.halted = true
	r.halt <- why
}

// unlock removes the locks that git held when it was ended, beside the settings that it had
// open and in its refs. Nobody else would, and every git of the person's would fail for them.
func (r *started) unlock() {
	done := map[string]bool{}
	for _, s := range r.settings {
		at := filepath.Dir(s.Path)
		if done[at] || real(at) != at { // a link came there meanwhile
			continue
		}
		done[at] = true
		dir, err := os.OpenRoot(at)
		if err != nil {
			continue
		}
		n := 0
		_ = fs.WalkDir(dir.FS(), ".", func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case n > maxLocks:
				return fs.SkipAll
			case d.IsDir() && p != "." && p != "refs" && !strings.HasPrefix(p, "refs/"):
				return fs.SkipDir
			}
			n++
			if d.Type().IsRegular() && strings.HasSuffix(p, ".lock") && !newest(filepath.Join(at, p)).Before(r.since) {
				_ = dir.Remove(filepath.FromSlash(p)) // what stays, git names
			}
			return nil
		})
		dir.Close()
	}
}

// maxLocks bounds how many names are looked at for locks.
const maxLocks = 5000

// A mounted is a path over which something is mounted for one command, as it
// was when that began. When a program outside replaces what is there, the kernel
// lets the mount go, and nothing protects or hides the new one.
type mounted struct {
	path string
	is   identity
	text []byte // what it said; nil for all but small files that are kept as they are
}

// keep notes what is mounted for a command.
func (t *auditor) keep(r *started, steps []step, links []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range steps {
		if s.do != write {
			m := mounted{path: s.path, is: identify(s.path)}
			if s.do == keep {
				m.text = t.text(s.path)
			}
			r.kept = append(r.kept, m)
		}
	}
	for _, l := range links {
		r.kept = append(r.kept, mounted{path: l, is: identify(l)})
	}
	all := map[string]bool{}
	for r := range t.runs {
		for _, m := range r.kept {
			all[m.path] = true
		}
	}
	t.mounts.Store(&all)
	for p := range all {
		if t.names != nil {
			t.names.Add(filepath.Dir(p))
		}
	}
}

// lost ends commands for which a mount is gone. What is at its path is judged
// from then on as if they had made it; t.mu is held.
func (t *auditor) lost() {
	for r := range t.runs {
		if r.halted && len(r.kept) == 0 {
			continue
		}
		for i, m := range r.kept {
			if identify(m.path) == m.is {
				continue
			}
			if t.share(r, m.path) {
				r.kept[i].is = identify(m.path)
				continue
			}
			r.end(fmt.Sprintf("another program replaced %s, which the sandbox kept from it, and no longer can", m.path))
			for h := range r.had {
				if paths.Within(m.path, h) {
					delete(r.had, h)
				}
			}
			if m.text != nil {
				t.before[m.path] = m.text
			}
			r.kept[i].is = identify(m.path)
		}
	}
}

// A said is what a file said when it was looked at.
type said struct {
	mark mark
	text []byte
}

// text is what a small file says, read once for as long as it does not change.
func (t *auditor) text(path string) []byte {
	m := markOf(path, time.Now())
	if known, ok := t.says[path]; ok && known.mark == m && m.settled {
		return known.text
	}
	b, err := readSmall(path)
	if err != nil {
		b = nil // a folder, mostly
	}
	t.says[path] = said{m, b}
	return b
}

// putBack writes what a file that was replaced said before, when what is there
// now was taken away. Where a command has settings open, what it has made there
// meanwhile goes; else something that is there already stays, and is looked at again.
func (t *auditor) putBack(f *Found) {
	text, ok := t.before[f.Path]
	if !ok || f.At == "" {
		return
	}
	put := writeNew
	for r := range t.runs {
		if r.setting(f.Path) != nil {
			put = replaced
		}
	}
	if put(f.Path, text) == nil {
		f.before = text
	}
}

// replaced writes a file in the place of whatever is there.
func replaced(path string, text []byte) error {
	beside := path + ".adze-" + shortID()
	if err := writeNew(beside, text); err != nil {
		return err
	}
	return os.Rename(beside, path)
}

// writeNew makes a file where nothing is.
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
