// Package pattern compiles regular expressions when they are first used, so
// that the start of a process does not wait for those of all packages.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy is a function that returns the compiled expression, and panics when it
// cannot be compiled. Several goroutines may call it.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
