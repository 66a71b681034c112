package sandbox

import (
	"io"
	"os"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// TestDescriptorsOfTheCommand: what a command was given to talk to us reaches
// it inside, under the same numbers, and what the mechanism needs for itself does not.
func TestDescriptorsOfTheCommand(t *testing.T) {
	for _, name := range []string{"bwrap", "landlock"} {
		for _, network := range []bool{true, false} {
			c := testConfig(t, name)
			if !network {
				c.Settings.Network = config.SandboxNetwork{AllowedDomains: []string{}}
			}
			s := open(t, c)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			in, give, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := give.WriteString("hello\n"); err != nil {
				t.Fatal(err)
			}
			give.Close()
			pc := proc.Command{
				Path: "/bin/sh", Args: []string{"sh", "-c", `read x <&3 && echo "$x" >&4; for f in 5 6 7 8; do [ ! -e /dev/fd/$f ] || echo "$f is open" >&4; done`},
				Dir: c.Dir, Env: []string{"PATH=/usr/bin:/bin"}, Files: []*os.File{in, w},
			}
			if _, err := s.Wrap(&pc, policy.Needs{}); err != nil {
				t.Fatal(err)
			}
			table := proc.NewTable()
			p, err := table.Start(pc, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			got, err := io.ReadAll(r)
			if string(got) != "hello\n" || err != nil || p.Status().Code != 0 {
				t.Errorf("%s, network %v: %q %v %+v", name, network, got, err, p.Status())
			}
			r.Close()
			table.Close(0)
		}
	}
}
