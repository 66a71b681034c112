package tui

import (
	"strings"

	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// newHelp lists keys and commands.
func newHelp(m *Model) *dialog.Sheet {
	if m.screen.plain {
		return plainHelp(m)
	}
	return &dialog.Sheet{Heading: "Help", Lines: func(p dialog.Paper, width int) []draw.Line {
		var out []draw.Line
		head := func(s string) {
			if len(out) > 0 {
				out = append(out, nil)
			}
			out = append(out, draw.L(draw.S(s, draw.Heading)))
		}
		row := func(left, right string) { out = append(out, helpRow(left, right, width)...) }
		head("Begin a prompt with")
		row("@", "a file of this folder")
		row("/", "a command")
		row("!", "a shell command, run now, in the sandbox like the model's; the model reads what it prints")
		row("#", "a line for a memory file, known from now on")
		for _, part := range []struct {
			name string
			in   keymap.Context
		}{
			{"Everywhere", keymap.Global}, {"In the prompt", keymap.Chat}, {"While a command runs", keymap.Task},
			{"At a question", keymap.Confirmation}, {"In a menu", keymap.Select}, {"In the search of prompts", keymap.HistorySearch},
			{"In the list of files or commands", keymap.Autocomplete}, {"In the whole conversation", keymap.Transcript}, {"Editing", keymap.Edit},
		} {
			head(part.name)
			for _, r := range m.keys.Help(part.in) {
				if len(r.Keys) > 0 {
					row(strings.Join(r.Keys[:min(len(r.Keys), 2)], ", "), r.What)
				}
			}
		}
		head("Commands")
		for _, c := range m.commands() {
			row(strings.TrimSpace("/"+c.name+" "+c.args), c.told())
		}
		return out
	}}
}

// helpRow is what can be typed or pressed, and what that does.
func helpRow(left, right string, width int) []draw.Line {
	if width < 60 { // no room for two columns
		return draw.L(draw.S(left, draw.Accent), draw.S("  "+right, draw.Plain)).Wrap(width, draw.S("  ", draw.Plain))
	}
	if draw.Width(left) > 22 { // it has lines of its own
		out := draw.L(draw.S(left, draw.Accent)).Wrap(width, draw.S("  ", draw.Plain))
		return append(out, draw.Indent(draw.L(draw.S(right, draw.Plain)).Wrap(width-23), draw.S(strings.Repeat(" ", 23), draw.Plain))...)
	}
	l := draw.L(draw.S(story.Pad(left, 22)+" ", draw.Accent), draw.S(right, draw.Plain))
	return l.Wrap(width, draw.S(strings.Repeat(" ", 23), draw.Plain))
}

// plainHelp lists what lines can be where nothing is drawn anew.
func plainHelp(m *Model) *dialog.Sheet {
	return &dialog.Sheet{Heading: "Help", Lines: func(p dialog.Paper, width int) []draw.Line {
		var out []draw.Line
		row := func(left, right string) { out = append(out, helpRow(left, right, width)...) }
		head := func(s string) { out = append(out, draw.L(draw.S(s, draw.Heading))) }
		head("A line is sent with Enter. It is a prompt, or begins with")
		row("/", "a command; they are listed below")
		row("!", "a shell command, run now, in the sandbox like the model's; the model reads what it prints")
		row("#", "a line for a memory file, known from now on")
		row("@ in a prompt", "a file of this folder, such as @main.go")
		row("\\ at its end", "the prompt goes on in the next line")
		row("several lines pasted", "an empty line sends them")
		head("While the model works")
		row("a line", "goes to it with its next step")
		row("Ctrl+C", "stops it; twice quits")
		head("At a question")
		row("a number", "the answer of that number")
		row("?", "what else can be answered")
		row("Ctrl+C", "leaves a list, stops the turn of a question")
		head("To leave")
		row("/exit, Ctrl+D twice", "ends adze; the session can be gone on with")
		head("Commands")
		for _, c := range m.commands() {
			row(strings.TrimSpace("/"+c.name+" "+c.args), c.told())
		}
		return out
	}}
}
