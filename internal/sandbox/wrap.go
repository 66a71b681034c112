package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Wrap changes c so that it runs inside when a Table starts it, as its verdict needs
// it: protected paths are opened for it, secrets hidden from it. When Wrap returns an error
// the command must not run; else c.After must be called when it is over, or was not started.
func (s *Sandbox) Wrap(c *proc.Command, needs policy.Needs) (policy.Kept, error) {
	return s.wrap(c, false, needs)
}

// WrapItself is Wrap for a command that is started by its Path and Args, as they
// are then, and not by a Table.
func (s *Sandbox) WrapItself(c *proc.Command) error {
	_, err := s.wrap(c, true, policy.Needs{})
	return err
}

func (s *Sandbox) wrap(c *proc.Command, itself bool, needs policy.Needs) (policy.Kept, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return policy.Kept{}, errors.New("the sandbox is closed")
	}
	if s.mech == nil {
		return policy.Kept{}, nil
	}
	if !filepath.IsAbs(c.Path) {
		return policy.Kept{}, fmt.Errorf("confine %s: not an absolute path", c.Path)
	}
	if slices.ContainsFunc(needs.Folders, func(f policy.Folder) bool { return f.Path == "/" }) {
		return policy.Kept{}, fmt.Errorf("confine %s: it would write all of /", filepath.Base(c.Path))
	}
	if a := s.config.Apart; a != nil && a.Alone {
		for _, own := range a.Own() { // git removes folders of branches that it packs
			_ = os.MkdirAll(own, 0o755) // git says what it cannot write
		}
	}
	needs, shut := s.policy.openable(s.policy.undenied(needs))
	r, seen, err := s.auditor.begin(needs)
	if err != nil {
		return policy.Kept{}, fmt.Errorf("confine %s: %w", filepath.Base(c.Path), err)
	}
	p, in := s.policy.opening(r.folders).with(seen).without(r.gone), s.auditor.secrets(seen, needs)
	in.Closed = shut
	if len(in.Hidden) > 0 {
		p.Hidden = outermost(slices.Concat(p.Hidden, in.Hidden))
	}
	p.open = slices.Clone(needs.Writable)
	for _, set := range needs.Settings {
		p.open = append(p.open, set.Path)
	}
	p.once = len(p.open)+len(needs.Folders) > 0
	err = p.bounded()
	if len(in.Hidden) > maxDenied {
		err = tooManySecrets(len(in.Hidden))
	}
	if err == nil {
		c.Env = p.environ(c.Env, s.proxyAddress())
		err = s.mech.wrap(c, p, held{itself, s.auditor.lock(), func(steps []step, links []string) { s.auditor.keep(r, steps, links) }})
	}
	if err != nil {
		s.auditor.end(r)
		return policy.Kept{}, fmt.Errorf("confine %s: %w", filepath.Base(c.Path), err)
	}
	c.Halt, c.Estate = r.halt, s.auditor.journal.f.Name()
	after := c.After
	c.After = func() {
		s.auditor.end(r)
		if after != nil {
			after()
		}
	}
	s.watch(c)
	return in, nil
}

// Writes reports whether every command may write at a path, as far as nothing there is
// protected.
func (s *Sandbox) Writes(path string) bool { return paths.WithinAny(s.policy.Writable, path) }

// Denies reports whether the settings of the sandbox deny to write a path, which no rule
// that allows something lifts.
func (s *Sandbox) Denies(path string) bool { return paths.WithinAny(s.policy.denied, path) }

// undenied is what a call needs without what the settings of the sandbox deny to write.
func (p Policy) undenied(needs policy.Needs) policy.Needs {
	needs.Writable = slices.DeleteFunc(slices.Clone(needs.Writable), func(at string) bool { return paths.WithinAny(p.denied, at) })
	needs.Settings = slices.DeleteFunc(slices.Clone(needs.Settings), func(s policy.Setting) bool { return paths.WithinAny(p.denied, s.Path) })
	return needs
}

// openable is what a call needs with those of its folders that can be opened, as they are
// now: of a call that is read, the nearest folder in place of what is not there. The others
// are closed, each with the reason and what to do.
func (p Policy) openable(needs policy.Needs) (open policy.Needs, closed []string) {
	folders := needs.Folders
	needs.Folders = nil
	for _, f := range folders {
		at := f.Path
		for needs.Pinned && !exists(at) && at != filepath.Dir(at) {
			at = filepath.Dir(at)
		}
		why := ""
		switch {
		case paths.WithinAny(p.Writable, at) && !f.Gone:
			continue
		case f.Shut:
			why = "no rule and no person allows what else this call runs; change it in a call of its own"
		case !exists(at):
			why = "it is not there, and not all that this call does is known before it runs; make it first (mkdir, touch), in a call of its own"
		case !needs.Pinned && !f.Gone && paths.WithinAny(needs.Writable, at):
			why = "it is protected, and not all that this call does is known before it runs; change it in a call that does nothing else"
		case at == "/", paths.WithinAny(kernelFolders, at), real(at) != at: // a link came there meanwhile
			why = "this is never opened"
		case paths.WithinAny(p.Hidden, at), paths.WithinAny(p.denied, at):
			why = "it is hidden, or the settings of the sandbox deny to write it"
		default:
			f.Path = at
			needs.Folders = append(needs.Folders, f)
			continue
		}
		closed = append(closed, f.Path+": "+why)
	}
	return needs, closed
}

// kernelFolders are those that the sandbox has its own of, or that nobody makes files in.
var kernelFolders = []string{"/dev", "/proc", "/sys"}

// watch has what the proxy was told about hosts last as long as a command.
func (s *Sandbox) watch(c *proc.Command) {
	if s.proxy == nil {
		return
	}
	if s.running.Add(1) == 1 {
		s.proxy.Refused() // by commands that are over
	}
	after := c.After
	c.After = func() {
		s.running.Add(-1)
		s.proxy.Forget()
		if after != nil {
			after()
		}
	}
}
