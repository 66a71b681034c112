package wire

import (
	"encoding/json"
	"testing"
)

func TestCount(t *testing.T) {
	for raw, want := range map[string]Count{
		`7`: 7, `1.5`: 1, `"7"`: 7, `"7.9"`: 7, `-3`: -3, `1e3`: 1000, `9e99`: 1 << 53, `null`: 0, `"NaN"`: 0, `"many"`: 0, `""`: 0, `{"a":1}`: 0, `[1]`: 0, `true`: 0,
	} {
		var c struct{ N Count }
		if err := json.Unmarshal([]byte(`{"N":`+raw+`}`), &c); err != nil || c.N != want {
			t.Errorf("%s: %d %v, want %d", raw, c.N, err, want)
		}
	}
}
