package ext_test

import (
	"context"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/tool"
)

// TestListsOfAgents: a list that has a tool by the name that other agents have for it, or has
// one that does the same, leaves the tool or takes it away.
func TestListsOfAgents(t *testing.T) {
	var all []tool.Tool
	for _, name := range []string{"Bash", "BashOutput", "Edit", "KillShell", "MultiEdit", "Read", "Write"} {
		all = append(all, tool.New(tool.Spec{Name: name}, func(struct{}, tool.Env) (tool.Plan, error) { return tool.Plan{}, nil },
			func(context.Context, struct{}, tool.Env) (tool.Result, error) { return tool.Result{}, nil }))
	}
	set, err := tool.NewSet(all...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tools, denied []string
		want, lacks   string
	}{
		{[]string{"Read", "Edit"}, nil, "Edit MultiEdit Read", ""},
		{nil, []string{"Edit", "Write", "TaskStop"}, "Bash BashOutput Read", ""},
		{[]string{"TaskOutput", "KillBash"}, nil, "BashOutput KillShell", ""},
		{[]string{"MultiEdit"}, nil, "MultiEdit", ""},
		{[]string{"Edit", "LS", "mcp__x"}, []string{"MultiEdit"}, "Edit", "LS"},
	} {
		a := ext.Agent{Tools: c.tools, Denied: c.denied}
		if got := strings.Join(ext.Offered(set, a).Names(), " "); got != c.want {
			t.Errorf("%v without %v: %s, want %s", c.tools, c.denied, got, c.want)
		}
		if got := ext.Lacks(a, set); (got == "") != (c.lacks == "") || !strings.HasSuffix(got, c.lacks) {
			t.Errorf("%v: %q, want %q", c.tools, got, c.lacks)
		}
	}
}
