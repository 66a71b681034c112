package slowtest

import (
	"os"
	"runtime"
	"runtime/metrics"
	"testing"
)

// Alone skips a test in which one goroutine computes where the race detector is on: it
// takes four times as long there, and the detector has nothing to find. ./test makes
// such tests once more without it, and SEED=all makes them with it, too. A test that
// does start a goroutine fails. Where it has subtests, each of them is alone.
func Alone(t testing.TB) {
	t.Helper()
	if race && os.Getenv("SEED") != "all" {
		t.Skip("one goroutine, made without the race detector")
	}
	runtime.GC() // starts the goroutines of the collector
	before := started()
	t.Cleanup(func() {
		if n := started() - before; n > 0 {
			t.Errorf("%d goroutines were started: it is not for slowtest.Alone", n)
		}
	})
}

// started counts the goroutines that this process has ever started.
func started() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
