package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A recording that could not be written says so, and what the run was for goes on.
func TestTapeThatFails(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x.cassette"))
	if err != nil {
		t.Fatal(err)
	}
	to := &tape{w: f}
	if _, err := to.Write([]byte("{}\n")); err != nil || to.problem("x.cassette") != nil {
		t.Fatalf("%v, %v", err, to.problem("x.cassette"))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Write([]byte("{}\n")); err == nil {
		t.Fatal("it could be written")
	}
	var end *failure
	if err := errors.Join(nil, to.problem("x.cassette")); !errors.As(err, &end) || end.code != exitFailed || !strings.Contains(end.cause, "x.cassette has not all that the provider answered: ") {
		t.Errorf("%v", err)
	}
}
