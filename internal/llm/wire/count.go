package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// A Count is a number of tokens as providers and proxies write it: also 1.5 and
// "7". What is no number is 0: a reply is worth more than the count of it.
type Count int

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	const most = 1 << 53 // beyond it a float64 has no exact count
	f, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	if *c = 0; err == nil && !math.IsNaN(f) {
		*c = Count(min(max(f, -most), most))
	}
	return nil
}

// A Loose value is one of what servers tell beside a reply, such as its usage. Where it
// is of another kind than it is to be, it is its zero value: it must not lose the reply.
type Loose[T any] struct{ Is T }

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (l *Loose[T]) UnmarshalJSON(raw []byte) error {
	var v T
	if json.Unmarshal(raw, &v) != nil {
		var none T
		v = none
	}
	l.Is = v
	return nil
}
