package proc

import (
	"os"
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
