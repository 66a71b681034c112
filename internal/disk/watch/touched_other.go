//go:build !linux

package watch

// Touched is not there on this system: WatchTouched gives nil.
type Touched struct{}

// WatchTouched gives nil: all folders have to be looked at.
func WatchTouched(string, int) *Touched { return nil }

// Add watches nothing.
func (*Touched) Add(string) bool { return false }

// Take knows nothing.
func (*Touched) Take() (dirs map[string]bool, all bool) { return nil, true }

// Close has nothing to do.
func (*Touched) Close() {}
