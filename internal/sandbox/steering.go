package sandbox

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/policy"
)

// A Steering knows which paths the settings and the layout of the repositories
// in some folders make git run programs by, beside those that are known by their
// names: the same that the sandbox protects, for who decides without one.
type Steering struct {
	mu     sync.Mutex // guards the survey in it
	survey *survey
	policy Policy
}

// NewSteering looks at the folders of a session: dir, where it was started, and
// roots. All are absolute and resolved.
func NewSteering(dir string, roots []string, home string) *Steering {
	git, outside, _ := repository(dir)
	p := Policy{Writable: outermost(append(append([]string{dir}, roots...), outside...)), home: home, gits: git}
	p.surveys = outermost(append([]string{dir}, roots...))
	return &Steering{survey: p.survey(), policy: p}
}

// Look lists the paths as they are now, whether something is there or not. It
// costs a look at each folder.
func (s *Steering) Look() []policy.Steer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.policy.steers(s.survey.look())
}

// Steers is what a Steering lists, from what commands are kept from; ok is false where
// rules hide some of it from them.
func (s *Sandbox) Steers() (list []policy.Steer, ok bool) {
	t := s.auditor
	if t == nil || !t.base.denials.Empty() {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.policy.steers(t.survey.look()), true
}

func (p Policy) steers(seen sight) []policy.Steer {
	var out []policy.Steer
	for _, st := range p.configured(seen) {
		why := "git's settings name it, and it can make git run programs"
		if st.Kind == conf.Hook {
			why = "git's settings name it as a hook or program"
		}
		out = append(out, policy.Steer{Path: st.Path, Why: why})
	}
	for _, g := range seen.gits {
		if filepath.Base(g) == ".git" {
			continue // known by its name
		}
		out = append(out, completing(g)...)
		for _, name := range []string{"config", "config.worktree", "commondir", "hooks", filepath.Join("info", "attributes"), "worktrees", "modules"} {
			out = append(out, policy.Steer{Path: filepath.Join(g, name), Why: "git takes " + g + " for a repository, and follows what is in it"})
		}
	}
	for _, dir := range seen.half {
		out = append(out, completing(dir)...)
	}
	return out
}

// completing are the paths in a folder that would make git take it for a
// repository, when what it holds already would then steer git.
func completing(dir string) []policy.Steer {
	harmless := conf.Plain(conf.Steer{Path: filepath.Join(dir, "config"), Kind: conf.Config}, nil) == "" &&
		!exists(filepath.Join(dir, "commondir"))
	if list, err := os.ReadDir(filepath.Join(dir, "hooks")); harmless && (err != nil || len(list) == 0) {
		return nil
	}
	missing := []string{"HEAD"}
	if exists(filepath.Join(dir, "HEAD")) {
		missing = []string{"objects", "refs"}
	}
	var out []policy.Steer
	for _, name := range missing {
		if at := filepath.Join(dir, name); !exists(at) {
			out = append(out, policy.Steer{Path: at, Why: "with it git takes " + dir + " for a repository, and follows what is in it"})
		}
	}
	return out
}
