package pick

import (
	"slices"
	"strings"
)

// A Command is what can be entered after "/".
type Command struct {
	Name    string // without "/"
	Args    string // a hint: "[path]", "<name>"
	What    string // a short description
	Source  string // where it comes from, "" for built in: "project", "user", "skill", "mcp:git"
	Aliases []string
}

// Palette makes the choices for "/". The ID is the command's name.
func Palette(commands []Command) []Item {
	items := make([]Item, len(commands))
	for i, c := range commands {
		title := "/" + c.Name
		if c.Args != "" {
			title += " " + c.Args
		}
		items[i] = Item{ID: c.Name, Title: title, Detail: c.What, Note: c.Source, Search: strings.Join(c.Aliases, " ")}
	}
	return items
}

// ArgsHint is what to show behind the text of a prompt: the hint for the
// arguments of its command, while none are typed.
func ArgsHint(commands []Command, text string) string {
	name, rest, spaced := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	if !strings.HasPrefix(text, "/") || strings.TrimSpace(rest) != "" {
		return ""
	}
	i := slices.IndexFunc(commands, func(c Command) bool { return c.Name == name || slices.Contains(c.Aliases, name) })
	switch {
	case i < 0 || commands[i].Args == "":
		return ""
	case spaced:
		return commands[i].Args
	}
	return " " + commands[i].Args
}
