package sandbox

import (
	"path/filepath"
	"testing"
)

func TestSteering(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) string { return filepath.Join(root, "w", p) }
	put(t, at(".git/HEAD"), "ref: refs/heads/main\n")
	put(t, at(".git/objects/x"), "")
	put(t, filepath.Join(root, "home/.gitconfig"), "[core]\n\thooksPath = .person\n[alias]\n\tst = status\n\tx = !sh ./alias.sh\n")
	s := NewSteering(at(""), nil, filepath.Join(root, "home"))
	there := func(want map[string]bool) {
		t.Helper()
		got := map[string]bool{}
		for _, p := range s.Look() {
			if p.Why == "" {
				t.Errorf("%s for no reason", p.Path)
			}
			got[p.Path] = true
		}
		for p, w := range want {
			if got[at(p)] != w {
				t.Errorf("%s: %v, in %v", p, !w, got)
			}
		}
	}
	there(map[string]bool{".person": true, ".githooks": false, "alias.sh": false, "status": false, "data/config": false})
	put(t, at("alias.sh"), "")
	put(t, at(".git/config"), `[core]
	hooksPath = .githooks
	attributesFile = attrs
[include]
	path = ../git.conf
[filter "x"]
	clean = "sh 'tools/clean.sh' %f"
[core]
	fsmonitor = ./watch
`)
	put(t, at("git.conf"), "[diff \"y\"]\n\ttextconv = ./text.sh\n[core]\n\thooksPath = /elsewhere\n")
	put(t, at("tools/clean.sh"), "")
	put(t, at("data/HEAD"), "ref: refs/heads/main\n")
	put(t, at("data/refs/x"), "")
	there(map[string]bool{".githooks": true, "attrs": true, "git.conf": true, "tools/clean.sh": true, "watch": true, "text.sh": true, "alias.sh": true, "data/config": true, "data/hooks": true, "status": false})
}
