package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// An Amount is some memory: bytes, or a part of what the machine has.
type Amount struct {
	Bytes   int64   // used when Percent is 0
	Percent float64 // of the machine's memory
}

// Of returns the amount in bytes, for a machine with total bytes.
func (a Amount) Of(total int64) int64 {
	if a.Percent > 0 {
		return int64(float64(total) * a.Percent / 100)
	}
	return a.Bytes
}

// UnmarshalJSON reads a number of bytes, "4GB" or "75%".
func (a *Amount) UnmarshalJSON(b []byte) error {
	v, ok := parseAmount(strings.Trim(string(b), `"`))
	if !ok {
		return fmt.Errorf("%s is no amount of memory", b)
	}
	*a = v
	return nil
}

// parseAmount reads bytes with a unit (KB, MB, GB, TB; powers of 1,000, as
// everywhere in adze) or a percentage above 0. 0 is no limit.
func parseAmount(s string) (Amount, bool) {
	s = strings.ToUpper(strings.TrimSpace(s))
	if p, isPercent := strings.CutSuffix(s, "%"); isPercent {
		f, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		return Amount{Percent: f}, err == nil && f > 0 && f <= 100
	}
	s, unit := strings.TrimSuffix(s, "B"), 1.0
	if n := len(s); n > 0 {
		if at := strings.IndexByte("KMGT", s[n-1]); at >= 0 {
			s = s[:n-1]
			for range at + 1 {
				unit *= 1000
			}
		}
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(f >= 0 && f*unit <= 1e15) || f*unit < 1 && !zero([]byte(strings.TrimSpace(s))) || unit == 1 && f != math.Trunc(f) {
		return Amount{}, false
	}
	return Amount{Bytes: int64(f * unit)}, true
}
