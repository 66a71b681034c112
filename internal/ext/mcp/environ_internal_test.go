package mcp

import (
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/servers"
)

// A variable that settings name as a provider's key passes to a person's server where
// they let it, and to no server of a repository.
func TestEnvironOfARepositorysServer(t *testing.T) {
	at := Ground{
		Environ: func() (environ, allow []string) {
			return []string{"MY_KEY=sk-1", "OTHER_KEY=o", "ANTHROPIC_API_KEY=sk-2"}, []string{"MY_KEY", "OTHER_KEY", "ANTHROPIC_API_KEY"}
		},
		Private: func(name string) bool { return name == "MY_KEY" || proc.OfProvider(name) },
	}
	for keyless, want := range map[bool][]string{false: {"MY_KEY=sk-1", "OTHER_KEY=o"}, true: {"OTHER_KEY=o"}} {
		got := (&server{at: at, conf: servers.Server{Keyless: keyless}}).environ()
		got = slices.DeleteFunc(got, func(kv string) bool {
			return !slices.Contains([]string{"MY_KEY=sk-1", "OTHER_KEY=o", "ANTHROPIC_API_KEY=sk-2"}, kv)
		})
		if !slices.Equal(got, want) {
			t.Errorf("keyless %v: %q, want %q", keyless, got, want)
		}
	}
}
