//go:build unix

package search

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestPipesLinksAndLockedFolders(t *testing.T) {
	outside := grow(t, map[string]string{"secret": "needle"})
	root := grow(t, map[string]string{"a": "needle", "real/b": "needle", "locked/c": "needle"})
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	for name, to := range map[string]string{"out": outside, "file": filepath.Join(outside, "secret"), "in": "real", "loop": ".", "alias": "real/b"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a", "locked/c", "real/b"}
	if os.Geteuid() != 0 {
		if err := os.Chmod(filepath.Join(root, "locked"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(root, "locked"), 0o755)
		want = []string{"a", "real/b"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	files, report, err := Grep(ctx, Tree{Root: root}, Query{Pattern: "needle", Names: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Rel)
	}
	equal(t, "grep", got, want)
	if os.Geteuid() != 0 && (report.Denied != 1 || report.Example != "locked") {
		t.Errorf("report: %+v", report)
	}
	found, _, err := Glob(ctx, Tree{Root: root}, "*")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range found {
		list = append(list, f.Rel)
	}
	if s := strings.Join(list, " "); !strings.Contains(s, "alias") || strings.Contains(s, "file") || strings.Contains(s, "pipe") {
		t.Errorf("glob: %q", list)
	}
	if _, _, err := Grep(ctx, Tree{Root: filepath.Join(root, "pipe")}, Query{Pattern: "x"}); err == nil {
		t.Error("a pipe as root is searched")
	}
}

// TestSwappedFolder swaps a folder for a link to the outside again and again
// while it is searched: what is outside must never be read.
func TestSwappedFolder(t *testing.T) {
	outside := grow(t, map[string]string{"x/secret": "needle outside\n"})
	root := grow(t, map[string]string{"d/x/f": "needle inside\n", "d/y": "1"})
	d, kept := filepath.Join(root, "d"), filepath.Join(root, "kept")
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() { // ends when done is closed
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
			}
			os.Rename(d, kept)
			os.Symlink(outside, d)
			os.Remove(d)
			os.Rename(kept, d)
		}
	}()
	for range 150 {
		files, _, err := Grep(context.Background(), Tree{Root: root, Workers: 2}, Query{Pattern: "needle"})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			for _, l := range f.Lines {
				if strings.Contains(l.Text, "outside") {
					t.Fatal("read a file outside of the tree")
				}
			}
		}
	}
	close(done)
	<-stopped
}
