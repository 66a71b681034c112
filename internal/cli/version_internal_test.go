package cli

import "testing"

// Who starts adze as another program reads the version of that first.
func TestVersionAs(t *testing.T) {
	for name, want := range map[string]string{
		"adze": "adze 1.2.3", "/opt/claude/adze": "adze 1.2.3", "go run ./cmd/adze": "adze 1.2.3", "claude-adze": "adze 1.2.3",
		"claude": published + " (adze 1.2.3)", "/usr/local/bin/claude": published + " (adze 1.2.3)", "claude.exe": published + " (adze 1.2.3)",
	} {
		if got := versionAs(name, "1.2.3"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
