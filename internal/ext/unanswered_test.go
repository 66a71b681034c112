package ext

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/servers"
)

// A person is told which servers of the folder wait for a yes.
func TestUnanswered(t *testing.T) {
	w := &Folder{conf: FolderConfig{Person: true}}
	list := []servers.Server{
		{Name: "a", Approval: servers.Pending, Why: "x"}, {Name: "b", Approval: servers.Approved}, {Name: "c", Approval: servers.Refused},
		{Name: "d", Approval: servers.Pending, Why: servers.Untrusted},
	}
	if got := w.unanswered(list); !strings.HasPrefix(got, "the MCP server a of this folder waits for your yes: /mcp approve a ") {
		t.Error(got)
	}
	for _, n := range []string{"e", "f", "g", "h", "i", "j", "k", "l", "m"} {
		list = append(list, servers.Server{Name: n, Approval: servers.Pending})
	}
	if got := w.unanswered(list); !strings.HasPrefix(got, "MCP servers of this folder wait for your yes: a, e, f, g, h, i, j, k and 2 more (") {
		t.Error(got)
	}
	if got := w.unanswered(list[1:4]); got != "" {
		t.Error("none waits: " + got)
	}
	if got := (&Folder{}).unanswered(list); got != "" {
		t.Error("nobody is there: " + got)
	}
}
