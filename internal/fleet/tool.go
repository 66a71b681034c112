package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/spawn"
)

// A Crew is a tree as one session of it sees it. It starts the agents that calls of the
// tool Agent want.
type Crew struct {
	Tree *Tree
	Of   string // the session's ID
	// Known are the definitions that there are.
	Known func() []skill.Agent
	// Starts reports whether the session may start agents of a type, and says why not; nil: it may.
	Starts func(kind string) (why string, ok bool)
	// Background is the setting agents.background as it is now.
	Background func() Background
	// Asker asks a person about many agents; nil: nobody is asked.
	Asker Asker
	// Merge merges worktrees into the checkout of the session, one behind the other; nil: it has
	// none. The error says why nothing was done.
	Merge func(ctx context.Context, names []string, commit bool) ([]Merge, error)
}

// A Background says whether agents work in the background; see setting agents.background.
type Background string

// Whether agents work in the background.
const (
	BackgroundAuto   Background = "auto" // as each call says; in the background where it says nothing
	BackgroundAlways Background = "always"
	BackgroundNever  Background = "never"
)

// maxListed bounds what the model is told of definitions, in bytes.
const maxListed = 6000

// Types implements spawn.Starter.
func (c Crew) Types() []spawn.Type {
	var out []spawn.Type
	if _, ok := c.starts(spawn.Fork); ok {
		out = append(out, spawn.Type{Name: spawn.Fork, About: "knows all of this conversation, and costs little to start"})
	}
	known := slices.DeleteFunc(slices.Clone(c.Known()), func(a skill.Agent) bool { _, ok := c.starts(a.Name); return !ok })
	for _, l := range skill.ListAgents(known, maxListed) {
		out = append(out, spawn.Type{Name: l.Name, About: l.Text})
	}
	return out
}

func (c Crew) starts(kind string) (why string, ok bool) {
	if c.Starts == nil {
		return "", true
	}
	return c.Starts(kind)
}

// Run implements spawn.Starter.
func (c Crew) Run(ctx context.Context, in spawn.Input, env tool.Env) (tool.Result, error) {
	if env.Replied != nil && !env.Replied() { // nothing is started for a reply that is asked for once more
		return tool.Errorf("the agent was not started: the reply broke off"), nil
	}
	if why, ok := c.starts(in.Kind()); !ok {
		return tool.Errorf("the agent was not started: %s", why), nil
	}
	waits := in.Waits()
	for _, a := range c.Known() {
		if slices.Contains(policy.AgentNames(in.Kind()), a.Name) && a.Background {
			waits = false
		}
	}
	switch c.Background() {
	case BackgroundAlways:
		waits = false
	case BackgroundNever:
		waits = true
	}
	o := c.order(in, env.Call)
	err := c.admit(ctx, &o)
	var m Member
	if err == nil {
		m, err = c.Tree.Start(ctx, o, in.Description, in.Prompt, waits)
	}
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		return tool.Errorf("the agent was not started: %s", err), nil
	}
	if !waits {
		return launched(m, in), nil
	}
	m, moved, err := c.Tree.Wait(ctx, m.ID)
	switch {
	case err != nil:
		return tool.Result{}, err
	case moved:
		return launched(m, in), nil
	}
	return ended(m, in), nil
}

// order is what a call wants.
func (c Crew) order(in spawn.Input, call string) Order {
	return Order{
		Of: c.Of, Call: call, Type: in.Type, Name: in.Name, Model: in.Model, Effort: llm.Effort(in.Effort), Turns: in.Turns, USD: in.USD, Schema: in.Schema, Fork: in.Type == spawn.Fork, Worktree: in.Isolation != "", Mode: in.Asked(),
	}
}

// launched is the result of a call whose agent works in the background.
func launched(m Member, in spawn.Input) tool.Result {
	return tool.Result{
		Text: fmt.Sprintf("The agent %s works in the background (%s). You are told when it ends; do not wait for it in a loop.", m.Label(), m.Begun.Model),
		Data: func() any {
			return map[string]any{"status": "async_launched", "agentId": m.ID, "description": in.Description, "prompt": in.Prompt, "resolvedModel": m.Begun.Model}
		},
	}
}

// ended is the result of a call that waited for its agent.
func ended(m Member, in spawn.Input) tool.Result {
	return tool.Result{
		Text: m.Text + "\n\n[agent " + m.Label() + ": " + string(m.Status) + "; " + Used(m) + ". " + m.marked() + "]", IsErr: m.Status == event.TaskFailed,
		Data: func() any { return published(m, in) },
	}
}

// published is the result in the shape of AgentOutput of sdk-tools.d.ts
// (@anthropic-ai/claude-agent-sdk 0.3.332).
func published(m Member, in spawn.Input) any {
	u, used := m.Tally.Usage, []string{}
	stats := map[string]int{"readCount": 0, "searchCount": 0, "bashCount": 0, "editFileCount": 0, "linesAdded": m.Tally.Added, "linesRemoved": m.Tally.Removed, "otherToolCount": 0}
	for name, n := range m.Tally.ByTool {
		used = append(used, name)
		switch name {
		case "Read", "LS", "NotebookRead":
			stats["readCount"] += n
		case "Grep", "Glob", "WebSearch", "ToolSearch":
			stats["searchCount"] += n
		case "Bash", "PowerShell":
			stats["bashCount"] += n
		case "Edit", "MultiEdit", "Write", "NotebookEdit":
			stats["editFileCount"] += n
		default:
			stats["otherToolCount"] += n
		}
	}
	out := map[string]any{
		"status": "completed", "agentId": m.ID, "agentType": m.Type, "prompt": in.Prompt, "content": []any{map[string]string{"type": "text", "text": m.Text}},
		"resolvedModel": m.Begun.Model, "modelsUsed": m.Tally.Models, "totalToolUseCount": m.Tally.Calls, "totalDurationMs": m.took().Milliseconds(),
		"totalTokens": u.Prompt() + u.Out, "toolsUsed": used, "toolStats": stats,
		"usage": map[string]any{"input_tokens": u.In, "output_tokens": u.Out, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite},
	}
	if m.Left != nil {
		out["worktreePath"] = m.Left.Path
		if m.Left.Branch != "" {
			out["worktreeBranch"] = m.Left.Branch
		}
	}
	return out
}
