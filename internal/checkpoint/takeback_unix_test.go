//go:build unix

package checkpoint_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/effect"
)

// A pipe that a command made stays, as nobody could make it again, and that is said. A
// file that somebody changed after the command is put back and named.
func TestTakeBackNamesWhatOthersChanged(t *testing.T) {
	dir, with := gitTree(t, `printf old >mine; printf old >theirs`)
	tree, blobs := newTree(t, dir, func(c *checkpoint.Config) { with(c); c.Now = time.Now })
	c := run(t, tree, dir, `printf new >mine; printf new >theirs; mkfifo pipe`)
	shell(t, dir, `printf more >>theirs`)
	r := &checkpoint.Recorder{Blobs: blobs}
	_, problems, foreign, err := r.TakeBack(context.Background(), c.Files, func([]effect.Change) error { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(foreign) != 1 || filepath.Base(foreign[0]) != "theirs" {
		t.Errorf("changed by others: %q", foreign)
	}
	if !slices.ContainsFunc(problems, func(s string) bool { return strings.Contains(s, "pipe: a pipe, a socket or a device") }) {
		t.Errorf("problems: %q", problems)
	}
	if fi, err := os.Lstat(filepath.Join(dir, "pipe")); err != nil || fi.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe: %v, %v", fi, err)
	}
	for _, name := range []string{"mine", "theirs"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "old" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}
