package permcheck_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/permcheck"
	"github.com/adze-agent/adze/internal/policy"
)

// project is a small real repository.
func project(t testing.TB) permcheck.Options {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "project")
	for _, d := range []string{"project/src", "project-evil"} {
		if err := os.MkdirAll(filepath.Join(home, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"project/main.go", "project/src/a.go", "project/.env", "project-evil/secret"} {
		if err := os.WriteFile(filepath.Join(home, f), []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if git, err := exec.LookPath("git"); err == nil {
		cmd := exec.Command(git, "init", "-q", dir)
		cmd.Env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return permcheck.Options{Dir: dir, Home: home}
}

func TestBatch(t *testing.T) {
	o := project(t)
	in := strings.Join([]string{
		"id\tcommand\tallow_rules\texpected\twhy",
		"a\tls -la src\t\tallow\tx",
		`b` + "\t" + `grep -c '\U0001f680' main.go` + "\t\tallow\tx",
		`c` + "\t" + `ls\nrm x` + "\tdeny:Bash(rm:*)\tdeny\tx",
		"d\tgo test ./... && git commit -m x\tBash(go test:*) ;; Bash(git commit:*)\tallow\tx",
		"e\tcat ../project-evil/secret\t\task\tx",
		"e2\tls\tBash(x\task\ta rule that cannot be read",
		`f` + "\t" + `l\u200bs` + "\t\task\tx",
		`{"id":"g","command":"git status"}`,
		`{"id":"h","command":"make","allow_rules":["Bash(make)"]}`,
		`{"id":"i","command":"cat .env","allow_rules":["deny:Read(.env)"]}`,
		"",
	}, "\n")
	var out bytes.Buffer
	if err := permcheck.Batch(strings.NewReader(in), &out, o); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "allow", "b": "allow", "c": "deny", "d": "allow", "e": "ask", "e2": "ask", "f": "ask", "g": "allow", "h": "allow", "i": "deny"}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var got struct{ ID, Verdict, Reason string }
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if got.Verdict != want[got.ID] || got.Reason == "" {
			t.Errorf("%s: got %s (%s), want %s", got.ID, got.Verdict, got.Reason, want[got.ID])
		}
		delete(want, got.ID)
	}
	if len(want) > 0 {
		t.Errorf("no line for %v", want)
	}
}

func TestBatchErrors(t *testing.T) {
	for _, bad := range []string{"only one column", "a\tls\\q", "{\"id\":", "a\t\\u12"} {
		var out bytes.Buffer
		if err := permcheck.Batch(strings.NewReader(bad), &out, project(t)); err == nil || !strings.Contains(err.Error(), "row 1") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestCheck(t *testing.T) {
	o := project(t)
	rule, err := policy.ParseRule("Bash(python:*)", policy.Allow, policy.CLI, "--allow", o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	o.Rules.List = []policy.Rule{rule}
	r := permcheck.Check("cd src && cat a.go | head -1; make", o)
	var got []string
	for _, c := range r.Parts {
		if c.Kind == "command" {
			got = append(got, c.Text+" "+c.Effect.String())
		}
	}
	if want := "cd src allow|cat a.go allow|head -1 allow|make ask"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
	if r.Verdict.Effect != policy.Ask || r.Verdict.Part != "make" || len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
	b, err := json.Marshal(r)
	if err != nil || !bytes.Contains(b, []byte(`"verdict":{"effect":"ask"`)) {
		t.Errorf("%s, %v", b, err)
	}
}

// What a line of a part says is true of it, and worth a line: words that nobody knows to
// be files are there when something speaks against them, a command that another one would
// start is part of that one, and nothing stands there twice.
func TestPartsAreWorthALine(t *testing.T) {
	for command, want := range map[string]string{
		"sudo rm -rf nothing":      "command sudo rm -rf nothing ask|remove nothing ask",
		"f() { rm x; }; ls":        "command ls allow|read . allow",
		"git push origin main":     "command git push origin main ask",
		"kubectl delete ns /etc/x": "command kubectl delete ns /etc/x ask|name /etc/x ask",
		"ls; ls":                   "command ls allow|read . allow",
	} {
		var got []string
		for _, p := range permcheck.Check(command, project(t)).Parts {
			got = append(got, string(p.Kind)+" "+p.Text+" "+p.Effect.String())
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", command, strings.Join(got, "|"), want)
		}
	}
}

// Why a command is asked about or not is said by the part that decides, and is true.
func TestReasons(t *testing.T) {
	for _, c := range []struct {
		mode          policy.Mode
		command, want string
	}{
		{policy.AcceptEdits, "cd src && rm a.go", "the mode accepts edits inside the session's folders"},
		{policy.PlanMode, "ls && git reset --hard HEAD~1", "plan mode only reads: git reset --hard drops every change that is not committed"},
		{policy.PlanMode, "git clean -fd", "plan mode only reads: git clean removes files that git does not know, for good"},
		{policy.PlanMode, "find . -delete", "plan mode only reads: find -delete removes every match for good"},
		{policy.PlanMode, "echo x > .envrc", "plan mode only reads: this writes .envrc"},
		{policy.PlanMode, "rm x", "plan mode only reads: this changes files"},
		{policy.PlanMode, "git status", "it provably only reads"},
		{policy.Default, "FOO=1 ls", "the variable FOO may change what the command does"},
		{policy.Default, "export FOO=1", "export may change the environment of later commands"},
		{policy.Default, "history", "history changes or shows the shell itself"},
		{policy.Default, "cat $(", "part of this could not be read exactly: "},
		{policy.Default, "docker compose pull", "no rule allows `docker compose pull`, which is not known to be read-only"},
		{policy.Default, "npm config list", "no rule allows `npm config list`, which is not known to be read-only"},
		{policy.Default, "go mod verify", "no rule allows `go mod verify`, which is not known to be read-only"},
		{policy.Default, "npm install left-pad", "no rule allows `npm install`, which is not known to be read-only"},
		{policy.Default, "ssh -G host", "no rule allows `ssh`; ssh may run a command on another machine"},
		{policy.Default, "tmux new", "no rule allows `tmux new`; tmux may run another command"},
		{policy.Default, "sudo ls", "no rule allows `sudo ls`; sudo runs a command with other rights"},
		{policy.Default, "docker run -v .:/x img", "no rule allows `docker run`; docker -v is more than a rule for docker speaks of"},
		{policy.Default, "./script.sh --help", "no rule allows `./script.sh`; what a program of its own does is not known"},
		{policy.Default, "rm -rf src/*", "the mode default asks before all that is in DIR/src is removed"},
		{policy.Default, "cat $(go env GOROOT)/VERSION", "no rule allows `cat`; $(go env GOROOT)/VERSION may become any argument"},
		{policy.Default, "fd x | xargs wc -l", "which files it reads is not known, and DIR/.env may hold secrets"},
		{policy.Default, "git tag | xargs git show --stat", "no rule allows `git show`; xargs adds arguments that are not known before it runs"},
		{policy.Default, "git log --format=%h -1 | xargs git diff", "which files it reads is not known, and DIR/.env may hold secrets"},
		{policy.Default, "echo x > hooks/pre-commit", "hooks/pre-commit is protected: git runs a file of this name where the folder around it is a repository's own"},
		{policy.Default, "env -i less main.go", "no rule allows `less`; less may start other programs, unless variables are taken away that say so"},
		{policy.Default, "printenv", "no rule allows `printenv`; printenv prints the environment, which may hold secrets"},
	} {
		o := project(t)
		o.Mode = c.mode
		c.want = strings.ReplaceAll(c.want, "DIR", o.Dir)
		if got := permcheck.Check(c.command, o).Verdict.Reason; got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s %s:\n got %s\nwant %s", c.mode, c.command, got, c.want)
		}
	}
}

// What "always" would save of a command that writes a file is about that file.
func TestOfferIsAboutWhatWasAsked(t *testing.T) {
	o := project(t)
	if got, want := permcheck.Check("echo x > src/b.txt", o).Verdict.Suggest, "Edit(/"+o.Dir+"/src/b.txt)"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzBatch(f *testing.F) {
	f.Add("id\tcommand\nx\tls\\u0041\tBash(x)\n{\"id\":\"a\",\"command\":\"ls\"}\n")
	f.Fuzz(func(t *testing.T, in string) {
		o := permcheck.Options{Dir: t.TempDir(), Home: t.TempDir()}
		var out bytes.Buffer
		_ = permcheck.Batch(strings.NewReader(in), &out, o)
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			if line != "" && !json.Valid([]byte(line)) {
				t.Fatalf("%q", line)
			}
		}
	})
}

// TestSandboxed: the sandbox spares a question that is about nothing protected.
func TestSandboxed(t *testing.T) {
	for command, want := range map[string]bool{"make": true, "rm -rf .git": false, "ls": false} {
		r := permcheck.Check(command, permcheck.Options{Dir: t.TempDir(), Home: t.TempDir(), Sandbox: true})
		if got := r.Sandboxed != nil; got != want {
			t.Errorf("%q: %+v", command, r)
		}
		if permcheck.Check(command, permcheck.Options{Dir: t.TempDir(), Home: t.TempDir()}).Sandboxed != nil {
			t.Errorf("%q without a sandbox", command)
		}
	}
}
