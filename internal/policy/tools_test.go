package policy_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestDead: a rule that can never match anything is known for that.
func TestDead(t *testing.T) {
	for text, want := range map[string]string{
		"Bsh": "no tool", "bash": "no tool", "Bsh(ls)": "no tool", "*": "no tool", "edit(src/**)": "no tool", "mcp_x": "no tool",
		"WebFetch(example.com)": "WebFetch takes", "mcp__a__b(x)": "no parentheses", "TodoWrite(x)": "takes nothing", "ExitPlanMode(a)": "takes nothing",
		"Bash(ls && rm x)": "", "Bash(A=1 ls)": "", "Bash(A=1)": "names no program", "Bash(ls && )": "a command is missing", "Bash(&& ls)": "a command is missing", "Bash(ls > x)": "", "Bash(ls < x)": "redirects", "Bash(:(){ :|:& };:)": "",
		"Bash(curl:x)": "no program has a colon in its name; commands that begin with curl are Bash(curl:*)", "Bash(curl:**)": "", "Bash(a:b c:*)": "no program has a colon",
		"Bash(npm run test:unit)": "", "Bash(npm run test:*)": "", "Bash(C:/x/y.exe:*)": "", "Bash(curl http://x:80)": "",
		"TodoWrite": "", "Bash": "", "Bash(*)": "", "Bash(ls:*)": "", "Read(src/**)": "", "Grep(src/**)": "", "Write(x)": "", "mcp__a": "", "mcp__a__*": "", "mcp__09azAZ": "", "Bash(1=2 ls)": "", "Task(x)": "", "Skill(x)": "", "WebFetch(domain:x.org)": "",
	} {
		got := policy.Dead(rule(t, "deny "+text))
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestWholly: a tool that a rule speaks of whatever it is asked to do, as Decide
// sees it.
func TestWholly(t *testing.T) {
	for _, c := range []struct {
		rule, tool string
		want       bool
	}{
		{"Bash", "Bash", true}, {"Bash(*)", "Bash", true}, {"Bash(:*)", "Bash", true}, {"Bash(rm:*)", "Bash", false}, {"Bash", "BashOutput", false},
		{"Read", "Grep", true}, {"Read", "Glob", true}, {"Read(**)", "Read", false}, {"Edit", "Write", true}, {"Write", "Edit", true}, {"WebFetch", "WebFetch", true}, {"Grep", "Bash", false},
		{"TaskStop", "KillShell", true}, {"TaskOutput", "BashOutput", true}, {"TaskOutput", "KillShell", false}, {"ReadMcpResourceTool", "ReadMcpResource", true}, {"KillShell", "TaskStop", false},
	} {
		if got := rule(t, "deny "+c.rule).Wholly(c.tool); got != c.want {
			t.Errorf("%s and %s: %v", c.rule, c.tool, got)
		}
	}
}
