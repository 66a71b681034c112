package ext

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
)

// unanswered says which servers of the folder wait for a person's yes.
func (f *Folder) unanswered(list []servers.Server) string {
	if !f.conf.Person {
		return ""
	}
	var names []string
	for _, s := range list {
		if s.Approval == servers.Pending && s.Why != servers.Untrusted {
			names = append(names, s.Name)
		}
	}
	if names == nil {
		return ""
	}
	first := clip.Line(strings.Join(names[:min(len(names), maxAwaiting)], ", "), 200)
	if n := len(names) - maxAwaiting; n > 0 {
		first += fmt.Sprintf(" and %d more", n)
	}
	if len(names) == 1 {
		return "the MCP server " + first + " of this folder waits for your yes: /mcp approve " + first + " shows what it runs"
	}
	return "MCP servers of this folder wait for your yes: " + first + " (/mcp shows them, /mcp approve NAME what one runs)"
}

// maxAwaiting is how many servers that wait for a yes are named.
const maxAwaiting = 8
