package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/adze-agent/adze/internal/policy"
)

// Bounds of the look at what lies below a writable folder.
const (
	maxFolders = 2000 // read, nearest first
	maxRepos   = 64
	// maxCovered is how many repositories below get covers for what does not
	// exist in them: each is some twenty mounts for every command.
	maxCovered = 2
)

// passed are folders that programs fill and nobody starts anything in.
var passed = []string{"node_modules", "bower_components", "__pycache__", ".venv", "venv", ".tox", "target", ".gradle", ".terraform"}

// below finds what is to be protected below root, beside what is directly in
// it: the git folders of repositories, and paths with a protected name. It is
// looked for once, when the sandbox starts: what comes into being later, a
// command made, or somebody outside.
func below(root string) (git, protected []string) {
	names := policy.ProtectedNames(false)
	covered := 0
	queue := []string{root}
	for n := 0; n < len(queue) && n < maxFolders; n++ {
		dir := queue[n]
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		var here []string
		repo := false
		for _, e := range list {
			switch name := e.Name(); {
			case name == ".git":
				repo = true
			case slices.Contains(names, name):
				here = append(here, filepath.Join(dir, name))
			case e.IsDir() && !slices.Contains(passed, name):
				queue = append(queue, filepath.Join(dir, name))
			}
		}
		if dir == root {
			continue
		}
		protected = append(protected, here...)
		if !repo || len(git) >= maxRepos {
			continue
		}
		git = append(git, filepath.Join(dir, ".git"))
		if covered++; covered > maxCovered {
			continue
		}
		for _, name := range names {
			if name != ".git" {
				protected = append(protected, filepath.Join(dir, name))
			}
		}
	}
	return git, protected
}
