package cli

import (
	"runtime"
	"runtime/debug"
)

// firstCollection is the size of the heap, in percent of the runtime's own 4 MB, at which garbage
// is collected for the first time.
const firstCollection = 200

// collectLater lets a run that is over soon end without a collection: that of 4 MB takes a quarter of
// the CPU that one answer takes. What begins with the first collection is the runtime's usual
// pace. Where the environment sets a pace, that counts from the start.
func collectLater(sys System) {
	if sys.Env("GOGC") != "" || sys.Env("GOMEMLIMIT") != "" {
		return
	}
	usual := debug.SetGCPercent(firstCollection)
	// The cleanup is queued by the collection that does not find the mark any more.
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
