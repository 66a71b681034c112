package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/paths"
)

// maxStirred bounds how many folders the system watches for names that come and go.
const maxStirred = 50_000

// arm has the system watch the git folders of a look as well; t.mu is held. Those that
// are surveyed it watches already.
func (t *auditor) arm(seen sight) {
	gits := slices.Clone(seen.gits)
	t.about.Store(&gits)
	if t.names == nil {
		return
	}
	for _, g := range gits {
		t.names.Add(g, filepath.Join(g, "hooks"), filepath.Join(g, "info"))
	}
}

// release lets go of the folders when no command runs; close follows.
func (t *auditor) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names != nil && len(t.runs) == 0 {
		t.survey.names = nil
		t.names.Release()
	}
}

func (t *auditor) disarm() {
	t.mu.Lock()
	names := t.names
	t.names, t.survey.names = nil, nil
	t.mu.Unlock()
	if names != nil {
		names.Close()
	}
}

// matters reports whether a name that came may steer other programs. Git
// itself makes names in its folder all the time; those that it renames to
// their place, or that say nothing, do not count.
func (t *auditor) matters(path string) bool {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	parent := filepath.Base(dir)
	if mounts := t.mounts.Load(); mounts != nil && (*mounts)[filepath.Clean(path)] {
		return true
	}
	if name == ".git" || kin[name] != nil || policy.NameProtects(parent, name, true) != "" || policy.StartsAtHome(t.base.home, path) {
		return true
	}
	if gits := t.about.Load(); gits != nil && slices.ContainsFunc(*gits, func(g string) bool { return paths.Within(g, dir) }) {
		switch name {
		case "index", "HEAD", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG":
			return false
		}
		return !strings.HasSuffix(name, ".lock")
	}
	return false
}
