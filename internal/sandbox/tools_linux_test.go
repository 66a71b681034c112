package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

func both(t *testing.T, f func(t *testing.T, mech string)) {
	for _, mech := range []string{"bwrap", "landlock"} {
		t.Run(mech, func(t *testing.T) { f(t, mech) })
	}
}

func need(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
}

// TestToolsWork runs what people run all day.
func TestToolsWork(t *testing.T) {
	both(t, func(t *testing.T, mech string) {
		c := testConfig(t, mech)
		s := open(t, c)
		for _, x := range []struct{ tool, script, want string }{
			{"ls", "ls -la / >/dev/null && echo ok > f && cat f && rm f", "ok"},
			{"sh", `x=$(printf '%s' a b | tr a-z A-Z); cat <<X
$x
X`, "AB"},
			{"bash", `bash -c 'cat <(echo one) && echo "$TMPDIR" > "$TMPDIR/t" && mktemp >/dev/null && echo done'`, "one\ndone"},
			{"make", "printf 'all:\\n\\t@echo made\\n' > Makefile && make", "made"},
			{"python3", `python3 -c 'import subprocess,tempfile,multiprocessing as m; tempfile.mkdtemp(); m.Lock(); print(subprocess.run(["echo","py"],capture_output=True,text=True).stdout.strip())'`, "py"},
			{"node", `node -e 'const c=require("child_process");require("fs").mkdtempSync(process.env.TMPDIR+"/x");console.log(c.execSync("echo js").toString().trim(), require("os").cpus().length>0)'`, "js true"},
			{"npm", "npm config get registry >/dev/null && echo npm", "npm"},
			{"gcc", "echo 'int main(){return 0;}' > m.c && gcc m.c -o m && ./m && echo c", "c"},
			{"cp", "echo x > a1; cp -a a1 b1 && mv b1 c1 && install -m 755 c1 e1 && touch -d 2020-01-01 e1 && cat e1", "x"},
			{"tar", "mkdir -p d && echo x > d/x && tar czf d.tgz d && tar tzf d.tgz | wc -l | tr -d ' '", "2"},
		} {
			t.Run(x.tool, func(t *testing.T) {
				need(t, x.tool)
				if out, code := sh(t, s, x.script); code != 0 || out != x.want {
					t.Errorf("code %d, %q, want %q", code, out, x.want)
				}
			})
		}
	})
}

// TestGoBuilds has its own cache inside, and no network.
func TestGoBuilds(t *testing.T) {
	if raceDetector && os.Getenv("SEED") != "all" {
		t.Skip("it is the compiler that computes, for as long as in the run without the race detector")
	}
	if testing.Short() {
		t.Skip("it compiles")
	}
	need(t, "go")
	c := testConfig(t, "bwrap")
	s := open(t, c)
	out, code := sh(t, s, `printf 'module m\n\ngo 1.24\n' > go.mod && printf 'package main\n\nfunc main() { println("built") }\n' > main.go && go build -o m . && ./m && go env GOCACHE`)
	if code != 0 || !strings.HasPrefix(out, "built\n"+s.policy.Cache) {
		t.Errorf("code %d: %s", code, out)
	}
}

// TestGitWorks: what git writes in daily work is possible, what makes it run
// programs is not.
func TestGitWorks(t *testing.T) {
	need(t, "git")
	both(t, func(t *testing.T, mech string) {
		c := testConfig(t, mech)
		git := func(args ...string) {
			t.Helper()
			cmd := exec.Command("git", args...)
			cmd.Dir = c.Dir
			cmd.Env = append(os.Environ(), "HOME="+c.Home, "GIT_CONFIG_NOSYSTEM=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %s", args, out)
			}
		}
		git("init", "-q", "-b", "main")
		git("config", "user.name", "x")
		git("config", "user.email", "x@example.com")
		s := open(t, c)
		out, code := sh(t, s, `set -e
echo a > a; git add -A; git commit -qm one; git switch -q -c b; echo b >> a; git stash -q; git stash pop -q
git commit -qam two; git switch -q main; git merge -q b; git tag v1; git rebase -q b; git reset -q --soft HEAD~1; git gc -q
git status --short; git log --oneline | wc -l | tr -d ' '; git ls-files`)
		if code != 0 || out != "M  a\n1\na" {
			t.Errorf("code %d: %s", code, out)
		}
		if mech != "bwrap" {
			return // it cannot hold anything back inside a writable folder
		}
		if out, code := sh(t, s, "git config alias.x '!sh'"); code == 0 {
			t.Errorf("git config: %s", out)
		} else if why, ok := s.Denial("", code, out); !ok || !strings.Contains(why, ".git/config") {
			t.Errorf("explained %q as %q", out, why)
		}
		if out, code := sh(t, s, "git init -q sub && cd sub && git commit -q --allow-empty -m x"); code != 0 {
			t.Logf("a repository below: %s", out)
		}
	})
}

// TestWorktree: the folder that worktrees share is writable, its settings are not.
func TestWorktree(t *testing.T) {
	need(t, "git")
	c := testConfig(t, "bwrap")
	main := filepath.Join(filepath.Dir(c.Dir), "main")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", main}, {"-C", main, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x"},
		{"-C", main, "worktree", "add", "-q", c.Dir},
	} {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "HOME="+c.Home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	s := open(t, c)
	if out, code := sh(t, s, `echo x > x && git add x && git -c user.name=x -c user.email=x@x commit -qm y && git log --oneline | wc -l | tr -d ' '`); code != 0 || out != "2" {
		t.Errorf("code %d: %s", code, out)
	}
	for _, bad := range []string{"echo x >> .git", "rm .git", "mv .git g", "echo > " + main + "/.git/config", "touch " + main + "/.git/hooks/pre-commit", "touch " + main + "/x",
		"echo /tmp > $(cat .git | cut -c9-)/commondir"} {
		if out, code := sh(t, s, bad); code == 0 {
			t.Errorf("%s: worked: %s", bad, out)
		}
	}
	// A .git file that the shared folder does not know opens nothing.
	spoof := filepath.Join(filepath.Dir(c.Dir), "spoof")
	if err := os.MkdirAll(spoof, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(c.Dir, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(spoof, ".git"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	if git, outside, _ := repository(spoof); len(git) > 0 || len(outside) > 0 {
		t.Errorf("a planted .git file opens %v %v", git, outside)
	}
}

// TestKilledSandbox: after a SIGKILL of everything the next start cleans up,
// and nothing runs on.
func TestKilledSandbox(t *testing.T) {
	c := testConfig(t, "bwrap")
	s := open(t, c)
	pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "echo started; exec sleep 30"}, Dir: c.Dir, Env: []string{"PATH=/usr/bin:/bin"}}
	if err := s.WrapItself(&pc); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pc.Path)
	cmd.Args, cmd.Dir, cmd.Env, cmd.ExtraFiles = pc.Args, pc.Dir, pc.Env, pc.Files
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range pc.Files {
		f.Close()
	}
	// bwrap killed while it sets up leaves its child waiting.
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		t.Fatalf("%q %v", line, err)
	}
	_ = cmd.Process.Kill() // bwrap takes its children along
	_ = cmd.Wait()
	if list, _ := os.ReadDir(c.Dir); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
}

// TestStopIsGentle: the command hears SIGTERM and may clean up.
func TestStopIsGentle(t *testing.T) {
	c := testConfig(t, "bwrap")
	s := open(t, c)
	table := proc.NewTable()
	defer table.Close(time.Second)
	pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done"}, Dir: c.Dir, Env: []string{"PATH=/usr/bin:/bin"}}
	if _, err := s.Wrap(&pc, policy.Needs{}); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	p, err := table.Start(pc, w)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, _ := r.Read(buf)
	if !bytes.HasPrefix(buf[:n], []byte("ready")) {
		t.Errorf("%q", buf[:n])
	}
	rest := make(chan string)
	go func() { // ends when the pipe is closed
		b, _ := io.ReadAll(r)
		rest <- string(b)
	}()
	p.Stop(proc.Grace)
	<-p.Done()
	w.Close()
	if got := <-rest; !strings.HasSuffix(got, "bye\n") || p.Status().Code != 3 {
		t.Errorf("%q, code %d", got, p.Status().Code)
	}
}

// TestFailsClosed: what is demanded and cannot start is an error, and a
// closed sandbox runs nothing.
func TestFailsClosed(t *testing.T) {
	c := testConfig(t, "nonsense")
	if _, err := New(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no sandbox can start") {
		t.Errorf("demanded and missing: %v", err)
	}
	c.Settings.FailIfUnavailable = false
	s, err := New(t.Context(), c)
	if err != nil || s.Level().Strength != None {
		t.Fatalf("not demanded: %v", err)
	}
	_ = s.Close()
	if _, err := s.Wrap(&proc.Command{Path: "/bin/true"}, policy.Needs{}); err == nil {
		t.Error("a closed sandbox wrapped a command")
	}
	c = testConfig(t, "bwrap")
	s = open(t, c)
	if err := os.RemoveAll(c.Run); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wrap(&proc.Command{Path: "/bin/true", Args: []string{"true"}, Dir: c.Dir}, policy.Needs{}); err == nil {
		t.Error("it wrapped a command although what is there cannot be noted")
	}
}

// TestSharedNetwork: one command reaches what another listens on, and nobody
// outside does.
func TestSharedNetwork(t *testing.T) {
	need(t, "python3")
	c := testConfig(t, "bwrap")
	c.Settings.Network.AllowedDomains = []string{"allowed.invalid"}
	s := open(t, c)
	if s.proxy == nil {
		t.Skipf("no network here: %v", s.level.Weaker)
	}
	table := proc.NewTable()
	defer table.Close(time.Second)
	pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "echo hello > index.html; exec python3 -m http.server 8137 --bind 127.0.0.1"}, Dir: c.Dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.Home}}
	if _, err := s.Wrap(&pc, policy.Needs{}); err != nil {
		t.Fatal(err)
	}
	p, err := table.Start(pc, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	out, code := sh(t, s, `for i in $(seq 100); do python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:8137/").read().decode().strip())' 2>/dev/null && exit 0; sleep 0.1; done; exit 1`)
	if code != 0 || out != "hello" {
		t.Errorf("code %d: %q", code, out)
	}
	p.Stop(0)
	<-p.Done()
}

func TestHiddenAndRevealed(t *testing.T) {
	c := testConfig(t, "bwrap")
	for _, f := range []string{".ssh/id", ".ssh/known_hosts", ".netrc"} {
		if err := os.WriteFile(filepath.Join(c.Home, f), []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.Settings.Filesystem.AllowRead = []string{"~/.ssh/known_hosts"}
	c.Settings.Filesystem.DenyRead = []string{"private"}
	c.Settings.Filesystem.DenyWrite = []string{"fixed"}
	for _, d := range []string{"private", "fixed"} {
		if err := os.MkdirAll(filepath.Join(c.Dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, c)
	for script, works := range map[string]bool{
		"cat ~/.ssh/known_hosts": true, "cat ~/.ssh/id": false, "ls ~/.ssh": false, "cat ~/.netrc": false,
		"ls private": false, "touch fixed/x": false, "touch other": true, "echo x > ~/.ssh/known_hosts": false,
	} {
		if out, code := sh(t, s, script); (code == 0) != works {
			t.Errorf("%s: code %d %s", script, code, out)
		}
	}
}

// TestLocalBinding: with Landlock a command listens on a port, chosen or
// given, only when the settings say so; bubblewrap has ports of its own.
func TestLocalBinding(t *testing.T) {
	need(t, "python3")
	both(t, func(t *testing.T, mech string) {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		free := l.Addr().(*net.TCPAddr).Port
		l.Close()
		for _, allow := range []bool{false, true} {
			c := testConfig(t, mech)
			c.Settings.Network.LocalBinding = allow
			s := open(t, c)
			for _, port := range []int{0, free} {
				out, code := sh(t, s, fmt.Sprintf(`python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1", %d)); s.listen(); print("listens")'`, port))
				if want := allow || mech == "bwrap"; (code == 0 && out == "listens") != want {
					t.Errorf("allowed %v, port %d: code %d %s", allow, port, code, out)
				}
			}
			if out, code := sh(t, s, fmt.Sprintf(`python3 -c 'import socket; socket.socket().connect(("127.0.0.1", %d))'`, listening(t))); code == 0 {
				t.Errorf("allowed %v: it connects to a service outside: %s", allow, out)
			}
			if out, code := sh(t, s, `python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))'`); mech == "landlock" && code == 0 {
				t.Errorf("allowed %v: it sends datagrams: %s", allow, out)
			}
		}
	})
}

// listening is the port of a service of this machine.
func listening(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

// answering is the port of a service of this machine that says text to who connects.
func answering(t *testing.T, address, text string) int {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip(err)
	}
	var served sync.WaitGroup
	served.Go(func() { // ends when the listener is closed
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
	})
	t.Cleanup(func() { _ = l.Close(); served.Wait() })
	return l.Addr().(*net.TCPAddr).Port
}

// TestLocalPorts: with a port in the settings a command reaches what listens on this
// machine's localhost there, on no other port and on no other address.
func TestLocalPorts(t *testing.T) {
	need(t, "python3")
	read := func(host string, port int) string {
		return fmt.Sprintf(`python3 -c 'import socket; s=socket.create_connection(("%s", %d), 5); print(s.recv(100).decode())'`, host, port)
	}
	both(t, func(t *testing.T, mech string) {
		four, six, other := answering(t, "127.0.0.1:0", "four"), answering(t, "[::1]:0", "six"), answering(t, "127.0.0.1:0", "other")
		silent := listening(t)
		c := testConfig(t, mech)
		c.Settings.Network.LocalPorts = []string{strconv.Itoa(four), strconv.Itoa(six), "1"}
		var notes []string
		c.Note = func(text string) { notes = append(notes, text) }
		s := open(t, c)
		for _, x := range []struct{ script, want string }{
			{read("127.0.0.1", four), "four"}, {read("localhost", four), "four"}, {read("::1", six), "six"},
			{read("127.0.0.1", other), ""}, {read("::1", other), ""}, {read("127.0.0.1", silent), ""}, {read("127.0.0.1", 1), ""},
		} {
			out, code := sh(t, s, x.script)
			if code == 0 != (x.want != "") || x.want != "" && out != x.want {
				t.Errorf("%s: code %d, %q, want %q", x.script, code, out, x.want)
			}
		}
		if len(notes) > 0 {
			t.Errorf("told %q", notes)
		}
		if mech != "bwrap" {
			return
		}
		// Inside, ::1 leads to whatever listens outside, and the port of it is taken.
		if out, code := sh(t, s, read("127.0.0.1", six)); code != 0 || out != "six" {
			t.Errorf("code %d, %q", code, out)
		}
		out, code := sh(t, s, fmt.Sprintf("python3 -m http.server %d --bind 127.0.0.1 || { echo port %d: Address already in use; exit 1; }", four, four))
		if why, ok := s.Denial("", code, out); !ok || !strings.HasPrefix(why, "listening on port") {
			t.Errorf("%q is explained as %q", out, why)
		}
		if out, code := sh(t, s, "env | grep -i ^http_proxy= | cut -d: -f3 | tail -1"); code != 0 || out == "" {
			t.Fatalf("no proxy: %q", out)
		}
		if out, code := sh(t, s, fmt.Sprintf(`python3 -c 'import urllib.request as u; u.build_opener(u.ProxyHandler({"http": __import__("os").environ["HTTP_PROXY"]})).open("http://localhost:%d/")'`, other)); code == 0 {
			t.Errorf("the proxy leads to another port: %s", out)
		}
	})
}

// TestRegistriesInside: packages are fetched without a question, and nothing is sent.
func TestRegistriesInside(t *testing.T) {
	need(t, "python3")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s for %s", r.Method, r.Host) }))
	defer server.Close()
	c := testConfig(t, "bwrap")
	c.Settings.Network = config.SandboxNetwork{Registries: true, DeniedDomains: []string{"denied.example.com"}}
	c.Env = func(name string) string {
		return map[string]string{"GOPROXY": "https://registry.example.com,https://denied.example.com"}[name]
	}
	c.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}
	c.Dial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	s := open(t, c)
	if s.proxy == nil {
		t.Skipf("no network here: %v", s.level.Weaker)
	}
	for _, x := range []struct{ host, data, want, why string }{
		{"registry.example.com", "None", "GET for registry.example.com", ""},
		{"registry.example.com", `b"x"`, "", "uploads to package registries are not part of sandbox.network.registries"},
		{"other.example.com", "None", "", "other.example.com is refused, no rule allows it"},
		{"denied.example.com", "None", "", "denied.example.com is refused, the settings deny it"},
	} {
		out, code := sh(t, s, fmt.Sprintf(`python3 -c 'import urllib.request as u; print(u.urlopen("http://%s/", data=%s).read().decode())'`, x.host, x.data))
		if code == 0 != (x.why == "") || x.why == "" && out != x.want {
			t.Errorf("%s: code %d, %s", x.host, code, out)
		}
		if why, _ := s.Denial("", code, out); !strings.Contains(why, x.why) {
			t.Errorf("%s is explained as %q", x.host, why)
		}
	}
}

// TestLocalPortMissing: a port that cannot be had is told, and commands run.
func TestLocalPortMissing(t *testing.T) {
	c := testConfig(t, "bwrap")
	c.Settings.Network.LocalPorts = []string{"4999"}
	var notes []string
	c.Note = func(text string) { notes = append(notes, text) }
	s := open(t, c)
	b := s.mech.(*bubblewrap)
	if b.net == nil {
		t.Skipf("no network here: %v", s.level.Weaker)
	}
	b.ports() // they are taken by now
	if len(notes) != 1 || !strings.Contains(notes[0], "port 4999 of this machine is not reached") || len(s.level.Weaker) != 1 {
		t.Errorf("told %q, weaker %q", notes, s.level.Weaker)
	}
	if out, code := sh(t, s, "echo runs"); code != 0 || out != "runs" {
		t.Errorf("code %d: %s", code, out)
	}
}

// asUser runs one test of this binary as a user who is not root. It reports
// whether it did; false means that the caller is that user.
func asUser(t *testing.T) bool {
	t.Helper()
	var most unix.Rlimit
	switch err := unix.Getrlimit(unix.RLIMIT_NPROC, &most); {
	case os.Geteuid() != 0 && ownsProc():
		t.Skip("this user is root under another number")
	case os.Geteuid() != 0:
		return false
	case err != nil || most.Max < 200:
		t.Skipf("another user could have %d processes here (RLIMIT_NPROC)", most.Max)
	}
	dir, err := os.MkdirTemp("", "adze-user-") // t.TempDir is below a folder of root's own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	text, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "sandbox.test")
	if err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(bin, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("as a user: %v\n%s", err, out)
	case bytes.Contains(out, []byte("--- SKIP")):
		t.Skipf("as a user: %s", out)
	}
	return true
}

// TestFault38_ForkBomb: a user's command cannot have more processes than it
// is allowed, whatever that user runs outside.
func TestFault38_ForkBomb(t *testing.T) {
	if asUser(t) {
		return
	}
	c := testConfig(t, "bwrap")
	c.Processes = 20
	s := open(t, c)
	const bomb = `i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done; echo all of them`
	if out, code := sh(t, s, bomb); code == 0 || strings.Contains(out, "all of them") {
		t.Errorf("code %d: %s", code, out)
	}
	c.Processes = 200
	if out, code := sh(t, open(t, c), strings.ReplaceAll(bomb, "sleep 5", "true")); code != 0 || out != "all of them" {
		t.Errorf("the test is void: %d %s", code, out)
	}
}

// TestBarredNeedsNoCover: a user pays no mount for a file that only root reads,
// and cannot read it.
func TestBarredNeedsNoCover(t *testing.T) {
	if asUser(t) {
		return
	}
	s := open(t, testConfig(t, "bwrap"))
	steps, _ := s.policy.layout()
	for _, st := range steps {
		if st.path == "/etc/shadow" {
			t.Errorf("%+v", st)
		}
	}
	if out, code := sh(t, s, "cat /etc/shadow"); code == 0 {
		t.Error(out)
	}
}

// TestFault38_KernelTakesTheCommand: what runs inside is what the kernel ends
// first when memory runs out.
func TestFault38_KernelTakesTheCommand(t *testing.T) {
	both(t, func(t *testing.T, mech string) {
		s := open(t, testConfig(t, mech))
		for range 10 {
			if out, _ := sh(t, s, "cat /proc/self/oom_score_adj"); out != "500" {
				t.Fatalf("oom_score_adj %q", out)
			}
		}
	})
}

// TestFault38_WatchSeesInside: the limits that package proc watches count what
// is in a process namespace of its own, as that is seen from outside.
func TestFault38_WatchSeesInside(t *testing.T) {
	for script, limits := range map[string]proc.Limits{
		"for i in $(seq 60); do sleep 60 & done; wait": {Processes: 30},
		"head -c 400m /dev/zero | tail -n 1; sleep 60": {Memory: 100 << 20},
	} {
		s := open(t, testConfig(t, "bwrap"))
		table := proc.New(proc.Config{Limits: limits})
		defer table.Close(time.Second)
		pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: s.config.Dir, Env: []string{"PATH=/usr/bin:/bin"}}
		if _, err := s.Wrap(&pc, policy.Needs{}); err != nil {
			t.Fatal(err)
		}
		p, err := table.Start(pc, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if st := p.Status(); st.Over == "" {
			t.Errorf("%s: %+v", script, st)
		}
	}
}

// TestCredentialsInside: what sandbox.credentials names is neither in a file
// nor in the environment, with either mechanism, and cannot be moved out.
func TestCredentialsInside(t *testing.T) {
	both(t, func(t *testing.T, mech string) {
		c := testConfig(t, mech)
		key := filepath.Join(c.Home, "gh", "hosts.yml")
		if err := os.MkdirAll(filepath.Dir(key), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{key, filepath.Join(c.Dir, ".env")} {
			if err := os.WriteFile(f, []byte("planted"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c.Settings.Credentials = []byte(`{"files":[{"path":"~/gh/hosts.yml","mode":"deny"},{"path":".env","mode":"deny"}],"envVars":[{"name":"HOME_TOKEN","mode":"deny"}]}`)
		s := open(t, c)
		env := s.policy.environ([]string{"HOME_TOKEN=planted"}, "")
		if out, _ := sh(t, s, "cat ~/gh/hosts.yml; cp ~/gh/hosts.yml x; cat x; ls ~/gh >/dev/null && echo listed"); strings.Contains(out, "planted") || !strings.Contains(out, "listed") || value(env, "HOME_TOKEN") != "" {
			t.Errorf("%s %v", out, env)
		}
		if mech != "bwrap" {
			return // a named weakness: what is writable is readable
		}
		if out, _ := sh(t, s, "cat .env; mv .env y; cat y; ln .env z; cat z"); strings.Contains(out, "planted") {
			t.Error(out)
		}
	})
}

// TestListedSocket: one unix socket is reachable, and those in a folder that is
// listed; their neighbours are not, however many there are, and however fast
// others come and go. A command can make some of its own.
func TestListedSocket(t *testing.T) {
	need(t, "python3")
	c := testConfig(t, "bwrap")
	dir, err := os.MkdirTemp("", "adze-") // short: socket paths have a limit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "all"), 0o700); err != nil {
		t.Fatal(err)
	}
	serve := func(name string) func() {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return func() { _ = l.Close() }
	}
	works := map[string]bool{"yes": true, "no": false, "all/of them": true}
	for n := range works {
		t.Cleanup(serve(n))
	}
	for i := range 320 {
		t.Cleanup(serve(fmt.Sprint("other", i)))
	}
	c.Settings.Network.UnixSockets = []string{filepath.Join(dir, "yes"), filepath.Join(dir, "all")}
	s := open(t, c)
	works["late"] = false
	t.Cleanup(serve("late"))
	for i := range 320 {
		works[fmt.Sprint("other", i)] = false
	}
	stop, over := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(over)
		for {
			select {
			case <-stop:
				return
			default:
				var ends []func()
				for i := range 20 {
					if l, err := net.Listen("unix", filepath.Join(dir, fmt.Sprint("brief", i))); err == nil {
						ends = append(ends, func() { _ = l.Close() })
					}
				}
				for _, end := range ends {
					end()
				}
			}
		}
	}()
	defer func() { close(stop); <-over }()
	script := `import socket, sys, os
for p in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(p)
        print("reached " + os.path.relpath(p, os.path.dirname(sys.argv[1])))
    except OSError: pass
at = os.environ["TMPDIR"] + "/own"
if os.path.exists(at): os.unlink(at)
l = socket.socket(socket.AF_UNIX); l.bind(at); l.listen()
socket.socket(socket.AF_UNIX).connect(at)
print("own")`
	args := " " + filepath.Join(dir, "yes")
	for n := range works {
		args += fmt.Sprintf(" %q", filepath.Join(dir, n))
	}
	for i := range 5 {
		n := fmt.Sprint("between", i) // a parent that is kept warm must not show it
		works[n] = false
		t.Cleanup(serve(n))
		args += fmt.Sprintf(" %q", filepath.Join(dir, n))
		out, code := sh(t, s, "python3 -c '"+script+"'"+args)
		if code != 0 {
			t.Fatalf("code %d %s", code, out)
		}
		lines := strings.Split(out, "\n")
		for n, may := range works {
			if slices.Contains(lines, "reached "+n) != may {
				t.Errorf("%s: reached %v", n, !may)
			}
		}
		if !slices.Contains(lines, "own") {
			t.Errorf("it could make no socket of its own: %s", out)
		}
	}
}

// TestFoldersThatCannotBeMade: where the home folder cannot be written, temporary folders
// stand in, hidden from commands and gone at the end; what is protected is, there too.
func TestFoldersThatCannotBeMade(t *testing.T) {
	c := testConfig(t, "bwrap")
	file := filepath.Join(filepath.Dir(c.Dir), "file")
	put(t, file, "")
	c.Cache, c.Run = filepath.Join(file, "cache"), filepath.Join(file, "run") // also root cannot make these
	s := open(t, c)
	if out, code := sh(t, s, `echo x > "$XDG_CACHE_HOME" || mkdir -p "$XDG_CACHE_HOME" && echo '{}' > .mcp.json && echo made`); code != 0 || !strings.Contains(out, "made") {
		t.Errorf("%d %s", code, out)
	}
	found := s.Found()
	if len(found) != 1 || found[0].At == "" || !exists(found[0].At) {
		t.Fatalf("%+v", found)
	}
	if out, code := sh(t, s, "cat "+found[0].At); code == 0 {
		t.Errorf("a command reads what was taken away: %s", out)
	}
	if err := s.Close(); err != nil || exists(found[0].At) {
		t.Errorf("%v %v", err, exists(found[0].At))
	}
}
