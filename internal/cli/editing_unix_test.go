//go:build unix

package cli_test

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm/llmtest"
)

// The provider's own clearing is asked for where a setting says so, of Anthropic's
// models alone.
func TestProviderEditing(t *testing.T) {
	for name, c := range map[string]struct {
		w    wireName
		set  string
		asks bool
	}{
		"as it is":         {messages, `{}`, false},
		"wanted":           {messages, `{"context":{"provider_editing":true}}`, true},
		"of another model": {"openai/gpt-5.1", `{"context":{"provider_editing":true}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := false
			s := &llmtest.Strict{Wire: wires[c.w], Play: func(_ int, body []byte) llmtest.Reply {
				asked = bytes.Contains(body, []byte(`"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":`)) &&
					bytes.Contains(body, []byte(`"exclude_tools":["`))
				return llmtest.Say("so it is")
			}}
			srv := httptest.NewServer(s)
			defer srv.Close()
			pl := newPlace(t)
			pl.settings(pl.home+"/.adze/settings.json", c.set)
			out, err := pl.asking(c.w, &provider{URL: srv.URL}).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "so it is") || len(s.Refused()) > 0 {
				t.Fatalf("%v, refused %q\n%s", err, s.Refused(), out)
			}
			if asked != c.asks {
				t.Errorf("asked for it: %t", asked)
			}
		})
	}
}
