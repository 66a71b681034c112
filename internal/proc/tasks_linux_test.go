package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Numbers are whole wherever one read ends and the next begins.
func TestNumbers(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "7 ": {7}, "12 345 6789 ": {12, 345, 6789}, "4194303 1 22 ": {4194303, 1, 22}} {
		file := filepath.Join(t.TempDir(), "children")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for size := 1; size < 20; size++ {
			fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := numbers(fd, make([]byte, size), nil); !reflect.DeepEqual(got, want) {
				t.Errorf("%q, %d at once: %v", text, size, got)
			}
			_ = unix.Close(fd)
		}
	}
}

func TestChildrenOfNobody(t *testing.T) {
	b, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		t.Skip(err)
	}
	beyond, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	if kids, ok := childrenOf(beyond + 1); ok || len(kids) > 0 {
		t.Errorf("children of a process that cannot be: %v", kids)
	}
}

// A tag is the same in both places, of a process that runs and of one that is dead.
func TestTagOf(t *testing.T) {
	c := exec.Command("/bin/sleep", "100")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	pid, want := c.Process.Pid, tag{soft: 1000, hard: 2000}
	if err := unix.Prlimit(pid, unix.RLIMIT_MSGQUEUE, &unix.Rlimit{Cur: want.soft, Max: want.hard}, nil); err != nil {
		t.Fatal(err)
	}
	check := func(how string) {
		if called, read := tagOf(pid), tagFromFile(pid); called != want || read != want {
			t.Errorf("%s: %v by the call, %v in the file, want %v", how, called, read, want)
		}
	}
	check("alive")
	_ = c.Process.Kill()
	ended(pid) // and not reaped
	check("dead")
}

// A command that left nothing is known to have left nothing, also while this process
// has other children: an MCP server runs for hours. One that left a process is not.
func TestCleanBesideOthers(t *testing.T) {
	tab := NewTable()
	defer tab.Close(0)
	other := exec.Command("/bin/sleep", "100")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	for script, clean := range map[string]bool{"true": true, "setsid sleep 100 &": false} {
		p, _ := start(t, tab, script, false)
		<-p.Done()
		if p.clean != clean || !p.others {
			t.Errorf("%s: clean %t, others %t", script, p.clean, p.others)
		}
	}
	tab.os.mu.Lock()
	defer tab.os.mu.Unlock()
	if len(tab.os.tags) != 0 {
		t.Errorf("%d tags are kept", len(tab.os.tags))
	}
}
