package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAdvisories holds published weaknesses against a whole session with a
// real sandbox: go test -run 'TestAdvisories/CVE-2026-46406'.
func TestAdvisories(t *testing.T) {
	t.Run("CVE-2026-46406_temporary_folder", func(t *testing.T) {
		dir, home := scratch(t)
		tmp, victim := filepath.Join(filepath.Dir(dir), "tmp"), filepath.Join(filepath.Dir(dir), "victim")
		for _, d := range []string{tmp, victim} {
			if err := os.Mkdir(d, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(d, 0o777|fs.ModeSticky); err != nil {
				t.Fatal(err)
			}
		}
		// Somebody else knows what the folders of other programs are called.
		for _, name := range []string{"adze", fmt.Sprint("adze-", os.Geteuid()), "adze-s-0", "adze-s-1"} {
			if err := os.Symlink(victim, filepath.Join(tmp, name)); err != nil {
				t.Fatal(err)
			}
		}
		planted := filepath.Join(tmp, "adze-s-42")
		if err := os.Mkdir(planted, 0o777); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-24 * time.Hour)
		if err := os.Chtimes(planted, old, old); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			if err := os.Chown(planted, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("TMPDIR", tmp)
		r := connectRig(t, dir, home, nil, "echo text >$TMPDIR/file; mktemp; echo $TMPDIR")
		r.prompt()
		text, _ := r.result()
		lines := strings.Split(strings.TrimSpace(text), "\n")
		own := lines[len(lines)-1]
		if all := filepath.Dir(own); filepath.Dir(all) != tmp || all == planted || len(lines) != 2 || filepath.Dir(lines[0]) != own {
			t.Errorf("%s", text)
		}
		if info, err := os.Lstat(own); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%v %v", info, err)
		}
		if b, err := os.ReadFile(filepath.Join(own, "file")); err != nil || string(b) != "text\n" {
			t.Errorf("%q %v", b, err)
		}
		for _, d := range []string{victim, planted} {
			if d == planted && os.Geteuid() != 0 {
				continue // it is our own here, and old: swept
			}
			if list, err := os.ReadDir(d); err != nil || len(list) > 0 {
				t.Errorf("%s was used: %v %v", d, list, err)
			}
		}
		other := connectRig(t, dir, home, nil, "echo $TMPDIR")
		other.prompt()
		if text, _ := other.result(); strings.TrimSpace(text) == own {
			t.Errorf("two sessions share %s", own)
		}
	})
	t.Run("changelog_2.1.321_what_only_reads_runs_inside_too", func(t *testing.T) {
		dir, home := scratch(t)
		r := connectRig(t, dir, home, nil, "readlink /proc/self/ns/pid")
		r.prompt()
		text, _ := r.result()
		outside, err := os.Readlink("/proc/self/ns/pid")
		if err != nil || !strings.HasPrefix(text, "pid:") || strings.TrimSpace(text) == outside {
			t.Errorf("inside %q, outside %q %v", text, outside, err)
		}
	})
	t.Run("changelog_2.1.309_no_start_files", func(t *testing.T) {
		dir, home := scratch(t)
		marker := filepath.Join(dir, "ran")
		for _, n := range []string{".bashrc", ".bash_profile", ".profile", "start"} {
			if err := os.WriteFile(filepath.Join(home, n), []byte("echo "+n+" >>"+marker+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r := connectRig(t, dir, home, func(o *options) {
			o.Environ = append(o.Environ, "BASH_ENV="+home+"/start", "ENV="+home+"/start")
		}, "echo first >f; bash -c 'echo second'")
		r.prompt()
		if text, _ := r.result(); strings.TrimSpace(text) != "second" {
			t.Error(text)
		}
		if b, err := os.ReadFile(marker); err == nil {
			t.Errorf("start files ran: %s", b)
		}
	})
}
