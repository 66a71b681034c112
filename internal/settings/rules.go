package settings

import (
	"fmt"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
)

// DeadRule says why a rule can never match anything, with the nearest name
// where a tool's is misspelled; "" when it can.
func DeadRule(r policy.Rule) string {
	why := policy.Dead(r)
	if why != "" && !policy.Known(r.Tool) {
		why += near.Hint(r.Tool, policy.Tools())
	}
	return why
}

// given reports whether a value was typed for this run, so that a mistake in it
// can be mended at once.
func given(o config.Origin) bool { return o.Scope == config.Flag || o.Scope == config.EnvVar }

// unusable is what a rule that matches nothing is, where it was given for this run.
func unusable(c config.Rule, why string) error {
	return &hint.Mistake{Why: fmt.Sprintf("%s: the rule %q is of no use: %s", c.Origin, c.Text, why), What: `rules look like "Bash(go test:*)", "Edit(src/**)" or "mcp__server__tool"`}
}
