// Package rotation spreads slow checks over runs of the tests: each run makes a
// third of them, another third with another seed. Only tests import it. It keeps
// nothing: which third it is follows from names alone.
package rotation

import (
	"hash/fnv"
	"os"
)

// Due reports whether the check of this name is made in this run. $SEED, which
// ./test makes of the commit, says which third is; SEED=all is all of them.
func Due(name string) bool { return due(name, os.Getenv("SEED")) }

func due(name, seed string) bool {
	h := fnv.New64a()
	h.Write([]byte(name + "\x00" + seed))
	return seed == "all" || h.Sum64()>>16%3 == 0
}
