package ext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/tool"
)

// Unknown says which tools in an agent's lists no agent program has: mistakes in
// writing. What others have, and adze does not, is none.
func Unknown(a Agent) (out []string) {
	for _, name := range toolNames(slices.Concat(a.Tools, a.Denied)) {
		if !policy.Known(name) && name != "*" {
			out = append(out, fmt.Sprintf("the agent %s names a tool %s, which there is not%s", clip.Visible(a.Name), clip.Line(clip.Visible(name), 60), near.Hint(name, policy.Tools())))
		}
	}
	return out
}

// Lacks says, in one sentence, which tools of an agent's list a session does not have;
// "" when it has all. Tools of MCP servers may come later, and count as there.
func Lacks(a Agent, set tool.Set) string {
	var out, have []string
	for _, name := range set.Names() {
		have = append(have, policy.Names(name)...)
	}
	for i, name := range toolNames(a.Tools) {
		if !slices.Contains(have, name) && !strings.HasPrefix(name, "mcp__") && name != "*" {
			out = append(out, clip.Line(clip.Visible(a.Tools[i]), 60))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf("the agent %s works without tools of its list that there are not here: %s", clip.Visible(a.Name), strings.Join(out, ", "))
}
