package cli

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/text/clip"
)

// foreignPrefix begins variables of Claude Code that are about that program alone.
const foreignPrefix = "CLAUDE_CODE_"

// theirOwn are variables that Claude Code and its SDKs set for what they start: they ask for
// nothing.
var theirOwn = []string{"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_EXECPATH"}

// foreignFindings are the variables of Claude Code, of the environment and of the person's
// settings, that have no effect here, in one line.
func foreignFindings(o invocation, cfg *config.Config) []finding {
	var names []string
	for _, kv := range o.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if value != "" {
			names = append(names, name)
		}
	}
	for name := range cfg.Env {
		if v, _, own := cfg.Variable(name); own && v != "" {
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, foreignPrefix) || slices.Contains(theirOwn, name) || choose.Reads(name) ||
			slices.ContainsFunc(config.ForeignVars(), func(v config.ForeignVar) bool { return v.Name == name })
	})
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return []finding{{"variables", "note", "without effect here: " + clip.Visible(strings.Join(names, ", ")), "adze help environment lists those that adze reads"}}
}
