// Package rotation spreads slow checks over runs of the tests: each run makes a
// part of them, another part with another seed. Only tests import it. It keeps
// nothing: which part it is follows from names alone.
package rotation

import (
	"hash/fnv"
	"os"
	"testing"
)

// Due reports whether the check of this name is made in this run: a third of them
// are. $SEED, which ./test makes of the commit, says which; SEED=all is all of them.
func Due(name string) bool { return OneOf(3, name) }

// OneOf is Due for one of n checks.
func OneOf(n uint64, name string) bool { return due(n, name, os.Getenv("SEED")) }

// Turn skips a test that is not due in this run.
func Turn(t testing.TB) {
	t.Helper()
	if !Due(t.Name()) {
		t.Skip("its turn is with other commits; SEED=all makes it at any time")
	}
}

func due(n uint64, name, seed string) bool {
	h := fnv.New64a()
	h.Write([]byte(name + "\x00" + seed))
	return seed == "all" || h.Sum64()>>16%n == 0
}
