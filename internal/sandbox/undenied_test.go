package sandbox

import (
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// What the settings of the sandbox deny to write is opened for no call, whatever allows
// it, and what a command leaves there is not kept.
func TestDenyWriteWins(t *testing.T) {
	s := &Sandbox{policy: Policy{denied: []string{"/w/ro"}}}
	needs := policy.Needs{Writable: []string{"/w/ro", "/w/ro/.git/config", "/w/rob", "/w"}, Settings: []policy.Setting{{Path: "/w/ro/x"}, {Path: "/w/x"}}}
	got := s.policy.undenied(needs)
	if !slices.Equal(got.Writable, []string{"/w/rob", "/w"}) || len(got.Settings) != 1 || got.Settings[0].Path != "/w/x" {
		t.Errorf("%+v", got)
	}
	for path, want := range map[string]bool{"/w/ro": true, "/w/ro/f": true, "/w/rob": false, "/w": false} {
		if s.Denies(path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}
