package sandbox

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Covers are what stands on disk in place of protected paths that do not
// exist, because a mount needs something to be mounted on. They are there
// only while a command runs. Each command has a claim: a file that lists the
// covers it needs, written before they are made, locked, and kept open by the
// sandbox itself, so that the lock lasts exactly as long as the command, even
// when we are killed. A cover that no locked claim names is removed: a moment
// after the end of the last command (so that the next one finds them made),
// at the end of the session, or, after a crash, at the next start.
//
// Only what a claim names and what still looks like a cover is ever removed:
// a folder that somebody put something in is theirs.
type covers struct {
	dir   string
	mu    sync.Mutex // orders making and removing in this process; see order
	timer *time.Timer
	mine  []string // claims of this session
}

// linger is how long covers stay after a command.
const linger = 2 * time.Second

// newCovers uses dir, made when it is missing, and removes what a crash left.
func newCovers(dir string) (*covers, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &covers{dir: dir}
	c.sweep()
	return c, nil
}

// acquire makes the covers among the steps that build returns, and a claim on
// them that lasts until all copies of the file are closed. sweep removes what
// is no longer claimed.
func (c *covers) acquire(build func() []step) ([]step, *os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	order, err := c.order()
	if err != nil {
		return nil, nil, err
	}
	defer order.Close()
	claims, err := c.claims()
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, cl := range claims {
		for _, n := range cl.names {
			known[n] = true
		}
	}
	steps := build()
	var lines strings.Builder
	for i, s := range steps {
		if s.do == keep && known[s.path] {
			// A cover that is there already, of this or another command.
			if info, ok := isCover(s.path); ok {
				lines.WriteString(s.path + "\x00")
				if info.IsDir() {
					steps[i].do = coverDir
				}
			}
			continue
		}
		if s.do.isCover() {
			lines.WriteString(s.path + "\x00")
		}
	}
	f, err := os.OpenFile(filepath.Join(c.dir, rand.Text()+".claim"), os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := claim(f, lines.String(), steps); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	c.mine = append(slices.DeleteFunc(c.mine, func(p string) bool { return !exists(p) }), f.Name())
	return steps, f, nil
}

func claim(f *os.File, paths string, steps []step) error {
	if err := lockFile(f, true); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if _, err := f.WriteString(paths); err != nil {
		return err
	}
	for _, s := range steps {
		if !s.do.isCover() {
			continue
		}
		if err := makeCover(s); err != nil {
			return fmt.Errorf("cover %s: %w", s.path, err)
		}
	}
	return nil
}

// order is the lock between processes under which covers are made and removed.
func (c *covers) order() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(c.dir, "order"), os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f, true); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return f, nil
}

// later sweeps in a moment.
func (c *covers) later() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		c.timer = time.AfterFunc(linger, c.sweep)
		return
	}
	c.timer.Reset(linger)
}

// close sweeps for the last time: until nothing of this session is left, as
// a sandbox holds its claim for a moment after its command; at most a second.
func (c *covers) close() {
	c.mu.Lock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	for deadline := time.Now().Add(time.Second); ; time.Sleep(2 * time.Millisecond) {
		if c.sweep(); c.done() || time.Now().After(deadline) {
			return
		}
	}
}

func (c *covers) done() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mine = slices.DeleteFunc(c.mine, func(p string) bool { return !exists(p) })
	return len(c.mine) == 0
}

// sweep removes the covers of claims that nobody holds, but for those another
// claim names. What goes wrong is left to the next sweep.
func (c *covers) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	order, err := c.order()
	if err != nil {
		return
	}
	defer order.Close()
	claims, err := c.claims()
	if err != nil {
		return
	}
	used := map[string]bool{}
	for _, cl := range claims {
		for _, n := range cl.names {
			used[n] = used[n] || cl.held
		}
	}
	for _, cl := range claims {
		if cl.held {
			continue
		}
		left := false
		for _, n := range cl.names {
			if !used[n] && !removeCover(n) {
				left = true
			}
		}
		if !left {
			_ = os.Remove(cl.path)
		}
	}
}

// A claimed is one claim as it is on disk.
type claimed struct {
	path  string
	names []string
	held  bool // by a command
}

// claims reads all of them; order must be held.
func (c *covers) claims() ([]claimed, error) {
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, err
	}
	var out []claimed
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".claim") {
			continue
		}
		cl := claimed{path: filepath.Join(c.dir, e.Name())}
		if cl.names, cl.held, err = readClaim(cl.path); err == nil {
			out = append(out, cl)
		}
	}
	return out, nil
}

func readClaim(path string) (names []string, held bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	held = lockFile(f, false) != nil
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, held, err
	}
	for _, n := range strings.Split(string(b), "\x00") {
		if filepath.IsAbs(n) {
			names = append(names, n)
		}
	}
	return names, held, nil
}

func (a action) isCover() bool { return a == coverDir || a == coverFile || a == coverText }

// commonSelf is what .git/commondir says when it changes nothing.
const commonSelf = ".\n"

// isCover reports whether what stands at path, which a claim names, is still
// a cover.
func isCover(path string) (os.FileInfo, bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, false
	}
	switch m := info.Mode(); {
	case m.IsDir():
		list, err := os.ReadDir(path)
		return info, err == nil && len(list) == 0
	case m&os.ModeSocket != 0:
		return info, m.Perm() == 0
	case m.IsRegular() && info.Size() == int64(len(commonSelf)) && m.Perm() == 0o444:
		b, err := readSmall(path)
		return info, err == nil && string(b) == commonSelf && filepath.Base(path) == "commondir"
	}
	return info, false
}

// removeCover removes what is still a cover; false means that it must be
// tried again. Anything else became something of its own and stays.
func removeCover(path string) bool {
	if _, ok := isCover(path); !ok {
		return true
	}
	err := os.Remove(path)
	return err == nil || os.IsNotExist(err)
}
