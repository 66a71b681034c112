package bash

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/policy"
)

// maxSleep is how long a command may do nothing but sleep.
const maxSleep = 10 * time.Second

// sleeps is how long a script sleeps that does nothing else; 0 of any other, and where that
// is not known.
func sleeps(actions []policy.Action) time.Duration {
	if len(actions) != 1 {
		return 0
	}
	e, ok := actions[0].(policy.Exec)
	if !ok || len(e.Argv) < 2 || e.Argv[0] != "sleep" || e.Loose {
		return 0
	}
	sum := 0.0
	for _, word := range e.Argv[1:] {
		unit := 1.0
		for suffix, seconds := range map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400} {
			if rest, ok := strings.CutSuffix(word, suffix); ok {
				word, unit = rest, seconds
				break
			}
		}
		n, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(n) || n < 0 {
			return 0 // sleep says itself what is wrong
		}
		sum += n * unit
	}
	return time.Duration(min(sum, 365*86400) * float64(time.Second))
}
