package conf_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/git/conf"
)

// What the index vouches for is called once, whichever hash the repository has: that
// has to be found out by reading it.
func TestCleanFiles(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir := t.TempDir()
		run := func(args ...string) string {
			t.Helper()
			c := exec.Command("git", append([]string{"-C", dir}, args...)...)
			c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+dir)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v %s", args, err, out)
			}
			return strings.TrimSpace(string(out))
		}
		run("init", "-q", "--object-format="+format)
		then := time.Now().Add(-time.Hour).Truncate(time.Second).Add(5000)
		for _, name := range []string{"a", "b/c"} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
		}
		run("add", "-A")
		repo, err := conf.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		ok := conf.CleanFiles(repo, func(c conf.Clean) {
			if got[c.Path] != "" || c.MTime != then.UnixNano() || c.Size != int64(len(c.Path)) {
				t.Errorf("%s: %+v, again: %q", format, c, got[c.Path])
			}
			got[c.Path] = c.ID
		})
		if want := run("hash-object", "a") + run("hash-object", "b/c"); !ok || got["a"]+got["b/c"] != want || len(got) != 2 {
			t.Errorf("%s: %v, %v; want %s", format, got, ok, want)
		}
	}
}
