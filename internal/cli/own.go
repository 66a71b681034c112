package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/print"
)

// ownCommands are adze's own slash commands in print mode.
type ownCommands struct {
	running
	desk     *desk.Desk
	programs bool // a program reads the answers
}

// looked are the queries of slash commands that only show something; status and help, which
// are nil, are made here.
var looked = map[string]ask.Query{"cost": ask.Cost{}, "usage": ask.Cost{}, "context": ask.Context{}, "status": nil, "help": nil}

// status is the session in a few lines.
func (o ownCommands) status() string {
	a := o.Describe()
	lines := []string{"adze " + a.Version, "session: " + a.ID, "folder: " + a.Dir, "model: " + o.Target().ID(), "mode: " + string(o.Mode()), "key: " + a.Key}
	for _, s := range o.Place().Extensions().Status() {
		lines = append(lines, "MCP server "+s.Server.Name+": "+string(s.State))
	}
	return clip.VisibleText(strings.Join(lines, "\n"))
}

// help lists the slash commands that do something here.
func (o ownCommands) help() string {
	var b strings.Builder
	b.WriteString("Slash commands here:\n")
	for _, c := range op.Commands() {
		if _, ok := looked[c.Name]; ok || c.Name == "clear" {
			fmt.Fprintf(&b, "/%s: %s\n", c.Name, c.About)
			continue
		}
		if c.Make != nil {
			fmt.Fprintf(&b, "/%s %s: %s\n", c.Name, c.Args, c.About)
		}
	}
	for _, o := range o.Extended().Commands {
		fmt.Fprintf(&b, "/%s: %s\n", clip.Line(clip.Visible(o.Name), 80), clip.Line(clip.Visible(o.About), 200))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// answer is what the desk answers, as text.
func (o ownCommands) answer(ctx context.Context, q ask.Query) string {
	a, err := o.desk.Ask(ctx, o.ID, q)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, shape := range a.Shapes {
		for _, l := range draw.Block(shape, draw.Options{Width: 100}) {
			for _, s := range l {
				b.WriteString(s.Text)
			}
			b.WriteByte('\n')
		}
	}
	return a.Text + strings.TrimRight(b.String(), "\n")
}

// do implements print.Options.Own.
func (o ownCommands) do(ctx context.Context, name, args string) (print.Done, bool) {
	switch q := looked[name]; {
	case q != nil:
		return print.Done{Text: o.answer(ctx, q)}, true
	case name == "goal" && args == "":
		return print.Done{Text: o.State().GoalText()}, true
	case name == "status":
		return print.Done{Text: o.status()}, true
	case name == "help":
		return print.Done{Text: o.help()}, true
	case name == "clear":
		return o.clear(), true
	}
	all := op.Commands()
	i := slices.IndexFunc(all, func(c op.Command) bool { return c.Name == name })
	_, reported := (&uiHost{}).reports()[name]
	switch {
	case i < 0 && !reported:
		if name == "" {
			return print.Done{Text: "Unknown command: /"}, true
		}
		return print.Done{}, false
	case i >= 0:
		if all[i].Make != nil {
			made, err := all[i].Make(args)
			if err != nil {
				return print.Done{Text: err.Error()}, true
			}
			return print.Done{Op: made}, true
		}
	}
	switch q := ask.Slash(name, args).(type) { // a prompt may be of anybody's making, so it changes nothing
	case ask.Servers, ask.Offers:
		if ask.Needs(q) == ask.Watch {
			return print.Done{Text: o.answer(ctx, q)}, true
		}
	default:
	}
	text := fmt.Sprintf("/%s is a command of the terminal UI.", name)
	if how := elsewhere[name]; how != "" {
		text += " Here: " + how
	}
	return print.Done{Text: text}, true
}

// clear begins the conversation anew: it can be taken back, and files stay.
func (o ownCommands) clear() print.Done {
	for _, s := range o.State().Said {
		if s.Gone == 0 {
			return print.Done{Op: op.Rewind{To: s.ID, Conversation: true}, Fresh: true}
		}
	}
	return print.Done{}
}

// unknown implements print.Options.NoCommand for programs: what looks like a command
// and is none is not paid for.
func (o ownCommands) unknown(text string, _ error) (string, error) {
	m := looksCommand().FindStringSubmatch(strings.Fields(text)[0])
	if m == nil {
		return "", nil
	}
	if _, err := os.Lstat(strings.Fields(text)[0]); err == nil {
		return "", nil // a path
	}
	return "Unknown command: /" + m[1], nil
}

// approver has a tool of an MCP server answer questions, as --permission-prompt-tool
// names it.
func approver(a running, tool string) func(context.Context, string, json.RawMessage, string) (string, error) {
	return func(ctx context.Context, name string, input json.RawMessage, call string) (string, error) {
		question, err := json.Marshal(map[string]any{"tool_name": name, "input": input, "tool_use_id": call})
		if err != nil {
			return "", err
		}
		return a.Approve(ctx, tool, question)
	}
}
