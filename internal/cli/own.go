package cli

import (
	"bytes"
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

// text is the answer of a command that only shows something.
func (o ownCommands) text(name string) (show func() string, ok bool) {
	show, ok = map[string]func() string{"cost": o.cost, "context": o.fills, "status": o.status, "help": o.help, "usage": o.cost}[name]
	return show, ok
}

// status is the session in a few lines.
func (o ownCommands) status() string {
	a := o.Describe()
	lines := []string{"adze " + a.Version, "session: " + a.ID, "folder: " + a.Dir, "model: " + o.Target().ID(), "mode: " + string(o.Mode()), "key: " + a.Key}
	for _, s := range o.Place().MCP().Status() {
		lines = append(lines, "MCP server "+s.Server.Name+": "+string(s.State))
	}
	return clip.VisibleText(strings.Join(lines, "\n"))
}

// help lists the slash commands that do something here.
func (o ownCommands) help() string {
	var b strings.Builder
	b.WriteString("Slash commands here:\n")
	for _, c := range op.Commands() {
		if _, ok := (ownCommands{}).text(c.Name); ok || c.Name == "clear" {
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

// fills is what fills the model's window.
func (o ownCommands) fills() string {
	var b bytes.Buffer
	for _, l := range draw.Block(o.Map().View(), draw.Options{Width: 100}) {
		for _, s := range l {
			b.WriteString(s.Text)
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// cost is what the session cost.
func (o ownCommands) cost() string {
	a, err := o.desk.Ask(context.Background(), o.ID, ask.Cost{}) // it waits for nothing
	if err != nil {
		return err.Error()
	}
	return a.Text
}

// do implements print.Options.Own.
func (o ownCommands) do(_ context.Context, name, args string) (print.Done, bool) {
	if show, ok := o.text(name); ok {
		return print.Done{Text: show()}, true
	}
	if name == "clear" {
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
