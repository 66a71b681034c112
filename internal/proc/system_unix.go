//go:build unix

package proc

import (
	"os"
	"syscall"

	"github.com/adze-agent/adze/internal/policy"
)

// System reports whether dir is a folder of the system's programs that only root may
// write: programs are taken from it also where a session works above it, as in a container
// that starts in /.
func System(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || info.Mode()&0o022 != 0 || !policy.HoldsPrograms(dir) {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}
