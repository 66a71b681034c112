package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/proc"
)

// limitProcesses has a command inside keep to so many processes and threads
// (RLIMIT_NPROC), as the wall behind the watch that package proc keeps. It is
// set inside, where the count is that of the sandbox alone: outside it would
// be that of everything the person runs. The kernel does not hold root to it.
//
// A shell sets it by a word of its own, which costs nothing; anything else
// through prlimit(1), if that is there.
func limitProcesses(c *proc.Command, most int, prlimit string) {
	if most <= 0 {
		return
	}
	if i := slices.Index(c.Args, "-c"); i > 0 && i+1 < len(c.Args) && isShell(c.Path) {
		c.Args = slices.Clone(c.Args)
		c.Args[i+1] = fmt.Sprintf("{ ulimit -u %d || ulimit -p %d; } 2>/dev/null; ", most, most) + c.Args[i+1] // -p is dash's
		return
	}
	var has unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &has); prlimit == "" || err == nil && has.Max < uint64(most) {
		return // what holds already is stricter, and prlimit would fail to raise it
	}
	args := []string{"prlimit", fmt.Sprintf("--nproc=%d", most), "--", c.Path}
	if len(c.Args) > 1 {
		args = append(args, c.Args[1:]...)
	}
	c.Path, c.Args = prlimit, args
}

func isShell(path string) bool {
	return slices.Contains([]string{"bash", "sh", "dash"}, strings.TrimPrefix(filepath.Base(path), "-"))
}

// offer makes two pipes: on info bwrap says its child's number, and the child
// goes on when something comes on begin. Between, the kernel is told to end the
// child's processes first when memory runs out: what is set for bwrap itself may
// come after its fork. done must be called at the end.
func offer() (info, begin *os.File, done func(), err error) {
	r, info, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	begin, w, err := os.Pipe()
	if err != nil {
		_, _ = r.Close(), info.Close()
		return nil, nil, nil, err
	}
	go func() { // ends when bwrap has spoken, or with done
		if child, err := childOf(r); err == nil {
			_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", child), []byte("500"), 0) // it may be over
		}
		_, _ = w.WriteString("\n") // it may be over
		_, _ = r.Close(), w.Close()
	}()
	return info, begin, func() { _ = r.Close() }, nil
}

// childOf is the number of bwrap's child, as it says on the descriptor of --info-fd.
func childOf(info io.Reader) (pid int, err error) {
	var said struct {
		Child int `json:"child-pid"`
	}
	if err := json.NewDecoder(io.LimitReader(info, 4096)).Decode(&said); err != nil {
		return 0, err
	}
	if said.Child <= 1 {
		return 0, fmt.Errorf("bubblewrap says that its child is %d", said.Child)
	}
	return said.Child, nil
}
