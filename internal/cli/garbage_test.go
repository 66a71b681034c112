package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// percent is the pace in force.
func percent() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

func TestOnlyTheFirstCollectionIsLate(t *testing.T) {
	usual := debug.SetGCPercent(90)
	t.Cleanup(func() { debug.SetGCPercent(usual) })
	for _, set := range []string{"GOGC=90", "GOMEMLIMIT=1GiB"} {
		if collectLater(System{Environ: []string{set}}); percent() != 90 {
			t.Errorf("%s: the pace is %d, want that of the environment", set, percent())
		}
	}
	runtime.GC() // nothing that was there before collects between these lines
	if collectLater(System{}); percent() != firstCollection {
		t.Fatalf("the pace is %d before the first collection, want %d", percent(), firstCollection)
	}
	for i := 0; percent() != 90; i++ {
		if i == 1000 {
			t.Fatalf("the pace is %d after collections, want 90", percent())
		}
		runtime.GC()
		runtime.Gosched()
	}
}
