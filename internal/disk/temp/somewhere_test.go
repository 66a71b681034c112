package temp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/text/hint"
)

// A TMPDIR of a machine that is gone, or of another session, ends no start.
func TestMakeSomewhere(t *testing.T) {
	missing, there := filepath.Join(t.TempDir(), "gone"), t.TempDir()
	f, _, in, err := MakeSomewhere([]string{missing, there})
	if err != nil || in != there || !strings.HasPrefix(f.Path, there) {
		t.Fatalf("%q %+v %v", in, f, err)
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	if _, _, _, err = MakeSomewhere([]string{missing}); err == nil || !strings.Contains(err.Error(), missing) || !strings.Contains(hint.Of(err), "TMPDIR") {
		t.Errorf("%v", err)
	}
}
