//go:build unix

package confedit

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/adze-agent/adze/internal/config"
)

// Settings on a real disk: what Update writes Load reads, and nothing that
// lies where a settings file should be blocks or breaks a start.
func TestLoadFromDisk(t *testing.T) {
	home := t.TempDir()
	folders := config.Folders{Config: filepath.Join(home, ".adze"), State: filepath.Join(home, ".adze")}
	file := filepath.Join(folders.Config, "settings.json")
	good := &Good{Dir: filepath.Join(folders.State, "last-good")}
	o := config.Options{Files: Disk{}, Keeper: good, Home: home, Folders: folders, Dir: home, Env: func(string) string { return "" }, ManagedDir: filepath.Join(home, "etc")}
	load := func() *config.Config {
		t.Helper()
		c, err := config.Load(o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := load(); c.Files[0].State != config.Missing || len(c.Problems) > 0 {
		t.Errorf("first start: %+v", c.Report)
	}
	e := Editor{Good: good}
	for _, edit := range []Edit{{Op: Set, Key: "tools.max_parallel", Value: []byte("3")}, {Op: Add, Key: "permissions.deny", Value: []byte(`"Bash(rm:*)"`)}, {Op: Set, Key: "env.A_B", Value: []byte(`"1"`)}} {
		if err := e.Update(t.Context(), Target{Path: file}, edit); err != nil {
			t.Fatal(err)
		}
	}
	c := load()
	if c.Tools.MaxParallel != 3 || len(c.Permissions.Deny) != 1 || c.Permissions.Deny[0].Line != 7 || c.Env["A_B"] != "1" || len(c.Problems) > 0 {
		b, _ := os.ReadFile(file)
		t.Errorf("%+v\n%s", c, b)
	}
	// Fault 7.
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	if c = load(); c.Tools.MaxParallel != 3 || c.Files[0].State != config.LastGood {
		t.Errorf("%+v", c)
	}
	// Fault 9: what it forbade before still is, and everything else asks.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Skip(err)
	}
	if c = load(); !strings.Contains(c.Permissions.Unsafe, "named pipe") || c.Files[0].State != config.Broken || len(c.Permissions.Deny) != 1 {
		t.Errorf("%+v", c)
	}
	if os.Getuid() != 0 {
		// Rules in a folder that may not be entered are not known: ask.
		if err := os.Chmod(folders.Config, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(folders.Config, 0o700)
		if c = load(); !strings.Contains(c.Permissions.Unsafe, "closed to this user") {
			t.Errorf("%+v", c)
		}
		// Fault 13: in a home that may not be entered there is no file.
		above := filepath.Dir(folders.Config)
		if err := os.Chmod(above, 0); err != nil {
			t.Fatal(err)
		}
		// The administrator's folder is in it here, too, and what that forbids is not known.
		if c = load(); !strings.Contains(c.Permissions.Unsafe, "managed.d could not be read") || c.Files[0].State != config.Missing {
			t.Errorf("%+v", c)
		}
		if err := os.Chmod(above, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// A managed file that belongs to somebody else only forbids.
	if os.Getuid() != 0 {
		write(t, filepath.Join(home, "etc", "managed.json"), `{"model":"theirs","permissions":{"deny":["X"]}}`)
		if c = load(); c.Model != "" || len(c.Permissions.Deny) == 0 {
			t.Errorf("%+v", c)
		}
	}
}
