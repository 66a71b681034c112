package sandbox

// Helper is what this program does when the sandbox started it again. It
// returns the exit code.
func Helper(args []string) int { return 2 }
