//go:build unix

package cli_test

import (
	"bytes"
	"runtime"
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
			for len(alive()) < 3 { // the shell has forked, and children are about to be sleep
				runtime.Gosched()
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Cancel()
			begun := time.Now()
			for len(alive()) > 0 {
				if time.Since(begun) > 20*time.Second {
					t.Fatalf("alive: %v", alive())
				}
				runtime.Gosched()
			}
			p.goOn(event.Interrupted)
		})
	}
}
