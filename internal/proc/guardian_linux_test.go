package proc

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A guardian comes with the first command that needs one, is no process of a
// command, and is gone after Close.
func TestGuardianComesAndGoes(t *testing.T) {
	tab := New(Config{Guardian: true})
	defer tab.Close(0)
	if pid := tab.os.guardian.pid(); pid != 0 {
		t.Fatalf("it is there before any command: %d", pid)
	}
	p, _ := start(t, tab, "setsid sleep 1000 & sleep 1000 & exit 3", false)
	<-p.Done()
	if st := p.Status(); st.Code != 3 || len(st.Left) != 2 {
		t.Errorf("%+v", st)
	}
	pid := tab.os.guardian.pid()
	if pid == 0 || syscall.Kill(pid, 0) != nil {
		t.Fatalf("guardian %d is not there", pid)
	}
	if !tab.os.alone() {
		t.Error("the guardian counts as something a command left")
	}
	if ms := tab.os.below(); len(ms) != 0 {
		t.Errorf("left: %+v", ms)
	}
	other, _ := start(t, tab, "sleep 1000", true)
	if tab.os.alone() {
		t.Error("a command that runs is not seen")
	}
	other.Stop(0)
	<-other.Done()
	tab.Close(0)
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("guardian %d after Close: %v", pid, err)
	}
}

// Ahead starts the guardian before any command, once, and not after Close.
func TestGuardianAhead(t *testing.T) {
	tab := New(Config{Guardian: true})
	tab.Ahead()
	tab.Ahead()
	tab.wg.Wait()
	pid := tab.os.guardian.pid()
	if pid == 0 || syscall.Kill(pid, 0) != nil {
		t.Errorf("guardian %d is not there", pid)
	}
	p, _ := start(t, tab, "true", false)
	<-p.Done()
	if again := tab.os.guardian.pid(); again != pid {
		t.Errorf("guardian %d, then %d", pid, again)
	}
	tab.Close(0)
	tab.Ahead()
	if again := tab.os.guardian.pid(); again != 0 {
		t.Errorf("guardian %d after Close", again)
	}
	without := New(Config{})
	defer without.Close(0)
	without.Ahead()
	if pid := without.os.guardian.pid(); pid != 0 {
		t.Errorf("guardian %d, which nobody wanted", pid)
	}
}

// A guardian that was killed costs nothing but itself.
func TestGuardianIsGone(t *testing.T) {
	tab := New(Config{Guardian: true})
	defer tab.Close(0)
	p, _ := start(t, tab, "true", false)
	<-p.Done()
	if err := syscall.Kill(tab.os.guardian.pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-tab.os.guardian.done
	for range 3 {
		p, out := start(t, tab, "echo ok; sleep 1000 & true", false)
		<-p.Done()
		if out.String() != "ok\n" || len(p.Status().Left) != 1 {
			t.Errorf("%q %+v", out.String(), p.Status())
		}
	}
}

func TestOrphansAreFoundBySessionTagAndParent(t *testing.T) {
	self := os.Getpid()
	all := []task{ // children may come before their parents
		{pid: 13, ppid: 12, sid: 13}, {pid: 12, ppid: 11, sid: 10}, {pid: 10, ppid: 1, sid: 10}, {pid: 11, ppid: 1, sid: 10},
		{pid: 14, ppid: 13, sid: 13, zombie: true}, {pid: 20, ppid: 1, sid: 20}, {pid: self, ppid: 12, sid: 10},
	}
	var got []int
	for _, m := range orphans(map[int]ward{10: {pid: 10}}, all) {
		got = append(got, m.pid)
	}
	if len(got) != 4 || got[0] != 13 || got[1] != 12 || got[2] != 10 || got[3] != 11 {
		t.Errorf("%v", got)
	}
}

// What is said of commands that are over is forgotten, and nonsense is no
// command; what is to be seen to is, in its order and after them.
func TestGuardianReads(t *testing.T) {
	var got []string
	in := "+99999991 5 6\nhello\n+1 1 1\n=\"/a b\\n\"\n+-5 0 0\n-99999991\n-7\n=\"/c\"\n=x\n"
	if code := Guardian(strings.NewReader(in), func(e string) { got = append(got, e) }); code != 0 {
		t.Errorf("code %d", code)
	}
	if !slices.Equal(got, []string{"/a b\n", "/c"}) {
		t.Errorf("%q", got)
	}
	Guardian(strings.NewReader("=\"/c\"\n.\n"), func(e string) { t.Errorf("%s after an orderly end", e) })
}

// What confines commands is not something that they left, and is not looked into.
func TestHelpersAreAside(t *testing.T) {
	tab := New(Config{})
	defer tab.Close(0)
	helper := exec.Command("sleep", "1000")
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = helper.Process.Kill()
		_ = helper.Wait()
	}()
	if tab.os.alone() {
		t.Fatal("a child that nobody knows is not seen")
	}
	c := Command{Path: "/bin/sh", Args: []string{"sh", "-c", "true"}, Dir: "/", Helpers: []int{helper.Process.Pid}}
	p, err := tab.Start(c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if !tab.os.alone() || len(tab.os.near()) > 0 {
		t.Errorf("the helper counts as something a command left: %+v", tab.os.near())
	}
	left, _ := start(t, tab, "setsid sleep 1000 & exit 3", false)
	<-left.Done()
	if st := left.Status(); len(st.Left) != 1 {
		t.Errorf("what a command leaves beside a helper: %+v", st)
	}
	running, _ := start(t, tab, "sleep 1000", true)
	if near := tab.os.near(); tab.os.alone() || slices.ContainsFunc(near, func(m task) bool { return m.pid == helper.Process.Pid }) || len(near) == 0 {
		t.Errorf("%+v", near)
	}
	running.Stop(0)
	<-running.Done()
}
