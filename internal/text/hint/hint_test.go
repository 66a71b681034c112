package hint

import (
	"errors"
	"fmt"
	"testing"
)

func TestOf(t *testing.T) {
	plain := errors.New("it broke")
	known := With(plain, "mend it")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":               {nil, ""},
		"plain":                 {plain, ""},
		"with one":              {known, "mend it"},
		"wrapped":               {fmt.Errorf("open: %w", known), "mend it"},
		"joined":                {errors.Join(plain, known), "mend it"},
		"joined in a wrapping":  {fmt.Errorf("%w and %w", plain, fmt.Errorf("x: %w", known)), "mend it"},
		"the outermost counts":  {With(fmt.Errorf("open: %w", known), "begin anew"), "begin anew"},
		"an empty one does not": {With(known, ""), "mend it"},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if known.Error() != "it broke" || !errors.Is(known, plain) {
		t.Errorf("%v", known)
	}
}
