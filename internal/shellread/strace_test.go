//go:build linux

package shellread_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

var traced = flag.Int("traced", 30, "read-only examples of the corpus that run under strace; 0 for all")

// TestReadOnlyChangesNothing runs commands that pass without a question, in a
// scratch copy under strace: nothing may be written, and nothing started but
// the commands themselves.
func TestReadOnlyChangesNothing(t *testing.T) {
	tracer, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	box := sandbox(t)
	f := newFixture()
	home := realFixture(t, f)
	var list []ownCase
	for _, c := range ownCases(t) {
		if c.want == "allow" && len(c.rules) == 0 {
			list = append(list, c)
		}
	}
	rng := rand.New(rand.NewPCG(*seed, 0))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	argv := slices.Concat(box[1:], []string{
		"--ro-bind", "/etc", "/etc", "--tmpfs", "/tmp", "--bind", home, "/home/u", "--chdir", "/home/u/project", "--clearenv", "--setenv", "HOME", "/home/u", "--setenv", "PATH", os.Getenv("PATH"),
		"--setenv", "GIT_OPTIONAL_LOCKS", "0", "--setenv", "GIT_PAGER", "cat", "--setenv", "GIT_TERMINAL_PROMPT", "0", "--setenv", "GIT_CONFIG_NOSYSTEM", "1",
		"--setenv", "GIT_CONFIG_COUNT", "3", "--setenv", "GIT_CONFIG_KEY_0", "diff.autoRefreshIndex", "--setenv", "GIT_CONFIG_VALUE_0", "false", "--setenv", "GIT_CONFIG_KEY_1", "core.fsmonitor", "--setenv", "GIT_CONFIG_VALUE_1", "false",
		"--setenv", "GIT_CONFIG_KEY_2", "safe.directory", "--setenv", "GIT_CONFIG_VALUE_2", "*"}, toolchains(), []string{
		tracer, "-f", "-qq", "-s", "300", "-e", "signal=none", "-e", "trace=execve,open,openat,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchownat,utimensat,connect,mknodat",
		"-o", "/home/u/.trace", "bash", "--noprofile", "--norc", "-c"})
	ran := 0
	var left []string
	for _, c := range list {
		if *traced > 0 && ran >= *traced {
			break
		}
		s := shellread.Read(c.command, f.world())
		if !s.ReadOnly || !installed(s) {
			left = append(left, c.command)
			continue
		}
		ran++
		cmd := exec.Command(box[0], append(slices.Clone(argv), c.command)...)
		timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		_, _ = cmd.CombinedOutput()
		if !timer.Stop() {
			t.Errorf("%q does not end", c.command)
		}
		trace, err := os.ReadFile(filepath.Join(home, ".trace"))
		if err != nil || !strings.Contains(string(trace), "execve") {
			t.Skipf("strace does not work here: %v", err)
		}
		for _, why := range breaches(string(trace), s) {
			t.Errorf("%q %s", c.command, why)
		}
	}
	t.Logf("%d of %d read-only commands ran; not: %q", ran, len(list), left)
	if ran == 0 {
		t.Error("nothing ran")
	}
}

// toolchains binds, read-only, the folders below the home folder in which
// cargo is often installed.
func toolchains() []string {
	var argv []string
	for name, variable := range map[string]string{".cargo": "", ".rustup": "RUSTUP_HOME"} {
		d := filepath.Join(os.Getenv("HOME"), name)
		if _, err := os.Stat(d); err != nil {
			continue
		}
		argv = append(argv, "--ro-bind", d, d)
		if variable != "" {
			argv = append(argv, "--setenv", variable, d)
		}
	}
	return argv
}

// notRun are the clients of what is not there (a daemon, a cluster, an
// account). Their rows rest on their manuals alone.
var notRun = []string{"docker", "kubectl", "helm", "gh", "dpkg", "apt", "rpm", "brew"}

// ownFolders are the folders below the home folder in which a program keeps
// its own log of having run.
var ownFolders = map[string]string{"npm": "/home/u/.npm"}

// installed reports whether every program of the script is there and can run.
func installed(s shellread.Script) bool {
	for a := range policy.All(s.Actions) {
		e, ok := a.(policy.Exec)
		if !ok {
			continue
		}
		if slices.Contains(notRun, e.Argv[0]) {
			return false
		}
		if e.Argv[0] == "cd" || e.Argv[0] == "pushd" {
			continue
		}
		at, err := exec.LookPath(e.Argv[0])
		if err == nil && !strings.HasPrefix(at, "/usr/") && !strings.HasPrefix(at, "/bin/") && !strings.Contains(at, "/.cargo/") {
			return false // it is not in the box
		}
		if err != nil && !slices.Contains([]string{"type", "hash", "command", "ulimit", "umask"}, e.Argv[0]) {
			return false
		}
	}
	return true
}

var (
	openFor  = regexp.MustCompile(`\bopen(?:at)?\((?:[A-Z_0-9]+, )?"([^"]*)", [^)]*O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)`)
	executed = regexp.MustCompile(`\bexecve\("([^"]*)", \[(.*?)\].* = 0$`)
	changes  = regexp.MustCompile(`\b(creat|unlink|unlinkat|rename|renameat|renameat2|mkdir|mkdirat|rmdir|link|linkat|symlink|symlinkat|truncate|ftruncate|chmod|fchmod|fchmodat|chown|fchownat|utimensat|connect|mknodat)\(.* = 0$`)
)

// breaches lists what a trace shows that a read-only command does not do.
func breaches(trace string, s shellread.Script) []string {
	known := map[string]bool{"bash": true}
	for a := range policy.All(s.Actions) {
		if e, ok := a.(policy.Exec); ok {
			known[path.Base(e.Argv[0])] = true
			for _, also := range e.Also {
				known[path.Base(also[0])] = true
			}
		}
	}
	// Scripts and links that stand for another program.
	for name, real := range map[string]string{"egrep": "grep", "fgrep": "grep", "awk": "mawk", "which": "which.debianutils", "zcat": "gzip", "gunzip": "gzip", "tar": "gzip", "yq": "jq", "npm": "node", "cargo": "rustup", "rustc": "rustup"} {
		if known[name] {
			known[real], known["sh"] = true, true
		}
	}
	own := "\x00"
	for name, folder := range ownFolders {
		if known[name] {
			own = folder
		}
	}
	var out []string
	for _, line := range strings.Split(trace, "\n") {
		if m := openFor.FindStringSubmatch(line); m != nil && !strings.Contains(line, " = -1 ") {
			switch {
			case m[1] == "/dev/null", m[1] == "/dev/tty", strings.HasPrefix(m[1], "/dev/fd/"), strings.HasPrefix(m[1], "/tmp/sh-thd"), strings.HasPrefix(m[1], "/proc/self/"), strings.HasPrefix(m[1], own):
			default:
				out = append(out, "opens "+m[1]+" to write: "+line)
			}
		}
		if m := executed.FindStringSubmatch(line); m != nil {
			arg0, _, _ := strings.Cut(strings.Trim(m[2], `"`), `"`)
			if !known[path.Base(m[1])] && !known[path.Base(arg0)] {
				out = append(out, "starts "+m[1]+": "+line)
			}
		}
		if changes.MatchString(line) && !strings.Contains(line, "/tmp/sh-thd") && !strings.Contains(line, `"`+own) {
			out = append(out, "changes something: "+line)
		}
	}
	return out
}

// realFixture builds the world of the corpus on disk, with a repository of one
// commit, and returns its home folder.
func realFixture(t *testing.T, f fixture) string {
	t.Helper()
	home := t.TempDir()
	at := func(p string) (string, bool) {
		rel, ok := strings.CutPrefix(p, "/home/u")
		return filepath.Join(home, rel), ok && !strings.Contains(rel, "/.git") && !strings.Contains(rel, "/embedded")
	}
	for d := range f.folders {
		if p, ok := at(d); ok {
			if err := os.MkdirAll(p, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n := range f.files {
		if p, ok := at(n); ok {
			if err := os.WriteFile(p, []byte("alpha beta\ngamma 1\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n, to := range f.links {
		if p, ok := at(n); ok {
			if err := os.Symlink(to, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Go's tools count their uses in the home folder unless told not to.
	mode := filepath.Join(home, ".config/go/telemetry/mode")
	if err := errors.Join(os.MkdirAll(filepath.Dir(mode), 0o755), os.WriteFile(mode, []byte("off"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if git, err := exec.LookPath("git"); err == nil {
		for _, args := range [][]string{{"init", "-q"}, {"add", "main.go", "src"}, {"-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one"}, {"tag", "v1"}} {
			cmd := exec.Command(git, args...)
			cmd.Dir, cmd.Env = filepath.Join(home, "project"), []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
	}
	return home
}
