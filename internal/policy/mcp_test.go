package policy

import (
	"strings"
	"testing"
)

// TestMCPNames: a rule names a tool of a server as models call it, or as its settings
// and its server do. A name that may be another one's allows nothing.
func TestMCPNames(t *testing.T) {
	plain := Call{Server: "s", Tool: "read", RealServer: "s", RealTool: "read"}
	odd := Call{Server: "s_x", Tool: "rm_all_060618", RealServer: "s.x", RealTool: "rm.all"}
	taken := Call{Server: "s_x_123456", Tool: "t", RealServer: "s_x", RealTool: "t"} // beside s.x
	digits := Call{Server: "s_9", Tool: "t", RealServer: "9aZz0A", RealTool: "t"}
	unclear := Call{Server: "a_b", Tool: "c_d", RealServer: "a.__b", RealTool: "c.d"}
	long := Call{Server: "plugin_compound-engineeri_512062", Tool: "remove", RealServer: "plugin_compound-engineering_context7", RealTool: "remove"}
	shared := long
	shared.Shared = true
	dotted := Call{Server: "claude_ai_a_connector_wit_123456", Tool: "read", RealServer: "claude.ai a connector with a name", RealTool: "read"}
	much := strings.Repeat("a_very_long_tool_", 4)
	tool := Call{Server: "s", Tool: much[:50] + "_123456", RealServer: "s", RealTool: much}
	for _, c := range []struct {
		rule        string
		call        Call
		deny, allow bool
	}{
		{"mcp__s", plain, true, true}, {"mcp__s__read", plain, true, true}, {"mcp__s__*", plain, true, true}, {"mcp__s__write", plain, false, false}, {"mcp__t__read", plain, false, false},
		{"mcp__s.x", odd, true, true}, {"mcp__s.x__rm.all", odd, true, true}, {"mcp__s_x__rm.all", odd, true, true}, {"mcp__s.x__rm_all_060618", odd, true, true}, {"mcp__s.x__rm.*", odd, true, true},
		{"mcp__s_x", odd, true, true}, {"mcp__s_x__rm_all", odd, true, false}, {"mcp__s", odd, false, false}, {"mcp__s.x__rm", odd, false, false},
		{"mcp__s_x", taken, true, false}, {"mcp__s_x__t", taken, true, false}, {"mcp__s_x_123456", taken, true, true},
		{"mcp__9aZz0A", digits, true, false}, {"*", plain, false, false}, {"mcp__s__read(x)", plain, false, false}, {"mcp__s(x)", plain, false, false},
		{"mcp__plugin_compound-engineering_context7", long, true, true}, {"mcp__plugin_compound-engineering_context7__remove", long, true, true}, {"mcp__plugin_compound-engineering_context7__*", long, true, true},
		{"mcp__plugin_compound-engineering_context7__remov", long, false, false}, {"mcp__plugin_compound-engineeri_512062__remove", long, true, true}, {"mcp__plugin_compound-engineering_context7__remove", shared, true, false},
		{"mcp__claude_ai_a_connector_with_a_name__read", dotted, true, true}, {"mcp__claude_ai_a_connector_with_a_name", dotted, true, true}, {"mcp__s__" + much, tool, true, true}, {"mcp__s__" + much + "x", tool, false, false},
		{"mcp__s:*", plain, true, true}, {"mcp__s__read:*", plain, true, true}, {"mcp__t:*", plain, false, false}, {"mcp__s:read", plain, false, false}, {"mcp__plugin_compound-engineering_context7:*", long, true, true},
		{"mcp__a.__b", unclear, true, false}, {"mcp__a.__b__c.d", unclear, true, false}, {"mcp__a_b", unclear, true, true},
	} {
		for effect, want := range map[Effect]bool{Deny: c.deny, Ask: c.deny, Allow: c.allow} {
			rule, err := ParseRule(c.rule, effect, User, "", "")
			if err != nil {
				t.Fatal(err)
			}
			if got := matchMCP(rule, effect, c.call); got != want {
				t.Errorf("%s %s of %+v: %v", effect, c.rule, c.call, got)
			}
		}
	}
}

// TestDeadMCP: a rule for tools of MCP servers that can match nothing says so.
func TestDeadMCP(t *testing.T) {
	for text, want := range map[string]string{
		"mcp__s": "", "mcp__s:*": "", "mcp__*": "", "mcp__s__*": "", "mcp__s__t": "", "mcp__plugin:a:b": "", "mcp__plugin:a:b:*": "", "mcp__a.b": "",
		"mcp__context7:tool": "mcp__context7__tool", "mcp__": "no server", "mcp____t": "no server", "mcp__:*": "no server", "mcp__s__": "no tool", "mcp__s(x)": "parentheses",
	} {
		for _, e := range []Effect{Allow, Ask, Deny} {
			r, err := ParseRule(text, e, User, "", "")
			if err != nil {
				t.Fatal(err)
			}
			if got := Dead(r); (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s %s: %q", e, text, got)
			}
		}
	}
}
