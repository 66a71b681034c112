package policy_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// What the words of a rule mean: how it is read, and what a person is told of
// it. The golden file has one line a rule.
func TestRulesAreRead(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{
		"", "  ", " Bash ", "(x)", "Bash(x", "Bash)x(", "Bash()", "Bash( )", "Ba sh", "mcp__a-b.c__*", "mcp__@a/b:c_1", "Überall", "Read(!x)", "Read([a)", "Read(a\x00)", "Read(~/[a)", `Edit(a\)`, "Edit(./!x)", "Edit(a//./b/)",
		"WebFetch", "WebFetch(domain:x.y)", "WebFetch(domain:http://x)", "WebFetch(domain:x y)", "WebFetch(domain:a@b)", "WebFetch(domain:x?y)", "WebFetch(x.y)", "mcp__s__t", "mcp__s__t(x)", "Nosuch", "TodoWrite", "TodoWrite(x)", "SlashCommand(/x)", "WebSearch(x)", "Skill(x)", "Agent(x)", "Task(x)", "LS(x)", "KillShell(x)",
		"Bash", "Bash(*)", "Bash(:*)", "PowerShell", "PowerShell(ls)", "Bash(a:*)", "Bash(a:* b)", "Bash(a :*)", "Bash(* x)", "Bash(*x)", "Bash(a && b)", "Bash(a || b)", "Bash(a ; b)", "Bash(a | b)", "Bash(a |& b)", "Bash(a & b)", "Bash(a > b)", "Bash(a >> b)", "Bash(a < b)", "Bash(a;b)",
		"Bash(FOO=1 x:*)", "Bash(_f0=1 x:*)", "Bash(0f=1 x:*)", "Bash(f-o=1 x:*)", "Bash(=1 x:*)", "Bash(f=1)", "Bash(x FOO=1)", "Bash(aZ9=)",
		"Bash(timeout:*)", "Bash(timeout 5 make)", "Bash(env make:*)", "Bash(xargs *)", "Bash(nice *)", "Bash(python:*)", "Bash(python3.11:*)", "Bash(python3 x.py)", "Bash(python3 -c)", "Bash(python3)", "Bash(timeout)", "Bash(python3 x.py:*)", "Bash(python3 -c:*)", "Bash(python3 -m:*)", "Bash(/usr/bin/python3:*)", "Bash(PERL.EXE:*)", "Bash(node -e *)", "Bash(bun run *)", "Bash(docker exec *)", "Bash(docker ps *)",
		"Bash(find:*)", "Bash(find . *)", "Bash(npm exec:*)", "Bash(npm run:*)", "Bash(gh api *)", "Bash(gh pr *)", "Bash(uv run *)", "Bash(make:*)", "Bash(make build)", "Bash(sudo *)", "Bash(git log * --oneline *)", "Bash(0.1:*)", "Bash(9:*)",
		`Read(a\b)`, `Read(C:\a)`, `Read(a\*)`, `Read(/a\b)`, `Edit(a\b)`, "Edit(//)", "Edit(//**)", "Edit(~)", "Edit(~/**)", "Edit(**)", "Read(//**)", "Read(~)", "Edit",
	} {
		said := map[string]string{}
		for _, e := range []policy.Effect{policy.Allow, policy.Deny} {
			r, err := policy.ParseRule(text, e, policy.User, "settings.json", "")
			if err != nil {
				said[e.String()] = err.Error()
				continue
			}
			said[e.String()] = fmt.Sprintf("%s %q", r.Tool, r.Spec)
			if lint := policy.Lint(r); lint != "" {
				said[e.String()] += ": " + lint
			}
			for _, tool := range []string{"Bash", "Edit", "Read", r.Tool} {
				if r.Wholly(tool) {
					said[e.String()] += "; all of " + tool
					break
				}
			}
		}
		fmt.Fprintf(&b, "%q\n\t%s\n", text, said["allow"])
		if said["deny"] != said["allow"] {
			fmt.Fprintf(&b, "\tdenied: %s\n", said["deny"])
		}
	}
	golden(t, "rules.txt", b.String())
}

// What paths mean by their names alone: which may hold secrets, and which
// steer other programs.
func TestPathsAreKnown(t *testing.T) {
	var b strings.Builder
	covers := policy.Covers(rules(t))
	for _, p := range []string{
		"/w/project/a.go", "/w/project/.env", "/w/project/.ENV", "/w/project/.envrc", "/w/project/.env.local", "/w/project/.env.example", "/w/project/.env.schema", "/w/project/.environment", "/w/project/.env/x",
		"/w/project/id_rsa", "/w/project/id_rsa.pub", "/w/project/server.pem", "/w/project/server.key", "/w/project/x.keystore", "/w/project/pem", "/w/project/credentials.json", "/w/project/shadow",
		"/home/u/.ssh", "/home/u/.ssh/config", "/home/u/.ssh/known_hosts", "/home/u/.ssh/id_ed25519.pub", "/home/u/.ssh/a", "/home/u/.aws/x/y", "/home/u/.kube/config", "/home/other/.docker/config.json", "/home/u/.docker/x.json", "/home/u/.config/gh/hosts.yml", "/home/u/.config/gh", "/home/u/.config/ghx", "/home/u/.bash_history", "/home/u/Library/Cookies/x",
		"/proc/1/environ", "/proc/self/mem", "/proc/environ", "/proc/1/status", "/w/proc/1/environ", "/proc/1/task/2/maps",
		"/w/project/.git", "/w/project/.GIT/config", "/w/project/.git. /x", "/w/project/.git./x", "/w/project/.gitx", `/w/project/a\.git\config`, "/w/project/.github/workflows/x.yml", "/w/project/.github/actions/x", "/w/project/.github/x", "/w/project/.github/hooks/x.json", "/w/project/.circleci/config.yml", "/w/project/Jenkinsfile", "/w/project/x/hooks/pre-commit", "/w/project/x/hooks/pre-commit.sample", "/w/project/x/hooks/y/pre-commit", "/w/project/pre-commit",
		"/w/project/.cargo/config.toml", "/w/project/.cargo/x.toml", "/.cargo/config.toml", "/w/project/cargo/config.toml", "/w/project/x.code-workspace", "/w/project/.code-workspace", "/w/project/.condarc", "/w/project/.envrc.local", "/w/project/.bashrc", "/w/project/.vimrc", "/w/project/.netrc", "/w/project/.ssh/x", "/w/project/.config/gh", "/w/project/.config/other", "/w/project/.vim/vimrc", "/w/project/config/gh",
		"/home/u/.bashrc", "/home/u/bin/x", "/home/u/bin", "/home/u/binary", "/home/u/.local/bin/x", "/home/u/.local/lib/x", "/home/u/.config/systemd/x", "/home/u/.CONFIG/Systemd/x", "/home/u/.hgrc", "/home/u/x/.hgrc", "/home/u", "/home/other/bin/x",
		"/etc/profile", "/etc/profile.d/x", "/etc/profiles", "/ETC/Profile", "/private/etc/profile", "/private/var/at/x", "/private/x", "/usr/bin/gcc", "/usr/bin", "/usr/bins", "/bin/sh", "/sys/x", "/etc/hosts", "/etc/shadow", "/boot/x", "/",
	} {
		var facts []string
		if covers(policy.Default, p, p) == policy.Secret {
			facts = append(facts, "secret")
		}
		if v := policy.Decide(rules(t), policy.Bypass, call("Edit", policy.Write{Path: p})); v.Check == policy.CheckProtected {
			facts = append(facts, v.Reason)
		}
		parent, name := path.Base(path.Dir(p)), path.Base(p)
		for home, where := range map[bool]string{false: "by its name", true: "by its name at home"} {
			if why := policy.NameProtects(parent, name, home); why != "" && (home || policy.NameProtects(parent, name, true) != "") {
				if home && policy.NameProtects(parent, name, false) != "" {
					continue
				}
				facts = append(facts, where+": "+why)
			}
		}
		if why := policy.RunAtLogin(home, p); why != "" {
			facts = append(facts, "at login")
		}
		fmt.Fprintf(&b, "%s\n", strings.Join(append([]string{p}, facts...), "\n\t"))
	}
	golden(t, "paths.txt", b.String())
}

// What rules deny of files: by a path that is spelled out, by a pattern, and of
// a folder only when all in it is meant.
func TestFileDenialsOneByOne(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{
		"deny Read", "ask Read(/a)", "deny Bash(a)", "deny Read(/a)", "deny Read(/a/b)", "deny Read(/a/**)", "deny Read(a)", "deny Read(*.key)", "deny Read(/a/*.key)", "deny Read(~/a)", "deny Read(//a/b)", "deny Read(../a)", "deny Read(/)", "deny Edit(/a)", "deny Glob(/a)", "deny Write(/a/[bc])", `deny Read(/a\*)`,
	} {
		d := policy.FileDenials(rules(t, text))
		spelled, folders := d.Starts()
		fmt.Fprintf(&b, "%s\n\tspelled out %v, patterns below %v, key %q\n", text, spelled, folders, d.Key())
		for _, file := range []string{dir + "/a", dir + "/a/b", dir + "/a/x.key", dir + "/x/a", home + "/a", "/a/b", "/w/a", dir} {
			for _, folder := range []bool{false, true} {
				read, edit := d.Names(file, folder)
				if read || edit {
					fmt.Fprintf(&b, "\t%s folder=%t: read %t, edit %t\n", file, folder, read, edit)
				}
			}
		}
	}
	golden(t, "denials.txt", b.String())
}

// Where people keep secrets: what only has a known name is looked for at home
// when it is hidden there.
func TestSecretPlaces(t *testing.T) {
	places := policy.SecretPlaces(home)
	for name, want := range map[string]bool{
		home + "/.ssh": true, home + "/.netrc": true, home + "/_netrc": true, home + "/.config/gh": true, "/etc/shadow": true, home + "/id_rsa": false, home + "/credentials.json": false,
	} {
		if slices.Contains(places, name) != want {
			t.Errorf("%s: want %t", name, want)
		}
	}
	if !slices.IsSorted(places) || len(slices.Compact(slices.Clone(places))) != len(places) {
		t.Error("not each once, in order")
	}
}

func TestNeedsAreZero(t *testing.T) {
	for _, n := range []policy.Needs{{Pinned: true}, {Confined: true}, {Writable: []string{"/w/x"}}} {
		if n.IsZero() {
			t.Errorf("%+v", n)
		}
	}
	if n := (policy.Needs{Writable: []string{}}); !n.IsZero() {
		t.Errorf("%+v", n)
	}
}
