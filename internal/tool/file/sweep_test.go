//go:build unix

package file

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What a killed adze left beside a file goes with the next save in its folder;
// everything that only looks like it, is young, or belongs to others stays.
func TestLeftoversOfAKilledEditAreSwept(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "precious")
	old := time.Now().Add(-time.Hour)
	put := func(path string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	put(outside, old)
	put(in(".adze-ABCDEFGHIJ27.tmp"), old)
	put(in(".adze-ABCDEFGHIJ22.tmp"), time.Now()) // somebody saves this moment
	stays := []string{".adze-ABCDEFGHIJ22.tmp", ".adze-ABCDEFGHIJ2.tmp", ".adze-ABCDEFGHIJ277.tmp", ".adze-abcdefghij27.tmp", "x.adze-ABCDEFGHIJ27.tmp", ".adze-ABCDEFGHIJ27.tmp~"}
	for _, n := range stays[1:] {
		put(in(n), old)
	}
	if err := os.Symlink(outside, in(".adze-LINKLINKLINK.tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(in(".adze-FOLDERFOLDER.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(in(".adze-FOLDERFOLDER.tmp"), old, old); err != nil {
		t.Fatal(err)
	}
	stays = append(stays, ".adze-LINKLINKLINK.tmp", ".adze-FOLDERFOLDER.tmp", "new")
	if os.Geteuid() == 0 {
		put(in(".adze-OTHERSOTHERS.tmp"), old)
		if err := os.Chown(in(".adze-OTHERSOTHERS.tmp"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		stays = append(stays, ".adze-OTHERSOTHERS.tmp")
	}
	d := realDisk()
	if _, err := d.save(in("new"), []byte("1"), nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(stays)
	slices.Sort(got)
	if !slices.Equal(got, stays) {
		t.Errorf("left\n%q, want\n%q", got, stays)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}
