package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// cachedConfig has a cache of the person's, and a folder for private ones.
func cachedConfig(t *testing.T) (c Config, entry string) {
	t.Helper()
	c = testConfig(t, "bwrap")
	c.Cache = filepath.Join(c.Home, ".adze", "cache")
	entry = filepath.Join(c.Home, ".cache", "go-build", "ab", "entry")
	for _, dir := range []string{c.Cache, filepath.Dir(entry)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(entry, []byte("built"), 0o644); err != nil {
		t.Fatal(err)
	}
	return c, entry
}

// TestCachesAreWarm: what the person has built is there inside, what is written
// inside is there the next time, and none of it outside.
func TestCachesAreWarm(t *testing.T) {
	for _, name := range []string{"zygote", "from nothing", "without a network"} {
		t.Run(name, func(t *testing.T) {
			c, entry := cachedConfig(t)
			c.cold = name == "from nothing"
			if name != "without a network" {
				c.Settings.Network.AllowedDomains = []string{"example.com"}
			}
			s := open(t, c)
			if b := s.mech.(*bubblewrap); !b.cached {
				t.Skip("this kernel or file system has no layers for users")
			}
			if out, code := sh(t, s, `cat "$GOCACHE/ab/entry" && echo inside > "$GOCACHE/ab/entry" && mkdir "$GOCACHE/cd" && echo new > "$GOCACHE/cd/entry" && cat "$GOCACHE/ab/entry"`); code != 0 || out != "builtinside" {
				t.Errorf("code %d: %q", code, out)
			}
			if out, code := sh(t, s, `cat "$GOCACHE/ab/entry" "$GOCACHE/cd/entry"; rm -r "$GOCACHE/ab"; ls "$GOCACHE"`); code != 0 || out != "inside\nnew\ncd" {
				t.Errorf("the next command: code %d: %q", code, out)
			}
			other := open(t, c) // at the same time: it has the private ones alone
			if out, code := sh(t, other, `ls "$GOCACHE"; mkdir -p "$GOCACHE" && echo x > "$GOCACHE/x" && cat "$GOCACHE/x"`); code != 0 || out != "x" {
				t.Errorf("another session: code %d: %q", code, out)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			later := open(t, c)
			if out, code := sh(t, later, `ls "$GOCACHE" && cat "$GOCACHE/cd/entry"`); code != 0 || out != "cd\nnew" {
				t.Errorf("later: code %d: %q", code, out)
			}
			if b, err := os.ReadFile(entry); err != nil || string(b) != "built" {
				t.Errorf("outside: %q %v", b, err)
			}
			if list, _ := os.ReadDir(filepath.Dir(filepath.Dir(entry))); len(list) != 1 {
				t.Errorf("outside: %v", list)
			}
		})
	}
}

// TestCachesShowNoSecrets: a cache with something hidden in it is not shown.
func TestCachesShowNoSecrets(t *testing.T) {
	c, entry := cachedConfig(t)
	c.Settings.Filesystem.DenyRead = []string{filepath.Dir(entry)}
	s := open(t, c)
	if out, code := sh(t, s, `cat "$GOCACHE/ab/entry"`); code == 0 {
		t.Errorf("it could be read: %s", out)
	}
}
