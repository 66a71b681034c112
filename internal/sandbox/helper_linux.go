package sandbox

import (
	"fmt"
	"os"
)

// Helper is what this program does when the sandbox started it again, with
// the arguments after HelperArg. It returns the exit code.
func Helper(args []string) int {
	if len(args) == 3 && args[0] == "try" {
		return try(args[1], args[2])
	}
	var err error
	switch {
	case len(args) == 1 && args[0] == "listen":
		err = listen()
	case len(args) == 1 && args[0] == "landlock":
		err = becomeLandlocked()
	default:
		err = fmt.Errorf("unknown request %q", args)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "adze: sandbox helper: %v\n", err)
		return helperFailed
	}
	return 0
}

// helperFailed is the exit code of a helper that could not do its work. The
// command did not run then.
const helperFailed = 125
