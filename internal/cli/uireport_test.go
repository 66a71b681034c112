package cli

import "testing"

// A text of several lines stays below the column that it begins in.
func TestWrapBelow(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{{0, "one two three four"}, {20, "one two three four"}, {26, "one two three\n            four"}} {
		if got := wrapBelow("one two three four", 12, c.width); got != c.want {
			t.Errorf("%d: %q", c.width, got)
		}
	}
}
