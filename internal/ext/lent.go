package ext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// used has the hooks of a skill count until the turn ends.
func (x *Session) used(s skill.Skill) {
	list := x.bring(s.Hooks, hook.Place{From: "the skill " + s.Name + " (" + s.From + ")", Scope: s.Scope, Root: s.Root, Data: s.Data})
	if len(list) > 0 && x.s != nil {
		x.gate.LendTurn(list)
	}
}

// ofAgent are the hooks that count while an agent works. Its end is that of a
// sub-agent.
func (x *Session) ofAgent(a skill.Agent) []hook.Hook {
	list := x.bring(a.Hooks, hook.Place{From: "the agent " + a.Name + " (" + a.From + ")", Scope: a.Scope})
	asAgent(list)
	return list
}

// asAgent has hooks of the end hear of the end of an agent.
func asAgent(list []hook.Hook) {
	for i := range list {
		if list[i].Event == hook.Stop {
			list[i].Event = hook.SubagentStop
		}
	}
}

// bring reads the hooks of a part, where settings let them count, and tells of those
// that cannot be used.
func (x *Session) bring(raw json.RawMessage, at hook.Place) []hook.Hook {
	list, bad := x.parse(raw, at)
	x.tell(bad)
	return list
}

// parse reads the hooks of a part, where settings let them count.
func (x *Session) parse(raw json.RawMessage, at hook.Place) (list []hook.Hook, bad []string) {
	x.mu.Lock()
	cfg := x.cfg
	x.mu.Unlock()
	if raw == nil || cfg == nil || !cfg.HooksCount(config.User) {
		return nil, nil
	}
	list, problems := hooks.Parse(raw, at)
	for _, err := range problems {
		bad = append(bad, fmt.Sprintf("%s: %v", at.From, err))
	}
	return list, bad
}

// Approve calls the tool that a flag names to answer questions of permission, and
// returns its text. A server of a repository does not answer them.
func (x *Session) Approve(ctx context.Context, tool string, input json.RawMessage) (string, error) {
	var begun, all []string
	for _, s := range x.conf.Folder.Status() {
		if all = append(all, s.Server.Name); mayName(tool, policy.Nameable("mcp__"+mcp.RealName(s.Server))) {
			begun = append(begun, s.Server.Name)
		}
	}
	if len(begun) == 0 { // it may be by the name that models use
		begun = all
	}
	x.conf.Folder.Await(ctx, begun...) // for as long as the question may take
	t, server, ok := x.served(tool)
	if !ok {
		return "", fmt.Errorf("no MCP server that is connected has the tool %s", clip.Line(clip.Visible(tool), 100))
	}
	for _, s := range x.conf.Folder.Status() {
		if s.Server.Name == server && s.Server.Keyless {
			return "", fmt.Errorf("the MCP server %s came with a repository, so it answers no questions of permission", clip.Line(clip.Visible(server), 100))
		}
	}
	return said(x.run(ctx, t, input, nil))
}

// served is the tool of a server that a full name means, and its server: that which models
// call so, or the only one that is called so otherwise.
func (x *Session) served(full string) (found tool.Tool, server string, ok bool) {
	n := 0
	for _, c := range x.conf.Folder.Served() {
		for _, t := range c.Tools {
			switch s := t.Spec(); {
			case s.Name == full:
				return t, c.From.Name, true
			case slices.Contains(s.Others, full):
				found, server = t, c.From.Name
				n++
			}
		}
	}
	return found, server, n == 1
}

// callTool calls a tool of a server that is connected, for a hook.
func (x *Session) callTool(ctx context.Context, server, name string, input json.RawMessage) (string, error) {
	x.conf.Folder.Await(ctx, server) // one that connects is waited for as long as the hook may take
	for _, s := range x.conf.Folder.Status() {
		full := "mcp__" + mcp.RealName(s.Server) + "__" + name
		for _, c := range x.conf.Folder.Served() {
			if s.Server.Name != server || c.From.Name != server {
				continue
			}
			for _, t := range c.Tools {
				if spec := t.Spec(); spec.Name == full || slices.Contains(spec.Others, full) {
					return said(x.run(ctx, t, input, nil))
				}
			}
		}
	}
	return "", fmt.Errorf("no MCP server that is connected has the tool %s", clip.Line(clip.Visible("mcp__"+server+"__"+name), 100))
}

// said is the text of a result, or what it says as an error.
func said(res tool.Result, err error) (string, error) {
	if err == nil && res.IsErr {
		err = errors.New(clip.Line(clip.Visible(res.Text), 500))
	}
	return res.Text, err
}

// Call calls a tool that MCP servers bring, by its full name, outside of any turn. judge, when it is not nil, is
// asked before it runs; what it says ends the call.
func (x *Session) Call(ctx context.Context, full string, input json.RawMessage, judge func(tool.Plan) error) (tool.Result, error) {
	t, _, ok := x.served(full)
	if !ok {
		return tool.Result{}, fmt.Errorf("no MCP server that is connected has the tool %s", clip.Line(clip.Visible(full), 100))
	}
	return x.run(ctx, t, input, judge)
}

func (x *Session) run(ctx context.Context, t tool.Tool, input json.RawMessage, judge func(tool.Plan) error) (tool.Result, error) {
	env := x.conf.Fork.Loop().Env
	plan, err := t.Plan(input, env)
	if err == nil && judge != nil {
		err = judge(plan)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return t.Run(ctx, input, env)
}
