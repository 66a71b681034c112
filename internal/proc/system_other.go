//go:build !unix

package proc

// System reports whether dir is a folder of the system's programs that only root may
// write; here none is known to be.
func System(string) bool { return false }
