package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A bubblewrap that cannot do here what commands need is seen when it is to start
// them, and the next best counts, or nothing.
func TestBubblewrapThatDoesNotWork(t *testing.T) {
	for _, only := range []string{"", "bwrap"} {
		c := testConfig(t, only)
		tools := t.TempDir()
		c.TempRoot = t.TempDir()
		// The helper's network can be had; a /proc of its own cannot, as in a container.
		script := "#!/bin/sh\nfor a; do if [ \"$a\" = --proc ]; then echo \"bwrap: Can't mount proc on /newroot/proc\" >&2; exit 1; fi; done\nexec /usr/bin/bwrap \"$@\"\n"
		if err := os.WriteFile(filepath.Join(tools, "bwrap"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		c.Path = tools + ":/usr/bin:/bin"
		var cold string
		c.Cold = func(why string) { cold = why }
		s, err := New(context.Background(), c)
		if only == "bwrap" {
			if !errors.Is(err, errUnavailable) || !strings.Contains(err.Error(), "mount proc") {
				t.Errorf("got %v, want that it cannot mount proc", err)
			}
			if left, err := os.ReadDir(c.TempRoot); len(left) > 0 || err != nil {
				t.Errorf("left behind: %v, %v", left, err)
			}
			continue
		}
		if err != nil {
			t.Skipf("without bubblewrap: %v", err)
		}
		if l := s.Level(); l.Name != "landlock" || !strings.Contains(l.Why, "mount proc") || !strings.Contains(l.Hint, "systempaths") {
			t.Errorf("got %+v", l)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if cold != "" {
			t.Errorf("it was told that commands start slowly: %s", cold)
		}
	}
}

// A helper that ends before it listens costs commands the network, and nothing else.
func TestHelperThatDoesNotListen(t *testing.T) {
	c := testConfig(t, "bwrap")
	c.Settings.Network.AllowedDomains = []string{"example.com"}
	c.Self = "/bin/false"
	s, err := New(context.Background(), c)
	if err != nil {
		t.Skipf("without bubblewrap: %v", err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if l := s.Level(); !slices.ContainsFunc(l.Weaker, func(w string) bool { return strings.Contains(w, "no network at all") }) {
		t.Errorf("got %+v", l)
	}
	if out, code := sh(t, s, "echo ok"); out != "ok" || code != 0 {
		t.Errorf("a command: %q, code %d", out, code)
	}
}

// TestProcCovered: where a container covers parts of /proc, bubblewrap is tried before it is
// taken.
func TestProcCovered(t *testing.T) {
	const whole = "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	for text, want := range map[string]bool{
		whole: false, whole + "30 22 0:30 / /proc/sys/fs/binfmt_misc rw - autofs x rw\n": false, "": true,
		whole + "31 22 0:21 /sys /proc/sys ro - proc proc rw\n": true, whole + "32 22 0:40 / /proc/acpi ro - tmpfs tmpfs ro\n": true,
		"22 27 0:21 / /proc ro,relatime - proc proc rw\n": true, "22 27 0:21 / /procs rw - proc proc rw\n": true,
	} {
		if got := procCovered(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
