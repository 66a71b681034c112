//go:build unix

package trust_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/adze-agent/adze/internal/trust"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o644) }

// TestSocketIsNothing: the sandbox puts a socket where .mcp.json must not come
// into being; a folder is looked at meanwhile, and nobody can read a socket.
func TestSocketIsNothing(t *testing.T) {
	r := newRig(t)
	if err := syscall.Mknod(filepath.Join(r.Root, ".mcp.json"), syscall.S_IFSOCK, 0); err != nil {
		t.Skip(err) // some systems let only root make one this way
	}
	r.check(trust.Nothing)
}
