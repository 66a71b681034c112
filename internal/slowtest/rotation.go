// Package slowtest leaves a part of the slow checks out of the tests of every day:
// always the same part, so that one tree has one result. ./test long makes all of them
// (SEED=all), and SEED=N makes another part. Only tests import it. It keeps nothing:
// which part it is follows from names alone.
package slowtest

import (
	"hash/fnv"
	"os"
	"testing"
)

// Due reports whether the check of this name is made in this run: a third of them
// are. $SEED says which; SEED=all is all of them.
func Due(name string) bool { return OneOf(3, name) }

// OneOf is Due for one of n checks.
func OneOf(n uint64, name string) bool { return due(n, name, os.Getenv("SEED")) }

// Turn skips a test that is not due in this run.
func Turn(t testing.TB) {
	t.Helper()
	if !Due(t.Name()) {
		t.Skip("a slow check: SEED=all makes it, and so does ./test long")
	}
}

func due(n uint64, name, seed string) bool {
	h := fnv.New64a()
	h.Write([]byte(name + "\x00" + seed))
	return seed == "all" || h.Sum64()>>16%n == 0
}
