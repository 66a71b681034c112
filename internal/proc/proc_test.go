//go:build unix

package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "hog" {
		hog(os.Args[2])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == GuardianArg {
		os.Exit(Guardian(os.Stdin, func(string) {}))
	}
	goleak.VerifyTestMain(m)
}

// hog uses this many MB, says so, and waits to be ended.
func hog(megabytes string) {
	n, err := strconv.Atoi(megabytes)
	if err != nil {
		panic(err)
	}
	for range n { // one at a time, so that it takes a moment
		held, err := unix.Mmap(-1, 0, 1_000_000, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			panic(err)
		}
		touch(held)
	}
	fmt.Println("up")
	_, _ = bufio.NewReader(os.NewFile(3, "never")).ReadByte() // of what the test holds open
}

// touch makes the pages of b real. The race detector would make several of
// each.
//
//go:norace
func touch(b []byte) {
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	wrote chan struct{} // closed with the first write; nil tells nobody

	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wrote != nil && b.b.Len() == 0 && len(p) > 0 {
		close(b.wrote)
	}
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func start(t *testing.T, tab *Table, script string, keep bool) (*Process, *buffer) {
	t.Helper()
	out := &buffer{wrote: make(chan struct{})}
	p, err := tab.Start(Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", "read x; exec </dev/null; " + script}, Dir: t.TempDir(),
		Env: []string{"PATH=/usr/bin:/bin"}, Keep: keep, Gate: true,
	}, out)
	if err != nil {
		t.Fatal(err)
	}
	return p, out
}

func TestStatus(t *testing.T) {
	tab := NewTable()
	defer tab.Close(0)
	for script, want := range map[string]Status{
		"exit 0":        {},
		"exit 7":        {Code: 7},
		"kill -9 $$":    {Code: 137, Signal: "killed"},
		"kill -SEGV $$": {Code: 139, Signal: "segmentation fault"},
	} {
		p, _ := start(t, tab, script, false)
		<-p.Done()
		if got := p.Status(); got.Code != want.Code || got.Signal != want.Signal || got.Left != nil {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
		p.Stop(0) // after the end: nothing, and it does not block
	}
}

func TestOutputInterleaves(t *testing.T) {
	tab := NewTable()
	defer tab.Close(0)
	p, out := start(t, tab, "for i in 1 2 3; do echo o$i; echo e$i >&2; done", false)
	<-p.Done()
	if got := out.String(); got != "o1\ne1\no2\ne2\no3\ne3\n" {
		t.Errorf("%q", got)
	}
}

func TestNoTerminalAndOwnSession(t *testing.T) {
	tab := NewTable()
	defer tab.Close(0)
	p, out := start(t, tab, "(: </dev/tty) 2>/dev/null && echo terminal; ps -o sid= -p $$ | tr -d ' '; echo $$; cat", false)
	<-p.Done()
	f := strings.Fields(out.String())
	if len(f) != 2 || f[0] != f[1] {
		t.Errorf("session and pid: %q", f)
	}
}

func TestKeepWaitsForTheLastChild(t *testing.T) {
	tab := NewTable()
	defer tab.Close(0)
	p, out := start(t, tab, "(sleep 0.3; echo late) & echo early", true)
	<-p.exited
	<-p.Done()
	if out.String() != "early\nlate\n" || p.Status().Left != nil {
		t.Errorf("%q %+v", out.String(), p.Status())
	}
}

func TestStopTakesTheShorterGrace(t *testing.T) {
	tab := NewTable()
	defer tab.Close(0)
	p, out := start(t, tab, "trap '' TERM; echo deaf; while :; do sleep 1; done", false)
	<-out.wrote // before that it is not deaf
	p.Stop(time.Hour)
	p.Stop(0)
	<-p.Done()
	if st := p.Status(); st.Code != 137 {
		t.Errorf("%+v", st)
	}
}

func TestStartFails(t *testing.T) {
	tab := NewTable()
	if _, err := tab.Start(Command{Path: "/nope/sh", Args: []string{"sh"}}, &buffer{}); err == nil {
		t.Error("no error")
	}
	tab.Close(0)
	if _, err := tab.Start(Command{Path: "/bin/sh", Args: []string{"sh"}}, &buffer{}); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}

// Commands of other packages are never reaped or ended here, also not while
// ours come and go.
func TestForeignChildrenAreLeftAlone(t *testing.T) {
	tab := NewTable()
	defer tab.Close(0)
	other := exec.Command("/bin/sh", "-c", "sleep 0.4; exit 5")
	other.SysProcAttr = attributes() // a session of its own, as an MCP server may have
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	quick := exec.Command("/bin/sh", "-c", "exit 6")
	quick.SysProcAttr = attributes()
	if err := quick.Start(); err != nil { // dead, and nobody waits for it yet
		t.Fatal(err)
	}
	for range 5 {
		p, _ := start(t, tab, "sleep 100 & true", false)
		<-p.Done()
	}
	for want, c := range map[int]*exec.Cmd{5: other, 6: quick} {
		if err := c.Wait(); c.ProcessState == nil || c.ProcessState.ExitCode() != want {
			t.Errorf("Wait: %v", err)
		}
	}
}

func TestLookupAvoidsTheWorkspace(t *testing.T) {
	work, sys := t.TempDir(), t.TempDir()
	for _, d := range []string{work, sys} {
		if err := os.WriteFile(d+"/tool", []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := Lookup("tool", ".:"+work+":"+work+"/../"+"x:"+sys, []string{work}); !ok || got != sys+"/tool" {
		t.Errorf("%q %v", got, ok)
	}
	if got, ok := Lookup("tool", work, []string{work}); ok {
		t.Errorf("found %q", got)
	}
}

func TestFault38ForkBomb(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are counted on Linux only")
	}
	for name, script := range map[string]string{
		"a row":   "i=0; while [ $i -lt 60 ]; do setsid sleep 1000 & i=$((i+1)); done; wait",
		"a tree":  `f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; wait; sleep 1000; }; f 6`, // 127
		"hunters": `trap '' TERM HUP; f() { if [ $1 -gt 0 ]; then (setsid sh -c "sleep 1000" &); f $(($1-1)) & fi; exec sleep 1000; }; f 40`,
	} {
		tab := New(Config{Limits: Limits{Processes: 30}}) // a small bomb is enough
		p, _ := start(t, tab, script, false)
		<-p.Done()
		if st := p.Status(); st.Over != "it had more than 30 processes" || st.Code != 137 {
			t.Errorf("%s: %+v", name, st)
		}
		if n := p.os.count(p); n != 0 {
			t.Errorf("%s: %d processes are left", name, n)
		}
		tab.Close(0)
	}
}

func BenchmarkStart(b *testing.B) {
	for name, c := range map[string]Config{"plain": {}, "guardian": {Guardian: true}} {
		b.Run(name, func(b *testing.B) {
			tab := New(c)
			defer tab.Close(0)
			for b.Loop() {
				p, err := tab.Start(Command{Path: "/bin/sh", Args: []string{"sh", "-c", ":"}, Dir: "/"}, &buffer{})
				if err != nil {
					b.Fatal(err)
				}
				<-p.Done()
			}
		})
	}
}
