package tui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/pick"
)

// commandsFor are the commands that match what was typed, the best first.
func (m *Model) commandsFor(word string) []dialog.Found {
	q := pick.NewQuery(word)
	type rated struct {
		dialog.Found
		score int
	}
	var hits []rated
	for _, c := range m.commands() {
		score, at, ok := q.Match(c.name)
		if !ok {
			continue
		}
		if word != "" && strings.HasPrefix(c.name, word) {
			score += 10_000 - len(c.name)
		}
		args := c.args
		if args != "" && !strings.ContainsAny(args[:1], "<[-") { // it would read on as a part of the sentence
			args = "[" + args + "]"
		}
		hits = append(hits, rated{dialog.Found{Choice: Choice{ID: c.name, Name: c.name, About: c.told(), Right: args}, At: at}, score})
	}
	order.By(hits, func(a, b rated) int { return cmp.Compare(b.score, a.score) })
	out := make([]dialog.Found, len(hits))
	for i, h := range hits {
		out[i] = h.Found
	}
	return out
}

// command runs a line that begins with "/".
func (m *Model) command(line string) []effect {
	name, args, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "/"), " ")
	all := m.commands()
	i := near.Named(name, len(all), func(i int) string { return all[i].name })
	if i >= 0 {
		c := all[i]
		if args = strings.TrimSpace(args); args != "" && c.args == "" && c.from == "" {
			m.box.Set(line) // it can be mended
			m.say("/"+name+" takes no arguments", draw.Attention)
			return nil
		}
		return c.run(m, args)
	}
	if m.s == nil && m.gone == nil || m.past { // what extensions bring is not known yet
		return m.sendCommand(line)
	}
	if name == "quit" {
		return m.quit()
	}
	text := "there is no command /" + draw.String(name)
	if close := m.nearest(name, all); len(close) > 0 {
		text += "; did you mean /" + strings.Join(close, " or /") + "?"
	}
	m.box.Set(line) // it can be mended
	m.say(text, draw.Attention)
	return nil
}

// elsewhere are names that commands have in other agents, and ours.
var elsewhere = map[string]string{
	"new": "clear", "reset": "clear", "undo": "rewind", "checkpoint": "rewind", "restore": "rewind", "approvals": "permissions", "allowed-tools": "permissions", "tools": "permissions",
	"models": "model", "sessions": "resume", "chat": "resume", "history": "resume", "continue": "resume", "settings": "config", "summarize": "compact", "compress": "compact", "themes": "theme",
	"directory": "add-dir", "editor": "keybindings", "vi": "vim", "todo": "todos", "bashes": "tasks", "ps": "tasks", "agent": "agents", "share": "export", "feedback": "bug", "connect": "login", "auth": "login",
}

// nearest are up to three commands that a name which is none may stand for:
// those a slip of the finger away, else those that have its letters.
func (m *Model) nearest(name string, all []command) []string {
	if own := elsewhere[name]; own != "" && slices.ContainsFunc(all, func(c command) bool { return c.name == own }) {
		return []string{own}
	}
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	close := near.Words(name, names)
	if len(close) == 0 {
		for _, f := range m.commandsFor(name) {
			close = append(close, draw.String(f.ID))
		}
	}
	return close[:min(len(close), 3)]
}
