package sandbox

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// A hall is a sandbox in which commands are to meet.
type hall struct {
	t     *testing.T
	s     *Sandbox
	table *proc.Table
}

func newHall(t *testing.T) *hall {
	t.Helper()
	h := &hall{t: t, s: open(t, testConfig(t, "bwrap")), table: proc.NewTable()}
	t.Cleanup(func() { h.table.Close(time.Second) })
	sh(t, h.s, "true")
	zygotePid(t, h.s)
	return h
}

// begin starts a script; stays: in the background.
func (h *hall) begin(script string, stays bool) (*proc.Process, *lines) {
	h.t.Helper()
	c := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: h.s.config.Dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere"}, Keep: stays}
	if _, err := h.s.Wrap(&c, policy.Needs{}); err != nil {
		h.t.Fatal(err)
	}
	out := newLines()
	p, err := h.table.Start(c, out)
	if err != nil {
		h.t.Fatal(err)
	}
	return p, out
}

// server starts one that says its number in server.pid, and on USR1 writes "here".
func (h *hall) server() *proc.Process {
	h.t.Helper()
	p, out := h.begin(`SECRET=hunter22 exec sh -c 'trap "echo here > here" USR1; echo $$ > server.pid; echo up; while :; do sleep 0.05; done'`, true)
	out.wait(h.t, "up")
	return p
}

// run runs a script to its end.
func (h *hall) run(script string) (string, int) {
	h.t.Helper()
	return shIn(h.t, h.s, h.table, script)
}

func shIn(t *testing.T, s *Sandbox, table *proc.Table, script string) (string, int) {
	t.Helper()
	c := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: s.config.Dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere"}}
	if _, err := s.Wrap(&c, policy.Needs{}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	p, err := table.Start(c, &out)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	return strings.TrimSpace(out.String()), p.Status().Code
}

// gone waits for the end of a process.
func (h *hall) gone(p *proc.Process) {
	h.t.Helper()
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		h.t.Fatal("it did not end")
	}
}

func goesOn(p *proc.Process) bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// empty fails when a process with mark in its command line is there.
func (h *hall) empty(mark string) {
	h.t.Helper()
	for _, line := range outside(h.t, mark) {
		h.t.Errorf("it is there still: %s", line)
	}
}

// outside are the processes of the machine with mark in their command line, but for
// the test itself, and not inside of a longer number: names of folders may have any.
func outside(t *testing.T, mark string) (out []string) {
	t.Helper()
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile(`(^|[^0-9])` + regexp.QuoteMeta(mark) + `($|[^0-9])`)
	for _, e := range list {
		if b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline"); err == nil && marked.Match(b) && !strings.Contains(string(b), "sandbox.test\x00") {
			out = append(out, fmt.Sprintf("%s %q", e.Name(), b))
		}
	}
	return out
}

// TestReachesBackground: a later command sees and ends the processes of one in the
// background, and goes on when that ends.
func TestReachesBackground(t *testing.T) {
	h := newHall(t)
	server := h.server()
	if out, code := h.run(`p=$(cat server.pid); kill -0 $p && kill -USR1 $p && while ! [ -e here ]; do sleep 0.02; done; tr '\0' ' ' < /proc/$p/cmdline`); code != 0 || !strings.Contains(out, "echo here > here") {
		t.Errorf("%d: %s", code, out)
	}
	if !goesOn(server) {
		t.Fatal("the server ended with another command")
	}
	if out, code := h.run(`kill -KILL $(cat server.pid); while kill -0 $(cat server.pid) 2>/dev/null; do sleep 0.02; done; sleep 0.3; echo went on`); code != 0 || out != "went on" {
		t.Errorf("%d: %s", code, out)
	}
	h.gone(server)
	if code := server.Status().Code; code != 137 {
		t.Errorf("the server ended with %d", code)
	}
	if out, _ := h.run(`set -- /proc/[0-9]*; echo $#`); out != "2" {
		t.Errorf("a command alone sees %s processes", out)
	}
}

// TestReachesNoMore of a command in the same room than to see and end it.
func TestReachesNoMore(t *testing.T) {
	h := newHall(t)
	server := h.server()
	out, code := h.run(`p=$(cat server.pid); n=0
for f in environ mem maps auxv fd/1 root/etc/passwd cwd/server.pid exe fdinfo/1 syscall stack; do head -c 1 /proc/$p/$f >/dev/null 2>&1 && echo reached $f; n=$((n+1)); done
for f in environ mem exe fd/0 root/etc cwd; do for q in 1 $PPID; do head -c 1 /proc/$q/$f >/dev/null 2>&1 && echo reached $q/$f; ls /proc/$q/$f/ >/dev/null 2>&1 && echo reached $q/$f; done; done
readlink /proc/$p/fd/0 /proc/$p/cwd /proc/$p/exe
ls /proc/$p/cwd/ /proc/$p/root/ 2>/dev/null
for ns in user mnt pid ipc; do [ -e /proc/$p/ns/$ns ] && echo reached ns/$ns; done
kill -KILL 1; kill -TERM 1; [ -e /proc/1/stat ] || echo ended the first; echo tried $n`)
	if code != 0 || out != "tried 11" {
		t.Errorf("%d: %s", code, out)
	}
	if !goesOn(server) {
		t.Error("the server ended")
	}
}

// TestEndsInRoom: whatever a command in a room starts ends with it, and the others go on.
func TestEndsInRoom(t *testing.T) {
	for name, script := range map[string]string{
		"left":          `sleep 7701 & sleep 7701 &`,
		"forked twice":  `(setsid sh -c 'trap "" TERM HUP; sleep 7701; :' >/dev/null 2>&1 &) & wait`,
		"holds output":  `(setsid sleep 7701 &) & wait`,
		"first killed":  `(setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 7701; done' >/dev/null 2>&1 &) & sleep 0.05; kill -KILL $PPID; sleep 7701`,
		"first stopped": `(setsid sh -c 'sleep 0.1; kill -KILL '$PPID'; exec sleep 7701' >/dev/null 2>&1 &) & kill -STOP $PPID; sleep 7701`,
		"forks on": `cat > chain.sh <<'END'
sh chain.sh 7701 >/dev/null 2>&1 &
sh chain.sh 7701 >/dev/null 2>&1 &
exit
END
cat > one.sh <<'END'
setsid sh one.sh 7701 >/dev/null 2>&1 &
END
sh one.sh; sleep 0.1; kill -KILL $PPID`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t)
			server := h.server()
			p, _ := h.begin(script, false)
			h.gone(p)
			h.empty("7701")
			if !goesOn(server) && server.Status().Over == "" {
				t.Errorf("the server ended with it: %+v", server.Status())
			}
			if name != "forks on" && !goesOn(server) {
				t.Error("the room had to end")
			}
		})
	}
}

// TestRoomEndsWithLast: with the last command everything in the room ends, also what one
// that ended the others has left.
func TestRoomEndsWithLast(t *testing.T) {
	h := newHall(t)
	server := h.server()
	p, _ := h.begin(`(setsid sh -c 'sleep 7702; :' >/dev/null 2>&1 &); kill -KILL -1`, false)
	h.gone(p)
	h.gone(server)
	h.empty("7702")
	l := &nurseryOf(t, h.s).now[0].rooms
	if l.mu.Lock(); l.now != nil || l.cold {
		t.Errorf("%+v", l.now)
	}
	l.mu.Unlock()
	if out, code := h.run("echo fine"); code != 0 || out != "fine" {
		t.Error(code, out)
	}
}

// TestStoppedCommandEnds although another command in its room has stopped all of it.
func TestStoppedCommandEnds(t *testing.T) {
	h := newHall(t)
	server := h.server()
	if _, code := h.run(`kill -STOP $(cat server.pid) $(cut -d' ' -f4 /proc/$(cat server.pid)/stat)`); code != 0 {
		t.Error(code)
	}
	server.Stop(50 * time.Millisecond)
	h.gone(server)
}

// TestRoomCannotBeKept: a room whose command does not end is ended as a whole.
func TestRoomCannotBeKept(t *testing.T) {
	h := newHall(t)
	server := h.server()
	p, out := h.begin("echo up; sleep 7703", false)
	out.wait(t, "up")
	l := &nurseryOf(t, h.s).now[0].rooms
	l.mu.Lock()
	in := l.now
	l.mu.Unlock()
	in.stop()
	h.gone(p)
	h.gone(server)
	h.empty("7703")
	if why := server.Status().Over; !strings.Contains(why, "would not end") {
		t.Errorf("%q", why)
	}
	if err := unix.Kill(in.process.Pid, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("the room is there still: %v", err)
	}
}

// TestOpenedIsAlone: what may write a protected path shares its processes with nobody.
func TestOpenedIsAlone(t *testing.T) {
	h := newHall(t)
	h.server()
	if err := os.MkdirAll(h.s.config.Dir+"/.vscode", 0o755); err != nil {
		t.Fatal(err)
	}
	if out, _ := shOpen(t, h.s, `set -- /proc/[0-9]*; echo $#`, h.s.config.Dir+"/.vscode"); out != "2" {
		t.Errorf("it sees %s processes", out)
	}
}
