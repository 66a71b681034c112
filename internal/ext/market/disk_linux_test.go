package market_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/adze-agent/adze/internal/ext/market"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A disk that is full is said in a line, and leaves what was there.
func TestFullDisk(t *testing.T) {
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("no file system can be mounted here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := market.Open(market.Config{Dir: filepath.Join(small, "plugins"), Environ: environ(t)})
	big := plain("big", "1.0.0")
	big["data.bin"] = strings.Repeat("x", 2<<20)
	add(t, s, place(t, t.TempDir(), "shop", map[string]files{"fmt": plain("fmt", "1.0.0"), "big": big}))
	install(t, s, "fmt")
	if _, err := s.Prepare(t.Context(), "big", market.Policy{}); err == nil || !strings.Contains(err.Error(), "the disk is full") || hint.Of(err) == "" {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(small, "plugins", "staging")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	if active, problems := s.Active(enabled(t, "fmt@shop", "big@shop")); len(active) != 1 || len(problems) != 1 {
		t.Error(active, problems)
	}
}
