//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
)

// With the real binary and a real server (adze's own): tools are told by name, loaded,
// called, and called again after a restart and a compaction, each time as a strict
// provider of the wire takes it.
func TestToolsOfAServerAreLoaded(t *testing.T) {
	t.Parallel()
	const glob = "mcp__self__Glob"
	for w := range wires {
		t.Run(string(w), func(t *testing.T) {
			t.Parallel()
			pl := newPlace(t)
			pl.put("found-it.txt", "x")
			if err := os.MkdirAll(filepath.Join(pl.home, ".adze"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(pl.home, ".adze", "settings.json"), []byte(`{"tools":{"defer_above":1}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			through := llm.ToolUse{Name: "CallTool", Input: json.RawMessage(`{"tool":"` + glob + `","arguments":{"pattern":"*.txt"}}`)}
			direct := llm.ToolUse{Name: glob, Input: json.RawMessage(`{"pattern":"*.txt"}`)}
			play := []llm.Part{
				llm.ToolUse{Name: "ToolSearch", Input: json.RawMessage(`{"query":"select:Glob"}`)}, through, llm.Text{S: "one"},
				through, llm.Text{S: "two"}, llm.Text{S: "the summary of it all"}, direct, llm.Text{S: "three"},
			}
			var bodies [][]byte
			s := &llmtest.Strict{Wire: wires[w]}
			s.Play = func(n int, body []byte) llmtest.Reply {
				bodies = append(bodies, body)
				part, stop := play[min(n, len(play)-1)], llm.EndTurn
				if u, ok := part.(llm.ToolUse); ok {
					u.ID = fmt.Sprint("call_", n)
					part, stop = u, llm.WantTools
				}
				return llmtest.Reply{ID: "r", Stop: stop, Parts: []llmtest.Part{{Part: part}}}
			}
			srv := httptest.NewServer(s)
			defer srv.Close()
			path, _ := adzeOf(t)
			config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"self": map[string]any{"command": path, "args": []string{"mcp", "serve", "--sandbox", "off"}, "env": map[string]string{"HOME": t.TempDir(), "GORACE": "atexit_sleep_ms=0"}}}})
			if err != nil {
				t.Fatal(err)
			}
			for i, prompt := range []string{"first", "second", "/compact", "third"} {
				args := []string{"--mcp-config", string(config), "--allowed-tools", glob}
				if i > 0 {
					args = append(args, "-c")
				}
				if out, err := pl.asked(w, &provider{URL: srv.URL}, prompt, args...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", prompt, err, out)
				}
			}
			if r := s.Refused(); len(r) > 0 || len(bodies) != len(play) {
				t.Fatalf("%d requests; refused were %q", len(bodies), r)
			}
			if first := string(bodies[0]); !strings.Contains(first, "mcp__self__: ") || strings.Contains(first, `"`+glob+`"`) {
				t.Errorf("the first request is %s", first)
			}
			for _, n := range []int{2, 4, 7} { // the requests behind the calls
				if !strings.Contains(string(bodies[n]), "found-it.txt") {
					t.Errorf("request %d does not have what the tool found: %s", n, bodies[n])
				}
			}
			for n := range 4 {
				if kept, all, err := llmtest.Kept(bodies[n], bodies[n+1]); err != nil || kept < all*99/100 {
					a, _ := llmtest.CacheOrder(bodies[n])
					b, _ := llmtest.CacheOrder(bodies[n+1])
					t.Errorf("request %d begins with %d of the %d bytes of the one before (%v): %.300q becomes %.300q", n+1, kept, all, err, a[kept:], b[kept:])
				}
			}
			if !strings.Contains(string(bodies[6]), glob) {
				t.Errorf("after a compaction, what was loaded is not there: %s", bodies[6])
			}
		})
	}
}
