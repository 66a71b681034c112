package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/proc"
)

// sandboxExec is the system's own, never one from PATH.
const sandboxExec = "/usr/bin/sandbox-exec"

type probed struct {
	level Level
	start func(ctx context.Context, s *Sandbox) (mechanism, error)
}

// drop has nothing to end here.
func (probed) drop() {}

func probeAll(ctx context.Context, c Config, _ bool) probed {
	none := Level{Name: "none", Strength: None, Why: sandboxExec + " does not work here", Hint: "run adze in a virtual machine"}
	if c.Mechanism != "" && c.Mechanism != "seatbelt" {
		none.Why = fmt.Sprintf("there is no %q on macOS", c.Mechanism)
		return probed{level: none}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, sandboxExec, "-p", "(version 1)(allow default)", "/usr/bin/true").CombinedOutput()
	if err != nil {
		none.Why += ": " + strings.TrimSpace(string(out))
		return probed{level: none}
	}
	l := Level{Name: "seatbelt", Strength: Partial, Detail: sandboxExec, Weaker: []string{
		"processes outside can be seen",
		"a command that leaves its process group may run on after it",
	}, Why: "macOS has no namespaces"}
	return probed{l, startSeatbelt}
}

type seatbelted struct {
	s    *Sandbox
	port int
}

func startSeatbelt(_ context.Context, s *Sandbox) (mechanism, error) {
	m := &seatbelted{s: s}
	if !s.policy.Network.Off() {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		m.port = l.Addr().(*net.TCPAddr).Port
		s.serve(l)
	}
	return m, nil
}

func (m *seatbelted) wrap(c *proc.Command, p Policy, _ held) error {
	if _, err := os.Stat(sandboxExec); err != nil {
		return err
	}
	args := []string{"sandbox-exec", "-p", seatbelt(p, m.port), c.Path}
	if len(c.Args) > 1 {
		args = append(args, c.Args[1:]...)
	}
	c.Path, c.Args = sandboxExec, args
	return nil
}

func (m *seatbelted) close() error { return nil }
