package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/paths"
)

// maxDenied bounds the paths that permission rules deny and commands are kept
// from one by one: each costs a mount.
const maxDenied = 1000

// far looks for denied paths outside the folders that are surveyed anyway.
type far struct {
	mu     sync.Mutex // guards survey
	survey *survey
}

func newFar(d policy.Denials, roots []string, home string) *far {
	_, folders := d.Starts()
	folders = slices.DeleteFunc(folders, func(f string) bool {
		return f == filepath.Dir(f) || paths.WithinAny(roots, f) || slices.ContainsFunc(roots, func(r string) bool { return paths.Within(f, r) })
	})
	if len(folders) == 0 {
		return nil
	}
	v := newSurvey(outermost(folders), nil, home)
	v.denied = d
	return &far{survey: v}
}

func (f *far) look() []string {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.survey.look().hide
}

// denying is the policy with what permission rules deny now: s is what a survey
// saw of it. A path that holds a writable folder is left out; nothing could run
// there.
func (p Policy) denying(s sight) Policy {
	found := slices.Concat(s.hide, p.far.look())
	spelled, _ := p.denials.Starts()
	for _, at := range spelled {
		if exists(at) {
			found = append(found, at)
		}
	}
	for i, at := range found {
		found[i] = real(at)
	}
	holds := func(at string) bool {
		return slices.ContainsFunc(p.Writable, func(w string) bool { return paths.Within(at, w) })
	}
	p.Denied = outermost(slices.DeleteFunc(found, holds))
	p.Fixed = outermost(s.fix)
	p.Readable = slices.DeleteFunc(slices.Clone(p.Readable), func(r string) bool { return paths.WithinAny(p.Denied, r) })
	if len(p.Denied) > 0 {
		p.Hidden = outermost(slices.Concat(p.Hidden, p.Denied))
	}
	return p
}

// bounded refuses a policy that is more than can be kept.
func (p Policy) bounded() error {
	if n := len(p.Denied) + len(p.Fixed); n > maxDenied {
		return tooManyDenied(n)
	}
	return nil
}

// tooManyDenied is how many paths rules deny one by one.
type tooManyDenied int

func (n tooManyDenied) Error() string {
	return fmt.Sprintf("permission rules deny %d paths here one by one, more than a command can be kept from", int(n))
}

// Hint is what to do.
func (tooManyDenied) Hint() string { return "deny the folders that hold them: Read(secrets/**)" }

// judge notes what is denied of an entry of a folder, and reports whether it is
// hidden.
func (f *folder) judge(d policy.Denials, path string, isDir bool) (hidden bool) {
	read, edit := d.Names(path, isDir)
	if read {
		f.hide = append(f.hide, path)
	}
	if edit {
		f.fix = append(f.fix, path)
	}
	return read
}
