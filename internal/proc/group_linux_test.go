package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// own is the control group of this process, when it has one for itself with
// the controllers that limits need. One can be had with
//
//	systemd-run --user --scope -p Delegate=yes ./proc.test -test.run Group
func own(t *testing.T) (dir string, tab *Table) {
	t.Helper()
	tab = New(Config{Groups: true, Limits: Limits{Memory: 150_000_000, Processes: 5}})
	tab.guards = true // nobody watches: what holds is the kernel
	tab.os.groups.prepare("/sys/fs/cgroup")
	if tab.os.groups.base == "" {
		tab.Close(0)
		t.Skip("needs a control group (version 2) that this process has for itself")
	}
	return tab.os.groups.base, tab
}

func TestGroupHolds(t *testing.T) {
	for name, c := range map[string]struct{ script, over, out string }{
		"memory":           {"HOG 400; echo not reached", "its processes used more than 150.0 MB of memory", ""},
		"memory, far away": {"setsid -f HOG 400; exec sleep 1000", "its processes used more than 150.0 MB of memory", ""},
		"processes":        {"i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i+1)); done; echo not reached", "", "Cannot fork"},
	} {
		base, tab := own(t)
		out := &buffer{}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		p, err := tab.Start(Command{
			Path: "/bin/dash", Args: []string{"dash", "-c", "read x; " + strings.ReplaceAll(c.script, "HOG", "'"+self+"' hog")}, Gate: true, Dir: t.TempDir(),
			Env: []string{"PATH=/usr/bin:/bin", "GOGC=off"},
		}, out)
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if st := p.Status(); st.Over != c.over || st.Code == 0 || !strings.Contains(out.String(), c.out) || strings.Contains(out.String(), "not reached") {
			t.Errorf("%s: %+v\n%s", name, st, out.String())
		}
		if n := p.os.count(p); n != 0 {
			t.Errorf("%s: %d processes are left", name, n)
		}
		tab.guards = false
		tab.Close(0)
		if dirs, _ := filepath.Glob(filepath.Join(base, "adze-*")); len(dirs) > 0 {
			t.Errorf("%s: left %q", name, dirs)
		}
		if lists(base, "cgroup.subtree_control") {
			t.Errorf("%s: the group still divides", name)
		}
	}
}

// What runs in a group is ended like anything else, and a table whose group
// cannot be had starts commands all the same.
func TestGroupOfAForeigner(t *testing.T) {
	mount := t.TempDir() // no file system of groups
	for _, f := range []string{"cgroup.controllers", "cgroup.subtree_control"} {
		if err := os.WriteFile(filepath.Join(mount, f), []byte("cpu memory pids\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tab := New(Config{Groups: true})
	defer tab.Close(0)
	tab.os.groups.prepare(mount)
	p, out := start(t, tab, "echo ok", false)
	<-p.Done()
	if out.String() != "ok\n" || p.Status().Over != "" {
		t.Errorf("%q %+v", out.String(), p.Status())
	}
	if dirs, _ := filepath.Glob(filepath.Join(mount, "*", "adze-*")); len(dirs) > 0 {
		t.Errorf("left %q", dirs)
	}
}
