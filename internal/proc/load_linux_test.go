package proc

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// hogs starts programs that use memory: HOG 70 in the script is one that uses
// 70 MB. up waits until n of them do.
func hogs(t *testing.T, tab *Table, script string) (p *Process, up func(n int)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	never, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hold.Close() })
	lines := make(lines, 100)
	p, err = tab.Start(Command{
		Path: "/bin/bash", Gate: true, Args: []string{"bash", "-c", "read x; exec </dev/null; " + strings.ReplaceAll(script, "HOG", "'"+self+"' hog")}, Dir: t.TempDir(),
		Env: []string{"PATH=/usr/bin:/bin", "GOGC=off"}, Files: []*os.File{never},
	}, lines)
	if err != nil {
		t.Fatal(err)
	}
	return p, func(n int) {
		t.Helper()
		for range n {
			select {
			case <-lines:
			case <-p.Done():
				t.Fatalf("it ended: %+v", p.Status())
			}
		}
	}
}

// lines gets one value for each line that is written to it.
type lines chan struct{}

func (l lines) Write(b []byte) (int, error) {
	for range strings.Count(string(b), "\n") {
		l <- struct{}{}
	}
	return len(b), nil
}

func TestFault38MemoryHogIsKilled(t *testing.T) {
	for name, script := range map[string]string{
		"itself":       "exec HOG 400",
		"a child":      "HOG 400; echo not reached",
		"far away":     "(setsid -f HOG 400 &); sleep 1000",
		"all together": "for i in 1 2 3 4; do setsid HOG 70 & done; wait",
	} {
		tab := New(Config{Limits: Limits{Memory: 200_000_000}})
		p, _ := hogs(t, tab, script)
		<-p.Done()
		if st := p.Status(); st.Over != "its processes used more than 200.0 MB of memory" || st.Code != 137 {
			t.Errorf("%s: %+v", name, st)
		}
		if n := p.os.count(p); n != 0 {
			t.Errorf("%s: %d processes are left", name, n)
		}
		tab.Close(0)
	}
}

// All commands together have the limit too, and the largest pays.
func TestFault38CommandsTogether(t *testing.T) {
	tab := New(Config{Limits: Limits{Memory: 250_000_000}})
	defer tab.Close(0)
	small, up := hogs(t, tab, "HOG 80")
	up(1)
	large, _ := hogs(t, tab, "HOG 220")
	<-large.Done()
	if st := large.Status(); st.Over != "the commands that ran used more than 250.0 MB of memory together, and this one most" {
		t.Errorf("%+v", st)
	}
	select {
	case <-small.Done():
		t.Errorf("the smaller one is gone: %+v", small.Status())
	default:
	}
}

// Tables with one account share the limit: the largest command of all pays,
// whichever table's it is.
func TestFault38TablesTogether(t *testing.T) {
	for _, first := range []int{80, 150} {
		account := &Account{}
		limits := Limits{Memory: 200_000_000}
		one, other := New(Config{Limits: limits, Account: account}), New(Config{Limits: limits, Account: account})
		a, up := hogs(t, one, fmt.Sprintf("HOG %d", first))
		up(1)
		b, _ := hogs(t, other, fmt.Sprintf("HOG %d", 230-first))
		large, small := a, b
		if first == 80 {
			large, small = b, a
		}
		<-large.Done()
		if st := large.Status(); st.Over != "the commands that ran used more than 200.0 MB of memory together, and this one most" {
			t.Errorf("%d first: %+v", first, st)
		}
		select {
		case <-small.Done():
			t.Errorf("%d first: the smaller one is gone: %+v", first, small.Status())
		default:
		}
		one.Close(0)
		other.Close(0)
		if u := account.others(nil); u != (use{}) {
			t.Errorf("%d first: what is over is counted still: %+v", first, u)
		}
	}
}

// What forked processes share is there once.
func TestSharedMemoryCountsOnce(t *testing.T) {
	const limit = 170_000_000
	tab := NewTable()
	defer tab.Close(0)
	p, up := hogs(t, tab, `x=$(head -c 40000000 /dev/zero | tr '\0' a); for i in 1 2 3 4 5; do (echo up; read -r <&3; : $x) & done; wait`)
	up(5)
	var apart int64
	for _, m := range tab.os.owned([]*Process{p})[p] {
		apart += private(m.pid, m.resident)
	}
	if apart < limit {
		t.Fatalf("each for itself they use %d bytes: this test shows nothing", apart)
	}
	if u := tab.os.loads([]*Process{p}, limit)[p]; u.memory > limit || u.memory < 40_000_000 || u.processes != 6 {
		t.Errorf("%+v, want about 80 MB; each for itself %d", u, apart)
	}
}

func TestMemoryOfTheMachine(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	meminfo := file("MemTotal:       1000 kB\nMemFree:        500 kB\n")
	for name, c := range map[string]struct {
		fs   fstest.MapFS
		want int64
	}{
		"none":      {fstest.MapFS{}, 0},
		"no groups": {fstest.MapFS{"proc/meminfo": meminfo}, 1_024_000},
		"version 2": {fstest.MapFS{
			"proc/meminfo": meminfo, "proc/self/cgroup": file("0::/user.slice/a.scope\n"),
			"sys/fs/cgroup/user.slice/a.scope/memory.max": file("max\n"), "sys/fs/cgroup/user.slice/memory.max": file("500000\n"),
		}, 500_000},
		"in a container": {fstest.MapFS{
			"proc/meminfo": meminfo, "proc/self/cgroup": file("0::/docker/0815\n"), "sys/fs/cgroup/memory.max": file("400000\n"),
		}, 400_000},
		"version 1": {fstest.MapFS{
			"proc/meminfo": meminfo, "proc/self/cgroup": file("9:cpu:/\n4:memory:/x\n0::/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   file("9223372036854771712\n"),
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": file("300000\n"),
		}, 300_000},
		"more than there is": {fstest.MapFS{
			"proc/meminfo": meminfo, "proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("9999999999\n"),
		}, 1_024_000},
	} {
		if got := memory(c.fs); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := Memory(); got < 100_000_000 {
		t.Errorf("this machine has %d bytes", got)
	}
}

// BenchmarkLook is one look of guard at a command of ten processes.
func BenchmarkLook(b *testing.B) {
	tab := NewTable()
	defer tab.Close(0)
	lines := make(lines, 100)
	p, err := tab.Start(Command{
		Path: "/bin/bash", Args: []string{"bash", "-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; echo up; wait"}, Dir: "/",
		Env: []string{"PATH=/usr/bin:/bin"},
	}, lines)
	if err != nil {
		b.Fatal(err)
	}
	<-lines
	for b.Loop() {
		tab.os.loads([]*Process{p}, 1<<40)
	}
}

// near finds what below finds, but for what confines and guards commands.
func TestNearIsBelow(t *testing.T) {
	tab := New(Config{Guardian: true})
	defer tab.Close(0)
	p, up := hogs(t, tab, "(sleep 1000 & HOG 1) & (setsid -f HOG 1) & HOG 1 & HOG 1 & wait")
	up(4)
	pids := func(ms []task) string {
		var out []int
		for _, m := range ms {
			if m.pid != tab.os.guardian.pid() {
				out = append(out, m.pid)
			}
		}
		slices.Sort(out)
		return fmt.Sprint(out)
	}
	below, near, after := "", "", "none"
	for below != after { // a process may end between two looks, such as the one that setsid leaves
		below, near, after = pids(tab.os.below()), pids(tab.os.near()), pids(tab.os.below())
	}
	if len(tab.os.owned([]*Process{p})[p]) < 7 || below != near {
		t.Errorf("below %s, near %s", below, near)
	}
}
