// Package apptest lets the tests of a package start sessions with all that adze has.
package apptest

import (
	"os"
	"testing"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
)

// Main runs the tests of a package, and plays the parts for which adze starts itself
// again. Without it each guardian and each sandbox would be all of the tests once more,
// which start the next ones, until the machine stands still.
func Main(m *testing.M) {
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
