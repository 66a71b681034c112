package sandbox

import (
	"fmt"
	"os"
	"strconv"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox/zygote"
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
	case len(args) == 1 && args[0] == "zygote":
		// When memory runs out, the kernel ends what comes from here first. To be
		// hidden it must be the last that is written about itself.
		_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0) // nothing else is lost without
		proc.Hide()
		err = zygote.Serve()
	case len(args) == 2 && args[0] == "landlock":
		fd, bad := strconv.ParseUint(args[1], 10, 16)
		if bad != nil || fd < 3 {
			err = fmt.Errorf("%q is not a descriptor", args[1])
			break
		}
		err = becomeLandlocked(uint(fd))
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
