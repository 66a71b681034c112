package servers

import (
	"testing"

	"github.com/adze-agent/adze/internal/config"
)

// TestFlat: servers without "mcpServers" around them are named, and nothing else is.
func TestFlat(t *testing.T) {
	for text, want := range map[string]string{
		`{"foo":{"command":"x"},"bar":{"url":"https://h"}}`: "foo, bar",
		`{"foo":{"command":"x"}, /* c */ }`:                 "foo",
		`{"mcpServers":{}}`:                                 "",
		`{"foo":{"command":"x"},"n":1}`:                     "",
		`{}`:                                                "", `[]`: "", ``: "",
	} {
		if got := flat([]byte(text), config.Origin{File: ".mcp.json"}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
