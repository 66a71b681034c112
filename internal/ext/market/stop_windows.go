package market

import "os/exec"

// together is for systems with process groups.
func together(*exec.Cmd) {}
