// Package agents says what a session becomes by the definition of an agent: the session
// of a person that begins as one, and the session that works for another. There is one
// way from a definition to a session, and it is pure: it reads no file and starts
// nothing.
package agents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/spawn"
)

// A Def is what somebody wrote about an agent. The zero value is the usual agent.
type Def = skill.Agent

// Facts are what else decides what a session becomes.
type Facts struct {
	// Child: the session works for another one. Its mode is never looser than the
	// other's, and it has no tool that wants a person.
	Child bool
	Mode  policy.Mode // that the session would begin in; of a child, the other's
	Turns int         // requests that bound a turn, 0 for any number; of a child, where its definition says nothing
	// Model and Effort were asked for beside the definition, and go before it.
	Model  string
	Effort llm.Effort
	// KeepsMode and the others: a person named the mode, the effort or the instructions at this start,
	// and so the definition does not change it.
	KeepsMode, KeepsEffort, KeepsSystem bool
	// NoAuto: the settings forbid the mode auto.
	NoAuto bool
	// Last: the session is as deep as any may be, and starts no agents.
	Last bool
}

// A Plan is what the session becomes.
type Plan struct {
	Name   string     // "" is the usual agent
	Model  string     // "" is the one that the session would have
	Effort llm.Effort // "" is that of the model
	// Thinking is how many tokens it may think, in the place of Effort; 0 leaves it to that.
	Thinking int
	Mode     policy.Mode
	Window   int    // tokens that its conversation may have as if its model had no more, 0 for those of the model
	Turns    int    // requests that bound a turn, 0 for any number
	System   string // stands in the place of what is said to every session; "" leaves that
	First    string // the prompt that a new session begins with, "" for none
	Note     string // what of the definition does not count, in a sentence; "" is nothing

	def         Def
	child, last bool
}

// withoutPerson are tools that make no sense where nobody answers, or within a skill.
var withoutPerson = []string{"Skill", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "StructuredOutput"}

// Compose says what a session becomes by a definition; nil is the usual agent.
func Compose(d *Def, f Facts) Plan {
	if d == nil {
		d = &Def{}
	}
	p := Plan{Name: d.Name, Model: cmp.Or(f.Model, d.Model), Effort: f.Effort, Mode: f.Mode, Turns: f.Turns, First: strings.TrimSpace(d.Initial), Window: d.Window, def: *d, child: f.Child, last: f.Last}
	if p.Effort == "" && !f.KeepsEffort {
		p.Effort, p.Thinking = llm.Effort(d.Effort), d.Thinking
	}
	if !f.KeepsSystem {
		p.System = d.Prompt
	}
	if d.MaxTurns > 0 && (f.Child || f.Turns == 0 || d.MaxTurns < f.Turns) {
		p.Turns = d.MaxTurns
	}
	p.Mode, p.Note = mode(*d, f)
	return p
}

// mode is the mode that a session begins in. A definition that others than the person
// wrote only tightens, and that of a child always.
func mode(d Def, f Facts) (policy.Mode, string) {
	wants, known := policy.ParseMode(d.Mode)
	if d.Mode == "" || !known || f.KeepsMode {
		return f.Mode, ""
	}
	tighter := policy.Stricter(wants, f.Mode)
	if f.Child || tighter == wants {
		return tighter, ""
	}
	own := slices.Contains([]string{"user", "managed", "flag"}, d.Scope)
	if wants == policy.Bypass || wants == policy.Auto && f.NoAuto || !own {
		return f.Mode, fmt.Sprintf("the agent %s does not begin in the mode %s, which it wants: --permission-mode %s chooses it", clip.Visible(d.Name), wants, wants)
	}
	return wants, ""
}

// Without says, for people, that the model of a definition cannot be used, and that another one is.
func Without(agent string, err error) string {
	return fmt.Sprintf("the agent %s works with the model of this session, as its own cannot be used: %v", clip.Visible(agent), err)
}

// Tools are the tools of a set that the session has: those of the definition's list, if
// it has one, and none that it denies. A rule stands for its tool, and the name of an
// MCP server for all of its tools. always stays.
func (p Plan) Tools(set tool.Set, always ...string) tool.Set {
	wants, denied := names(p.def.Tools), names(slices.DeleteFunc(slices.Clone(p.def.Denied), limitsAgents))
	if p.def.Tools == nil && len(denied) == 0 && !p.child {
		return set
	}
	return set.Meant(func(names ...string) bool {
		has := func(list []string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return covers(list, name) })
		}
		switch {
		case slices.Contains(always, names[0]):
			return true
		case has(denied), p.child && slices.Contains(withoutPerson, names[0]), p.last && names[0] == spawn.Name:
			return false
		}
		return p.def.Tools == nil || has(wants)
	})
}

// Names reports whether the definition lists a tool by its name.
func (p Plan) Names(tool string) bool { return slices.Contains(names(p.def.Tools), tool) }

// limitsAgents reports whether an entry of a list of tools is about some agents: Agent(a, b).
func limitsAgents(entry string) bool { return agentsOf(entry) != nil }

// agentsOf are the agents that an entry of a list of tools names, nil where it names none.
func agentsOf(entry string) (out []string) {
	tool, list, ok := strings.Cut(strings.TrimSuffix(entry, ")"), "(")
	if !ok || !slices.Contains(policy.Names(spawn.Name), strings.TrimSpace(tool)) {
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}

// Starts reports whether the definition has the session start agents of a type. Where not, why
// says it for the model.
func (p Plan) Starts(name string) (why string, ok bool) {
	among := func(list []string) bool {
		return slices.ContainsFunc(policy.AgentNames(name), func(n string) bool { return slices.Contains(list, n) })
	}
	for _, d := range p.def.Denied {
		if among(agentsOf(d)) {
			return "the definition of this agent denies it " + clip.Line(clip.Visible(d), 200), false
		}
	}
	var only []string
	for _, t := range p.def.Tools {
		switch list := agentsOf(t); {
		case list != nil:
			only = append(only, list...)
		case covers([]string{t}, spawn.Name), t == "*":
			return "", true
		}
	}
	if only == nil || among(only) {
		return "", true
	}
	return "this agent may only start " + clip.Line(clip.Visible(strings.Join(only, ", ")), 500), false
}

// names are the names of the tools in a list of tools and of rules.
func names(list []string) (out []string) {
	for _, n := range list {
		n, _, _ = strings.Cut(n, "(")
		out = append(out, n)
	}
	return out
}

// covers reports whether a list has a tool: by one of its names (policy.Names), or as one of an MCP server.
func covers(list []string, name string) bool {
	return slices.ContainsFunc(list, func(n string) bool {
		if n = policy.WholeServer(n); !strings.HasPrefix(n, "mcp__") {
			return slices.Contains(policy.Names(name), n)
		}
		if stem, all := strings.CutSuffix(n, "*"); all {
			return strings.HasPrefix(name, stem)
		}
		return n == name || strings.HasPrefix(name, n+"__")
	})
}

// Lacks says, in one sentence, which tools of the definition's list a set does not have;
// "" when it has all. Tools of MCP servers may come later, and count as there; an agent of adze's
// own is meant for more than there is in each session.
func (p Plan) Lacks(set tool.Set) string {
	if p.def.BuiltIn {
		return ""
	}
	var out, have []string
	for _, name := range set.Names() {
		have = append(have, policy.Names(name)...)
	}
	for i, name := range names(p.def.Tools) {
		if !slices.Contains(have, name) && !strings.HasPrefix(name, "mcp__") && name != "*" && !covers(names(p.def.Denied), name) {
			out = append(out, clip.Line(clip.Visible(p.def.Tools[i]), 60))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf("the agent %s works without tools of its list that there are not here: %s", clip.Visible(p.Name), strings.Join(out, ", "))
}
