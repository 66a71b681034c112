package confine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// KeepTool is the name under which it is asked whether something that a
// command left may stay.
const KeepTool = "SandboxKeep"

// A left is what a command left where it could steer other programs, with the
// sandbox that moved it away.
type left struct {
	sandbox.Found
	box *sandbox.Sandbox
}

func (c *confinement) found() []left {
	box := c.made.Load()
	if box == nil {
		return nil
	}
	var out []left
	for _, f := range box.Found() {
		out = append(out, left{f, box})
	}
	return out
}

// Quarantined asks what is to become of the things that commands left and the
// sandbox took away, and says what did; and before, what a person said of connections.
func (b *Set) Quarantined(ctx context.Context) []string {
	b.mu.Lock()
	notes := b.said
	b.said = nil
	b.mu.Unlock()
	for _, f := range b.found() {
		notes = append(notes, b.keep(ctx, f))
	}
	return notes
}

func (b *Set) keep(ctx context.Context, f left) string {
	path := clip.Line(clip.Visible(f.Path), 300)
	why := clip.Line(clip.Visible(f.Why), 300)
	if f.Why == "" {
		return fmt.Sprintf("%s: %s. Tell the user", path, f.Err)
	}
	if f.At == "" {
		return fmt.Sprintf("%s, which a command made, is protected (%s) and could not be moved away: %s. Tell the user, who should look at it", path, why, f.Err)
	}
	input, err := json.Marshal(map[string]any{"path": f.Path, "content": f.Text, "why": f.Why, "quarantine": f.At})
	if err != nil {
		return err.Error()
	}
	did, moved := "made", "was moved"
	if f.box.Denies(f.Path) { // whoever wrote that wins over what a rule allows
		if f.Changed() {
			did, moved = "changed", "the change was moved"
		}
		if !f.Told {
			b.took(f.Found)
		}
		return fmt.Sprintf("%s, which a command %s, %s to %s, out of the workspace: the settings deny writing it (sandbox.filesystem.deny_write). Do not make it again another way; if it is needed, tell the user why", path, did, moved, f.At)
	}
	shown := fmt.Sprintf("A command in the sandbox made %s. It is protected: %s. It was moved to %s; it comes back when you allow it.", path, why, clip.Visible(f.At))
	if f.Changed() {
		did, moved = "changed", "the change was moved"
		shown = fmt.Sprintf("A command in the sandbox changed %s: %s. It is again as it was before; the change was moved to %s and comes back when you allow it.", path, why, clip.Visible(f.At))
	}
	if f.Text != "" {
		shown += "\n\n" + f.Text
	}
	v, err := b.permit(ctx, agent.Question{
		Call: llm.ToolUse{Name: KeepTool, Input: input}, Tool: KeepTool,
		Plan: tool.Plan{Actions: []policy.Action{policy.Write{Path: f.Path, Asked: f.Path}}, Title: "Keep " + path, View: view.Text{S: shown}},
	})
	if err == nil && v.Effect == policy.Allow {
		if err := f.box.Keep(f.Found); err != nil {
			return fmt.Sprintf("%s, which a command %s, was to be kept, but: %v. It is in %s", path, did, err, f.At)
		}
		return fmt.Sprintf("%s, which a command %s, is protected (%s); it was kept: %s", path, did, why, v.Reason)
	}
	reason := v.Reason
	if reason == "" && err != nil {
		reason = err.Error()
	}
	if !f.Told {
		b.took(f.Found)
	}
	return fmt.Sprintf("%s, which a command %s, is protected (%s) and %s to %s, out of the workspace: %s. Do not make it again another way; if it is needed, tell the user why", path, did, why, moved, f.At, reason)
}

// took tells a person where something is that was moved away: it may be their
// own, and it may be that nobody is asked.
func (b *Set) took(f sandbox.Found) {
	if b.conf.Note != nil && f.At != "" {
		b.conf.Note(fmt.Sprintf("%s, made while a command ran in the sandbox, is protected (%s) and was moved away. If you made it: %s", clip.Line(clip.Visible(f.Path), 300), clip.Line(clip.Visible(f.Why), 300), f.Back()))
	}
}

// Openly is t for a session with these sandboxes: what it leaves in protected
// paths that its verdict names was made by no command.
func (b *Set) Openly(t tool.Tool) tool.Tool { return openly{t, b} }

// An openly is a tool of adze's own that says in its verdict which protected
// paths it writes: what it leaves there was made by no command.
type openly struct {
	tool.Tool
	sandboxes *Set
}

func (o openly) Run(ctx context.Context, in json.RawMessage, env tool.Env) (r tool.Result, err error) {
	if len(env.Needs.Writable) == 0 {
		return o.Tool.Run(ctx, in, env)
	}
	err = o.sandboxes.Outside(env.Needs.Writable, func() (err error) {
		r, err = o.Tool.Run(ctx, in, env)
		return err
	})
	return r, err
}

// Steering returns what lists the paths that make git run programs, besides
// those that are known by their names. The folders are first looked at when it
// is called, and not at all where the sandbox has looked at them.
func (b *Set) Steering(dir string, dirs []string, home string) func() []policy.Steer {
	made := sync.OnceValue(func() *sandbox.Steering { return sandbox.NewSteering(dir, dirs, home) })
	return func() []policy.Steer {
		if c := b.get(); c != nil {
			if box := c.made.Load(); box != nil {
				if list, ok := box.Steers(); ok {
					return list
				}
			}
		}
		return made().Look()
	}
}
