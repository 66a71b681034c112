package app

import (
	"os"
	"testing"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
)

// TestMain plays the parts for which adze starts itself again: without them
// each guardian would be all of these tests once more.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case sandbox.HelperArg:
			os.Exit(sandbox.Helper(os.Args[2:]))
		case proc.GuardianArg:
			os.Exit(proc.Guardian(os.Stdin, sandbox.Recover))
		}
	}
	os.Exit(m.Run())
}
