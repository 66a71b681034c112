//go:build unix

package cli_test

import "testing"

// A form that a server has a person fill in takes Ctrl+C, Ctrl+D and what is typed.
func TestFormInATerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		says string
		code int
	}{
		"Ctrl+C":     {[]string{"\x03"}, "", 130},
		"filled in":  {[]string{"Ann", enter, "20", enter, enter}, `"name":"Ann"`, 0},
		"its bounds": {[]string{"A", enter, "Ann", enter, "7", enter, "20", enter, enter}, `"age":20`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			file := p.put("servers.json", `{"mcpServers":{"words":{"command":"mcpserver","args":["asking"]}}}`)
			x := p.inTerminal(p.adze("mcp", "call", "words/form", "{}", "--mcp-config", file, "--strict-mcp-config"), 160, 24)
			x.until(`Who\?`)
			for _, k := range c.keys {
				x.keys(k)
			}
			if c.says != "" {
				x.until(c.says)
			}
			if code := x.ended(); code != c.code {
				t.Errorf("exit %d, want %d:\n%s", code, c.code, x.all())
			}
		})
	}
}
