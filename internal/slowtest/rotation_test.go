package slowtest

import (
	"fmt"
	"testing"
)

// Each check has its turn within some commits, and each run makes about a third.
func TestDue(t *testing.T) {
	const checks, seeds = 300, 40
	for c := range checks {
		n := 0
		for s := range seeds {
			if due(3, fmt.Sprint("check ", c), fmt.Sprint(s)) {
				n++
			}
		}
		if n < 3 || n > seeds*2/3 {
			t.Errorf("check %d is made in %d of %d runs", c, n, seeds)
		}
		if !due(3, fmt.Sprint("check ", c), "all") {
			t.Errorf("all is not all: check %d", c)
		}
	}
	for s := range seeds {
		n := 0
		for c := range checks {
			if due(3, fmt.Sprint("check ", c), fmt.Sprint(s)) {
				n++
			}
		}
		if n < checks/5 || n > checks/2 {
			t.Errorf("seed %d: %d of %d", s, n, checks)
		}
	}
}
