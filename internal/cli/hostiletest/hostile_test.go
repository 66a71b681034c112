//go:build linux

package hostiletest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/adze-agent/adze/internal/cli" // what is built below: results are not kept over its changes
	"github.com/adze-agent/adze/internal/slowtest"
)

var adze, base, template string // set by TestMain

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "adze-hostile-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if base, err = filepath.EvalSymlinks(dir); err != nil {
		return 1, err
	}
	adze, template = filepath.Join(base, "bin", "adze"), filepath.Join(base, "template")
	now = stage{evil: filepath.Join(base, "evil"), mark: filepath.Join(base, "mark"), home: filepath.Join(base, "home")}
	build := exec.Command("go", "build", "-o", adze, "../../../cmd/adze")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is built for people, and for other tests
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("go build: %w: %s", err, out)
	}
	err = firstOf(os.Mkdir(now.mark, 0o755), write(base, "evil", "#!/bin/sh\necho \"$0 $*\" >$MARK/$$\n"), write(now.home, ".ssh/id_rsa", canary+"\n"),
		write(base, "hello.txt", "> hello\n"), newTemplate(template))
	if err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// commands are what is run in each folder: always a prompt, and of the commands
// that only show something a third, others with each commit. Those that look at
// extensions are left out where only git's files are hostile.
func commands(r repo) [][]string {
	out := [][]string{{"doctor"}, {"prompt", "--model", "script/" + filepath.Join(base, "hello.txt")}, {"config", "list"}}
	if r.git == "" {
		out = append(out, []string{"mcp", "list"}, []string{"skills", "list"}, []string{"hooks", "list"}, []string{"hooks", "test", "SessionStart"}, []string{"agents"}, []string{"plugin", "list"})
	}
	out = slices.DeleteFunc(out, func(args []string) bool {
		return !slowtest.Due(r.name + " " + strings.Join(args[:min(2, len(args))], " "))
	})
	out = slices.Insert(out, 0, []string{"-p", "hello", "--model", "script/" + filepath.Join(base, "hello.txt")})
	if r.say != "" {
		out = append(out, []string{"-p", r.say, "--model", "script/" + filepath.Join(base, "hello.txt")})
	}
	return out
}

// In a folder that nobody trusts nothing of the folder runs, nothing is
// asked of a network, nothing is written, and no link or pipe is followed.
// Half of the folders have their turn with a commit.
func TestHostileFolders(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: apt-get install strace")
	}
	if out, err := exec.Command(strace, "-f", "--seccomp-bpf", "-e", "trace=execve", "true").CombinedOutput(); err != nil {
		t.Skipf("strace does not work here: %v: %.200s", err, out)
	}
	all := repos()
	if len(all) < 60 || len(extensions()) < 60 {
		t.Errorf("only %d folders, %d of them with extensions", len(all), len(extensions()))
	}
	t.Logf("%d folders, %d of them with extensions", len(all), len(extensions()))
	work := make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { // ends when work is closed
			for i := range work {
				attack(t, strace, all[i], filepath.Join(base, fmt.Sprintf("repo%d", i)))
			}
		})
	}
	for i, r := range all {
		if !slowtest.OneOf(2, r.name) {
			continue
		}
		r.build(t, template, filepath.Join(base, fmt.Sprintf("repo%d", i)))
		work <- i
	}
	close(work)
	wg.Wait()
	marks, err := os.ReadDir(now.mark)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range marks {
		text, _ := os.ReadFile(filepath.Join(now.mark, m.Name()))
		t.Errorf("a repository's program ran: %s", text)
	}
}

func attack(t *testing.T, strace string, r repo, dir string) {
	before := snapshot(dir)
	path := "/usr/local/bin:/usr/bin:/bin"
	if r.path {
		path = dir + ":.:" + dir + "/node_modules/.bin:node_modules/.bin:" + path
	}
	home := dir + ".adze"
	for n, args := range commands(r) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		trace := dir + ".trace"
		cmd := exec.CommandContext(ctx, strace, slices.Concat([]string{"-f", "--seccomp-bpf", "-v", "-s", "4096", "-o", trace, "-e", "trace=execve,execveat,connect,sendto,sendmsg,sendmmsg", adze}, args)...)
		cmd.Dir = filepath.Join(dir, r.in)
		cmd.Env = []string{"PATH=" + path, "HOME=" + now.home, "ADZE_HOME=" + home, "LANG=C.UTF-8", "PWD=" + cmd.Dir, "NO_COLOR=1"}
		cmd.WaitDelay = time.Second
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		cancel()
		where := fmt.Sprintf("%s: adze %s", r.name, strings.Join(args[:min(2, len(args))], " "))
		if exit := (*exec.ExitError)(nil); ctx.Err() == context.DeadlineExceeded || err != nil && !errors.As(err, &exit) {
			t.Errorf("%s: %v\n%s", where, err, out.String())
		}
		if n == 0 && (err != nil || !strings.Contains(out.String(), "hello")) {
			t.Errorf("%s does not work there: %v\n%.1000s", where, err, out.String())
		}
		if strings.Contains(out.String(), canary) || strings.Contains(out.String(), "root:x:0:0") {
			t.Errorf("%s shows what a link or an import points to\n%.3000s", where, out.String())
		}
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		for _, wrong := range judge(string(text), dir, args[0] == "doctor") {
			t.Errorf("%s: %s", where, wrong)
		}
	}
	if after := snapshot(dir); after != before {
		t.Errorf("%s: the folder was changed:\n%s\nwas\n%s", r.name, after, before)
	}
	_ = filepath.WalkDir(home, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if text, err := os.ReadFile(p); err != nil || bytes.Contains(text, []byte(canary)) {
				t.Errorf("%s: %s holds what a link points to (%v)", r.name, p, err)
			}
		}
		return nil
	})
}

var (
	execLine = regexp.MustCompile(`^\d+ +execve\("((?:[^"\\]|\\.)*)", (\[.*\]), (\[.*\])(?:\)| <unfinished)`)
	inet     = regexp.MustCompile(`sa_family=AF_INET6?, .*`)
	local    = regexp.MustCompile(`sin_port=htons\((11434|1234|8080|9931)\), sin_addr=inet_addr\("127\.0\.0\.1"\)|sin6_port=htons\((11434|1234|8080|9931)\), .*"::1"`)
	anyExec  = regexp.MustCompile(`^\d+ +execve(?:at)?\(`)
)

// judge goes through a trace. doctor asks whether a local model server is
// there.
func judge(trace, dir string, doctor bool) (wrong []string) {
	for line := range strings.Lines(trace) {
		if m := inet.FindString(line); m != "" && !(doctor && local.MatchString(m)) {
			wrong = append(wrong, "a network is used: "+strings.TrimSpace(line))
		}
		if !anyExec.MatchString(line) {
			continue
		}
		m := execLine.FindStringSubmatch(line)
		if m == nil {
			wrong = append(wrong, "cannot be read: "+line)
			continue
		}
		path, args, env := m[1], m[2], m[3]
		switch {
		case path == adze:
		case doctor && strings.HasPrefix(path, "/proc/self/fd/") && strings.HasPrefix(args, `["`+path+`", "__sandbox", "zygote"]`): // adze itself, tried by doctor: a repository can open no descriptor of it
		case strings.HasPrefix(path, dir) || !filepath.IsAbs(path):
			wrong = append(wrong, "a program of the folder runs: "+path+" "+args)
		case filepath.Base(path) == "bwrap", filepath.Base(path) == "true" && strings.Contains(trace, "bwrap"): // the sandbox is tried
		case filepath.Base(path) != "git" && !strings.Contains(path, "/git-core/"):
			wrong = append(wrong, "a program runs: "+path+" "+args)
		case strings.Contains(args, `"--version"`):
		default:
			for _, pin := range []string{`"GIT_OPTIONAL_LOCKS=0"`, `"GIT_TERMINAL_PROMPT=0"`, `"GIT_CONFIG_COUNT=`, `=core.fsmonitor"`, `=core.hooksPath"`, `=safe.bareRepository"`, `=protocol.ext.allow"`} {
				if !strings.Contains(env, pin) {
					wrong = append(wrong, fmt.Sprintf("git runs without %s: %s %s", pin, args, env))
				}
			}
		}
	}
	return wrong
}

// The folders are hostile: an ordinary git runs what many of them bring.
func TestFoldersAreHostile(t *testing.T) {
	marks := t.TempDir()
	was := now
	defer func() { now = was }()
	now.evil, now.mark = filepath.Join(marks, "evil"), filepath.Join(marks, "mark")
	if err := firstOf(os.Mkdir(now.mark, 0o755), write(marks, "evil", "#!/bin/sh\necho \"$PWD\" >$MARK/$(basename \"$PWD\")\n")); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, r := range repos() {
		if r.git == "" {
			continue
		}
		dir := filepath.Join(marks, fmt.Sprintf("repo%d", i))
		r.build(t, template, dir)
		n++
		for _, args := range [][]string{{"status"}, {"diff"}, {"log", "-p"}} {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + now.home, "GIT_TERMINAL_PROMPT=0"}
			_ = cmd.Run() // whether it works is not the question
		}
	}
	ran, err := os.ReadDir(now.mark)
	if err != nil || len(ran) < 8 {
		t.Errorf("of %d repositories %d ran something: %v", n, len(ran), err)
	}
}

// The folders that bring extensions are hostile as well: once they are trusted,
// what they bring runs.
func TestTrustedFoldersRun(t *testing.T) {
	marks := t.TempDir()
	was := now
	defer func() { now = was }()
	now.evil, now.mark = filepath.Join(marks, "evil"), filepath.Join(marks, "mark")
	if err := firstOf(os.Mkdir(now.mark, 0o755), write(marks, "evil", "#!/bin/sh\necho >$MARK/$(basename \"$CLAUDE_PROJECT_DIR\")\n")); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, r := range extensions() {
		if !strings.Contains(r.name, "event") && !strings.Contains(r.name, "kinds of hooks") && !strings.Contains(r.name, "typed") && !strings.Contains(r.name, "started in") {
			continue
		}
		dir := filepath.Join(marks, fmt.Sprintf("repo%d", i))
		r.build(t, template, dir)
		n++
		cmd := exec.Command(adze, "-p", "hello", "--trust", "--model", "script/"+filepath.Join(base, "hello.txt"))
		cmd.Dir, cmd.Env = filepath.Join(dir, r.in), []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + now.home, "ADZE_HOME=" + dir + ".adze"}
		_ = cmd.Run() // hooks of such a folder may refuse the prompt
		if _, err := os.Stat(filepath.Join(now.mark, filepath.Base(dir))); err != nil && strings.HasPrefix(r.name, "every event in ") {
			t.Errorf("%s: nothing ran once it was trusted", r.name)
		}
	}
	ran, err := os.ReadDir(now.mark)
	if err != nil || len(ran) < 4 {
		t.Errorf("of %d repositories that were trusted %d ran something: %v", n, len(ran), err)
	}
}

// The judge can say no.
func TestJudge(t *testing.T) {
	for line, bad := range map[string]bool{
		`1 execve("/w/repo/evil", ["evil"], [""]) = 0`: true, `1 execve("./evil", ["evil"], [""]) = 0`: true, `1 execve("/bin/sh", ["sh", "-c", "x"], [""]) = 0`: true,
		`1 execve("/usr/bin/git", ["git", "status"], ["PATH=/bin"]) = 0`: true, `1 execve("/usr/bin/git", ["git", "--version"], ["PATH=/bin"]) = 0`: false,
		`1 connect(3, {sa_family=AF_INET, sin_port=htons(6666), sin_addr=inet_addr("127.0.0.1")}, 16) = -1`: true, `1 execveat(3, "x", [], [], 0) = 0`: true,
		`1 connect(3, {sa_family=AF_INET, sin_port=htons(11434), sin_addr=inet_addr("127.0.0.1")}, 16) = -1`: false, `1 +++ exited with 0 +++`: false,
	} {
		if wrong := judge(line+"\n", "/w/repo", true); (len(wrong) > 0) != bad {
			t.Errorf("%s: %v", line, wrong)
		}
	}
}

// snapshot is everything about a folder that a write would change.
func snapshot(dir string) string {
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintln(&b, p, err)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			fmt.Fprintln(&b, p, err)
			return nil
		}
		fmt.Fprint(&b, p[len(dir):], " ", info.Mode(), " ", info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			fmt.Fprintf(&b, " %x %v", sha256.Sum256(text), err)
		}
		fmt.Fprintln(&b)
		return nil
	})
	return b.String()
}
