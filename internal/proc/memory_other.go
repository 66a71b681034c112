//go:build !linux

package proc

// Memory is how much memory this process and what it starts can have, in
// bytes; 0 is unknown. Limits on memory are watched on Linux only.
func Memory() int64 { return 0 }
