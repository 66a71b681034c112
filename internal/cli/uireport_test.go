package cli

import (
	"errors"
	"testing"

	"github.com/adze-agent/adze/internal/text/hint"
)

// What a command of adze prints when it fails becomes an error with its fix.
func TestFailureOf(t *testing.T) {
	code := errors.New("exit status 2")
	for printed, want := range map[string][2]string{
		"adze: a.md exists already\nhint: give another name\n": {"a.md exists already", "give another name"},
		"adze: broken\n": {"broken", ""}, "": {"exit status 2", ""},
	} {
		err := failureOf(printed, code)
		if err.Error() != want[0] || hint.Of(err) != want[1] {
			t.Errorf("%q: %v, %q", printed, err, hint.Of(err))
		}
	}
}
