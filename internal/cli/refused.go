package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
)

// maxRefused bounds how many refused calls are named.
const maxRefused = 5

// refusedCalls says which calls permissions refused, why, and what would let them
// run: of several the first, each a line.
func refusedCalls(list []event.ToolFinished) error {
	var lines, ways []string
	for _, b := range list[:min(maxRefused, len(list))] {
		name := b.Name
		if what := refusedPart(b); what != "" {
			name += "(" + clip.Line(clip.Visible(what), 80) + ")"
		}
		lines = append(lines, fmt.Sprintf("%s was refused: %s", name, b.Verdict.Why()))
		if way := wayOut(b.Verdict); way != "" && !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	if more := len(list) - maxRefused; more > 0 {
		lines = append(lines, "and so were "+clip.Count(more, "more call"))
	}
	return &failure{exitRefused, strings.Join(lines, "\n"), strings.Join(ways, "\n")}
}

// refusedPart is the part of a call that was refused, as a person knows it: of a
// command with a path or a host that is refused, the command.
func refusedPart(b event.ToolFinished) string {
	part := b.Verdict.Part
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(b.Input, &in) != nil || in.Command == "" {
		return part
	}
	isCommand := func(x policy.Piece) bool { return x.Text == part && (x.Kind == "command" || x.Kind == "unclear") }
	if part != "" && slices.ContainsFunc(b.Verdict.Parts, isCommand) {
		return part
	}
	return in.Command
}

// wayOut is what lets a refused call run the next time. A rule that forbids is
// stronger than every mode, and for some things there is no way but a person.
func wayOut(v policy.Verdict) string {
	switch v.Check {
	case policy.CheckRule:
		if strings.HasPrefix(v.Source, "--") {
			return "leave the rule out of " + v.Source
		}
		return "adze permissions list shows the rules and where they stand; this one goes before every mode and every allow rule"
	case hook.Check:
		return "no rule lifts what a hook refuses: adze hooks list shows them and where they stand"
	case policy.CheckUnsafe:
		if strings.Contains(v.Reason, "adze ") { // it says what helps
			return ""
		}
		return "adze config check says what is wrong with the settings"
	case policy.CheckProtected, policy.CheckRemoval:
		return "no rule and no mode allows this without a person: do it yourself, or answer the question through --permission-prompt-tool stdio"
	default: // the others ask, and a rule can answer
	}
	switch {
	case strings.HasPrefix(v.Reason, "plan mode"):
		return "plan mode changes nothing: --permission-mode default, or acceptEdits"
	case strings.HasPrefix(v.Reason, "the mode is dontAsk"):
		return "--permission-mode acceptEdits lets files be changed; rules allow the rest: --allowed-tools \"Bash(go test:*)\""
	case len(v.Suggest) == 0:
		return `--allowed-tools takes a rule for it, if one can be sure; adze permissions check "…" says what of a command is not`
	}
	allow := `--allowed-tools "` + strings.Join(v.Suggest, " ") + `"`
	if v.Check == policy.CheckWrite {
		return "--permission-mode acceptEdits, or " + allow
	}
	return allow + " allows it"
}
