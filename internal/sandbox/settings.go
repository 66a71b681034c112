package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A setting is a path in which a program keeps its settings, open to one command.
type setting struct {
	Path string   `json:"path"`
	Sets []string `json:"sets,omitempty"` // that the command itself names
	// Before is what was in each file there that steers git, when the command began.
	Before map[string][]byte `json:"before,omitempty"`
}

// setting is the one of the settings open to a command that a path is in; nil if none is.
func (r *started) setting(path string) *setting {
	for i := range r.settings {
		if paths.Within(r.settings[i].Path, path) {
			return &r.settings[i]
		}
	}
	return nil
}

// opened notes what the settings say that a command may write, to put it back if need
// be; t.mu is held.
func (t *auditor) opened(s policy.Setting, items map[string]item) setting {
	out := setting{Path: s.Path, Sets: s.Sets, Before: map[string][]byte{}}
	for path := range items {
		if paths.Within(s.Path, path) {
			if b := t.text(path); b != nil {
				out.Before[path] = b
			}
		}
	}
	maps.Copy(t.before, out.Before)
	return out
}

// why says why what is at path matters, and no command may have written it; "" when it
// does not.
func (t *auditor) why(path string, it item, known []string) string {
	strayed := ""
	for r := range t.runs {
		s := r.setting(path)
		if s == nil || it.why != "" || it.steer.Kind != conf.Config {
			continue
		}
		before, ok := s.Before[path]
		now, err := readSmall(path)
		if !ok || err != nil {
			continue // it is judged as what is new
		}
		if strayed = clip.Line(strings.Join(conf.Strayed(before, now, s.Sets), "; "), maxWhy); strayed == "" {
			return ""
		}
	}
	if strayed != "" {
		return strayed
	}
	why := it.judge(path, known)
	if why != "" && it.why == "" && !t.more(it, known) {
		return "" // no more than it had to run already
	}
	return why
}

// maxWhy bounds how much of what settings say is told, in characters.
const maxWhy = 1000

// strays ends the commands that have settings open in which something stands that they may
// not write: whatever wrote it would write it again. It reports whether there are any; t.mu
// is held.
func (t *auditor) strays(path, why string) (any bool) {
	for r := range t.runs {
		if r.setting(path) != nil {
			any = true
			r.end(fmt.Sprintf("something that it started wrote to %s what nobody allowed: %s", path, why))
		}
	}
	return any
}

// restore makes files of settings again that a command with them open removed, or moved
// away; t.mu is held.
func (t *auditor) restore() {
	for r := range t.runs {
		for _, s := range r.settings {
			text, had := s.Before[s.Path]
			if _, err := os.Lstat(s.Path); !had || !errors.Is(err, fs.ErrNotExist) || !isDir(filepath.Dir(s.Path)) {
				continue
			}
			f := Found{Path: s.Path, Err: "a command removed it, and it is there again as it was before"}
			if err := writeNew(s.Path, text); err != nil {
				f.Err = "a command removed it, and it could not be made again: " + err.Error()
			}
			t.untold = append(t.untold, f)
			r.end("it removed " + s.Path)
		}
	}
}

// share gives a command that is no longer kept from a file of settings, because another one
// has replaced it that may, the same bounds: what it leaves there is judged. It reports
// whether that is why; t.mu is held.
func (t *auditor) share(r *started, path string) bool {
	if r.setting(path) != nil {
		return true
	}
	for o := range t.runs {
		if s := o.setting(path); s != nil && s.Path == path {
			before := maps.Clone(s.Before)
			if now, err := readSmall(path); err == nil && len(conf.Strayed(s.Before[path], now, s.Sets)) == 0 {
				before[path], t.before[path] = now, now
			}
			r.settings = append(r.settings, setting{Path: path, Before: before})
			_ = t.note() // else the next start takes it for one that could not write there
			return true
		}
	}
	return false
}

// maxCopied bounds the files of a folder that are compared with another one.
const maxCopied = 200

// copied reports whether what is at path is what another folder of the session had at the
// same place before its commands began: a worktree, or a clone, of a repository here.
func (t *auditor) copied(path string, seen sight) bool {
	for _, dot := range seen.dots {
		top := filepath.Dir(dot)
		for at := filepath.Dir(path); paths.WithinAny(t.survey.roots, at); at = filepath.Dir(at) {
			rel, err := filepath.Rel(at, path)
			from := filepath.Join(top, rel)
			if err == nil && from != path && t.hadAll(from) && sameTree(path, from) {
				return true
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return false
}

// hadAll reports whether something was at a path when each command began; t.mu is held.
func (t *auditor) hadAll(path string) bool {
	for r := range t.runs {
		if !r.had[path] {
			return false
		}
	}
	return true
}

// sameTree reports whether a file, or a folder with all that is in it, says the same as
// another one.
func sameTree(path, other string) bool {
	n := 0
	return filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > maxCopied {
			return fs.ErrInvalid
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(path, p)
		if err != nil {
			return err
		}
		a, err := readSmall(p)
		if err != nil {
			return err
		}
		b, err := readSmall(filepath.Join(other, rel))
		if err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			return fs.ErrInvalid
		}
		return nil
	}) == nil
}
