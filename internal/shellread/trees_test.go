package shellread_test

import (
	"fmt"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestTreesAccepted: a copy that acceptEdits would let pass is judged by every
// path it makes.
func TestTreesAccepted(t *testing.T) {
	f := newFixture()
	for _, d := range []string{"vendor/lib/.git/hooks", "vendor/lib/sub", "clean/sub", "linked", "many", "shallow"} {
		f.mkdir("/home/u/project/" + d)
	}
	for _, n := range []string{"vendor/lib/.git/config", "vendor/lib/sub/a.go", "clean/a.go", "clean/sub/b.go", "kept/sub/server.key", "kept/a", "shallow/.envrc", "shallow/x"} {
		f.files["/home/u/project/"+n] = true
	}
	f.links["/home/u/project/linked/out"] = "/etc"
	for i := range 5100 {
		f.files[fmt.Sprintf("/home/u/project/many/f%d", i)] = true
	}
	for _, c := range []struct{ command, want string }{
		{"cp -r vendor/lib/. .", "ask protected-path"},
		{"cp -r vendor/lib/ .", "ask protected-path"},
		{"cp -a vendor/lib/.git .", "ask protected-path"},
		{"cp -r vendor/lib/.g* .", "ask protected-path"},
		{"cp -r vendor/lib x", "ask protected-path"},
		{"cp -rt . vendor/lib/.git", "ask protected-path"},
		{"cp shallow/.e* .", "ask protected-path"},
		{"cd vendor && cp -r lib/. ..", "ask protected-path"},
		{"mv vendor/lib/.git .", "ask protected-path"},
		{"mv vendor/lib x", "ask protected-path"},
		{"mv vendor/lib/.g* .", "ask protected-path"},
		{"cp -r clean x", "allow mode"},
		{"cp -r clean/. .", "allow mode"},
		{"cp -r clean/* src/", "allow mode"},
		{"cp clean/a.go clean/sub/b.go src/", "allow mode"},
		{"mv clean x", "allow mode"}, {"mv kept x; grep -r . x", "ask secret"}, {"mv kept/sub x && head x/*", "ask secret"}, {"mv clean x; grep -r . x", "allow mode"},
		{"mkdir y && cp -r clean y", "allow mode"},
		{"cp -r clean links/out/", "ask outside"},
		{"mkdir clean/z && cp -r clean x", "ask not-read-only"},
		{"cp -r nothing x", "ask not-read-only"},
		{"cp -r linked x", "ask not-read-only"},
		{"mv linked x", "ask not-read-only"},
		{"mv links/out src/ && echo x > src/out/a", "ask dangerous-removal"},
		{"cp -P links/passwd x && echo y > x", "ask protected-path"},
		{"cp -s main.go x", "ask not-read-only"},
		{"cp -r many x", "ask not-read-only"},
		{"cp -r vendor/* $X", "ask not-read-only"},
	} {
		v := decide(t, f, c.command, policy.AcceptEdits)
		if got := v.Effect.String() + " " + string(v.Check); got != c.want {
			t.Errorf("%s: got %s (%s), want %s", c.command, got, v.Reason, c.want)
		}
	}
	if v := decide(t, f, "cp -r many x", policy.AcceptEdits); v.Reason != "no rule allows `cp`; it makes more than 5000 files" {
		t.Errorf("too many: %s", v.Reason)
	}
	for _, command := range []string{"cp -r vendor/lib/. .", "rsync -a vendor/lib/ .", "mv vendor/lib/.git ."} {
		if v := decide(t, f, command, policy.Bypass); v.Check != "protected-path" {
			t.Errorf("%s in bypass: %s %s (%s)", command, v.Effect, v.Check, v.Reason)
		}
	}
}

// TestIgnoredIsNotSearched: what rg leaves out for git's sake holds no secret that it
// reads, and what only prints names, or nothing of files, reads none.
func TestIgnoredIsNotSearched(t *testing.T) {
	f := newFixture()
	for _, d := range []string{"ignored/deep", "src/ignored"} {
		f.mkdir("/home/u/project/" + d)
	}
	for _, n := range []string{"ignored/deep/k.key", "src/ignored/k.key", "src/lib/node_modules/x/test/k.pem", "src/lib/site-packages/certifi/cacert.pem", "src/lib/node_modules/x/.npmrc"} {
		f.files["/home/u/project/"+n] = true
	}
	for _, c := range []struct{ want, command string }{
		{"allow", "rg foo"},
		{"allow", "rg -l foo src"},
		{"allow", "rg -t go foo"},
		{"allow", "rg -g '!x' foo"},
		{"allow", "rg --files"},
		{"allow", "rg --files -u"},
		{"allow", "rg --type-list"},
		{"allow", "rg --version"},
		{"allow", "grep -rn foo src/lib"},
		{"ask", "rg -u foo"},
		{"ask", "rg --no-ignore foo"},
		{"ask", "rg --no-ignore-vcs foo"},
		{"ask", "rg -g '*.key' foo"},
		{"ask", "rg -g \"$x\" foo"},
		{"ask", "rg foo ignored"},
		{"ask", "rg foo ignored/deep/k.key"},
		{"allow", "rg --type-list foo"}, // it prints the list
		{"ask", "grep -rn foo src"},
		{"ask", "rg --hidden foo"}, // .env
	} {
		if v := decide(t, f, c.command, policy.Default); v.Effect.String() != c.want {
			t.Errorf("%s: %s (%s), want %s", c.command, v.Effect, v.Reason, c.want)
		}
	}
}
