package sandbox

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// nurseryOf is where s has its zygote.
func nurseryOf(t *testing.T, s *Sandbox) *nursery {
	t.Helper()
	b, ok := s.mech.(*bubblewrap)
	if !ok {
		t.Skip("no bubblewrap here")
	}
	return &b.nursery
}

// zygotePid is the number of the zygote there is, and how many commands were
// started by one.
func zygotePid(t *testing.T, s *Sandbox) (pid, births int) {
	t.Helper()
	n := nurseryOf(t, s)
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.now) == 0 {
		t.Fatalf("there is no zygote: %v", n.why)
	}
	return n.now[0].process.Pid, n.births
}

// TestSameAsFromNothing: what a command sees of itself does not depend on how
// it was started.
func TestSameAsFromNothing(t *testing.T) {
	const script = `grep -E '^(Sig|Cap|NoNew|Seccomp:|Uid|Gid|Groups|Threads|PPid|Pid|NSpid)' /proc/self/status
ulimit -Hn; ulimit -Sn; ulimit -a | grep -v 'POSIX message'; umask; pwd; echo "$0 $PWD"; nice; cat /proc/self/oom_score_adj /proc/self/timerslack_ns
ls -A /proc/1 | wc -l; ls /dev /dev/shm /dev/pts; stat -c '%a %u %g %F' /dev /dev/shm /dev/pts /dev/null /proc /proc/sys/user
readlink /proc/self/fd/0 /proc/self/fd/2 | sed 's/[0-9]*//g'; ls /proc/self/fd; cat /proc/self/uid_map /proc/self/gid_map /proc/self/setgroups
ls -d ~/.ssh; ls ~/.ssh; cat /proc/net/dev | wc -l; touch /proc/sys/user/max_user_namespaces /etc/x 2>&1; env | grep -v -e ^_= -e TMP -e TEMP -i -e CACHE | sort; exit 9`
	var outs []string
	for _, cold := range []bool{true, false} {
		c := testConfig(t, "bwrap")
		c.cold, c.Cache, c.Processes = cold, "", 1000
		s := open(t, c)
		out, code := sh(t, s, script)
		if code != 9 {
			t.Fatalf("code %d: %s", code, out)
		}
		if !cold {
			zygotePid(t, s)
		}
		outs = append(outs, strings.ReplaceAll(out, filepath.Dir(c.Dir), "ROOT"))
	}
	a, b := strings.Split(outs[0], "\n"), strings.Split(outs[1], "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Errorf("line %d\nfrom nothing %q\nfrom a zygote %q", i, a[min(i, len(a)-1)], b[min(i, len(b)-1)])
		}
	}
}

// TestNothingStays: what a command does to itself is not the next one's.
func TestNothingStays(t *testing.T) {
	s := open(t, testConfig(t, "bwrap"))
	const look = `ulimit -n; ulimit -f; umask; pwd; nice; echo "[$LEAK]"; trap; cat /proc/self/oom_score_adj; set -- /proc/[0-9]*; echo $#`
	before, _ := sh(t, s, look)
	if out, code := sh(t, s, `ulimit -n 50; ulimit -f 1; umask 077; cd /; export LEAK=1; trap '' INT TERM HUP; echo 900 > /proc/self/oom_score_adj
(trap '' HUP TERM; setsid sleep 30 & ) ; (renice -n 5 $$ || true) >/dev/null 2>&1; exit 0`); code != 0 {
		t.Fatal(out)
	}
	if after, _ := sh(t, s, look); after != before {
		t.Errorf("before %q, after %q", before, after)
	}
	if _, births := zygotePid(t, s); births != 3 {
		t.Errorf("a zygote started %d of 3", births)
	}
}

// TestExits: how a command ended comes through.
func TestExits(t *testing.T) {
	s := open(t, testConfig(t, "bwrap"))
	for script, want := range map[string]int{"exit 0": 0, "exit 255": 255, "kill -KILL $$": 137, "kill -SEGV $$": 139, "exec /no/such/program": 127, "kill -TERM $$; exit 4": 143} {
		if out, code := sh(t, s, script); code != want {
			t.Errorf("%s: %d, want %d: %s", script, code, want, out)
		}
	}
	table := proc.NewTable()
	defer table.Close(time.Second)
	for _, c := range []proc.Command{
		{Path: "/no/such/program", Args: []string{"x"}, Dir: s.config.Dir}, {Path: "/bin/sh", Args: []string{"sh", "-c", "true"}, Dir: s.config.Dir + "/gone"},
	} {
		if _, err := s.Wrap(&c, policy.Needs{}); err != nil {
			t.Fatal(err)
		}
		p, err := table.Start(c, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if <-p.Done(); p.Status().Code == 0 {
			t.Errorf("%s in %s ended with 0", c.Path, c.Dir)
		}
	}
	zygotePid(t, s)
}

// TestZygoteEnds: bubblewrap starts what a zygote cannot, and another one
// takes its place.
func TestZygoteEnds(t *testing.T) {
	s := open(t, testConfig(t, "bwrap"))
	if out, code := sh(t, s, "echo one"); code != 0 || out != "one" {
		t.Fatal(out, code)
	}
	first, _ := zygotePid(t, s)
	n := nurseryOf(t, s)
	_ = n.now[0].process.Kill()
	if out, code := sh(t, s, "echo two"); code != 0 || out != "two" {
		t.Fatal(out, code)
	}
	if out, code := sh(t, s, "echo three"); code != 0 || out != "three" {
		t.Fatal(out, code)
	}
	second, births := zygotePid(t, s)
	if first == second || births != 2 {
		t.Errorf("zygote %d after %d, which started %d", second, first, births)
	}
}

// TestZygoteFollowsLayout: with another layout comes another zygote, and a
// command whose layout is its own alone gets none.
func TestZygoteFollowsLayout(t *testing.T) {
	c := testConfig(t, "bwrap")
	s := open(t, c)
	sh(t, s, "true")
	first, _ := zygotePid(t, s)
	if err := os.MkdirAll(filepath.Join(c.Dir, ".vscode"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if out, code := sh(t, s, "echo x > .vscode/settings.json"); code == 0 {
			t.Fatalf("it could write what is protected: %s", out)
		}
	}
	second, births := zygotePid(t, s)
	if first == second || births != 3 { // the first with the new layout was bubblewrap's
		t.Errorf("zygote %d after %d; %d started by one", second, first, births)
	}
	if out, code := shOpen(t, s, "echo x > .vscode/settings.json", filepath.Join(c.Dir, ".vscode")); code != 0 {
		t.Fatalf("what is opened for a command cannot be written: %s", out)
	}
	if out, code := sh(t, s, "echo y > .vscode/settings.json"); code == 0 {
		t.Fatalf("the next command can write it too: %s", out)
	}
}

// TestZygoteSeesReplaced: a zygote whose mounts went with what they were
// mounted over starts nothing.
func TestZygoteSeesReplaced(t *testing.T) {
	c := testConfig(t, "bwrap")
	for _, f := range []string{".vscode/settings.json", ".envrc"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(c.Dir, f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.Dir, f), []byte("before"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, c)
	sh(t, s, "true")
	first, _ := zygotePid(t, s)
	beside := filepath.Join(c.Dir, "beside")
	if err := errors.Join(os.WriteFile(beside, []byte("new"), 0o644), os.Rename(beside, filepath.Join(c.Dir, ".envrc"))); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if out, code := sh(t, s, "echo x > .envrc"); code == 0 {
			t.Fatalf("it could write what is protected: %s", out)
		}
	}
	if second, _ := zygotePid(t, s); first == second {
		t.Error("the zygote is the same")
	}
}

// TestSideBySide: commands that run at once see nothing of each other, and many
// processes of one do not keep another from its own.
func TestSideBySide(t *testing.T) {
	c := testConfig(t, "bwrap")
	c.Processes = 60
	s := open(t, c)
	table := proc.NewTable()
	defer table.Close(time.Second)
	begin := func(script string) (*proc.Process, *lines) {
		pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: c.Dir, Env: []string{"PATH=" + os.Getenv("PATH")}}
		if _, err := s.Wrap(&pc, policy.Needs{}); err != nil {
			t.Fatal(err)
		}
		out := newLines()
		p, err := table.Start(pc, out)
		if err != nil {
			t.Fatal(err)
		}
		return p, out
	}
	many, out := begin("i=0; while [ $i -lt 55 ]; do sleep 60 & i=$((i+1)); done; echo full; wait")
	out.wait(t, "full")
	if text, code := sh(t, s, `for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.01 & done; wait; set -- /proc/[0-9]*; echo $#; (true | true | true) && echo fine`); code != 0 || text != "2\nfine" {
		t.Errorf("beside it: %d %q", code, text)
	}
	many.Stop(0)
	<-many.Done()
	if err := unix.Kill(many.Pid, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("it is there still: %v", err)
	}
	zygotePid(t, s)
}

// lines is output that can be waited for.
type lines struct{ came chan string }

func newLines() *lines { return &lines{make(chan string, 1000)} }

func (l *lines) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		l.came <- strings.TrimSpace(line)
	}
	return len(b), nil
}

func (l *lines) wait(t *testing.T, want string) {
	t.Helper()
	late := time.After(time.Minute)
	var seen []string
	for {
		select {
		case got := <-l.came:
			if seen = append(seen, got); slices.Contains(seen, want) {
				return
			}
		case <-late:
			t.Fatalf("%q did not come, but %q", want, seen)
		}
	}
}

// TestNothingRunsUnconfined: who starts a wrapped command by its path alone,
// although a zygote is to start it, starts nothing.
func TestNothingRunsUnconfined(t *testing.T) {
	c := testConfig(t, "bwrap")
	s := open(t, c)
	zygotePid(t, s)
	pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "echo ran"}, Dir: c.Dir}
	if _, err := s.Wrap(&pc, policy.Needs{}); err != nil {
		t.Fatal(err)
	}
	defer pc.After()
	if out, err := (&exec.Cmd{Path: pc.Path, Args: pc.Args, Dir: pc.Dir}).CombinedOutput(); err == nil || len(out) > 0 {
		t.Errorf("it ran: %s", out)
	}
}

// TestZygoteGoes with its sandbox.
func TestZygoteGoes(t *testing.T) {
	s, err := New(t.Context(), testConfig(t, "bwrap"))
	if err != nil {
		t.Skip(err)
	}
	sh(t, s, "true")
	pid, _ := zygotePid(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("the zygote is there still: %v", err)
	}
}
