//go:build !linux

package app

import (
	"os"
	"testing"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
)

// TestMain plays the guardian, for which adze starts itself again: without it
// each guardian would be all of these tests once more.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == proc.GuardianArg {
		os.Exit(proc.Guardian(os.Stdin, sandbox.Recover))
	}
	os.Exit(m.Run())
}
