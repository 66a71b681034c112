//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// When adze is killed, what its commands started dies too, also what left its
// session, and the session can be gone on with.
func TestFault01_CommandsDieWithAdze(t *testing.T) {
	for _, sandbox := range []string{"true", "false"} {
		t.Run("sandbox "+sandbox, func(t *testing.T) {
			t.Parallel()
			seconds, alive := marker(t)
			p := newPlace(t)
			p.flags = []string{"--sandbox", sandbox}
			var out bytes.Buffer
			cmd := p.running(seconds, "", &out)
			asleep(t, "the shell has forked, and children are about to be sleep", func() bool { return len(alive()) >= 3 })
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Cancel()
			asleep(t, "none is left", func() bool { return len(alive()) == 0 })
			p.goOn(event.Interrupted)
		})
	}
}

// The folder for temporary files of a killed adze goes at the next start, and
// not that of one that lives.
func TestFault01_TemporaryFilesOfTheDeadAreSwept(t *testing.T) {
	seconds, _ := marker(t)
	p := newPlace(t)
	folders := func() []string {
		t.Helper()
		dirs, err := filepath.Glob(filepath.Join(p.home, "adze-*", "adze-s-*")) // TMPDIR
		if err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		for _, d := range dirs {
			if err := os.Chtimes(d, old, old); err != nil {
				t.Fatal(err)
			}
		}
		return dirs
	}
	var out bytes.Buffer
	cmd := p.running(seconds, "", &out)
	dead := folders()
	p.put("one.txt", "@ Bash {\"command\": \"echo $TMPDIR\"}\n---\n> fine\n")
	run := func() {
		t.Helper()
		if b, err := p.adze("-p", "go", "--model", "script/one.txt", "--allowed-tools", "Bash").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
	run()
	if got := folders(); len(dead) != 1 || !slices.Equal(got, dead) {
		t.Fatalf("while it lives: %q, then %q", dead, got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Cancel()
	if got := folders(); !slices.Equal(got, dead) {
		t.Fatalf("after its death: %q", got)
	}
	run()
	if got := folders(); len(got) != 0 {
		t.Errorf("after the next start: %q", got)
	}
}
