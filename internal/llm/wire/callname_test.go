package wire

import (
	"strings"
	"testing"
)

func TestCallName(t *testing.T) {
	long := strings.Repeat("x", 64)
	for name, want := range map[string]string{
		"Read": "Read", "mcp__a-b__c": "mcp__a-b__c", long: long, long + "y": long,
		"": "unnamed", "functions.Bash": "functions_Bash", "Ba sh": "Ba_sh", "<tool>": "_tool_", "Réad": "R_ad", "\xff": "_",
	} {
		if got := CallName(name); got != want {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
}
