package programs

import (
	"slices"
	"strings"
)

// Starts is how many words of a command say that what is behind them is another one to
// run, when that is all there is to say against a rule with a wildcard; else 0. program
// says that a rule for the program alone speaks of it, too: running others is what it is
// for (docker exec, npx).
func (t *Table) Starts(name string, ws []Word) (words int, program bool) {
	args := ws[1:]
	if len(args) == 0 || beyondFlags(name, ownFlags(name, args)) != "" {
		return 0, false
	}
	switch name {
	case "npx", "bunx", "uvx", "pnpx", "pipx":
		return 1, true
	case "git":
		if len(args) > 1 && args[0].Is("remote") && (args[1].Is("add") || args[1].Is("set-url")) {
			return 2, false
		}
	case "adze":
		return 0, false
	}
	if args[0].Kind != Exact || strings.HasPrefix(args[0].Text, "-") {
		return 0, false
	}
	sub := launchWords()[name+" "+args[0].Text]
	if slices.Contains(sub, "*") {
		return 2, running[args[0].Text]
	}
	at := 0
	for i, w := range args[1:] {
		switch {
		case w.Kind != Exact || !matches(sub, name, w.Text):
		case at > 0 || strings.HasPrefix(w.Text, "-"):
			return 0, false
		default:
			at = i + 3
		}
		if at > 0 && running[w.Text] && name != "git" {
			return at, true // what follows is the command
		}
	}
	return at, false
}

// running are subcommands that run the words behind them.
var running = map[string]bool{"exec": true, "run": true, "x": true, "dlx": true, "debug": true}

// LostWords are the words by which a rule says that it means a command which destroys
// something: what the program is told to do, and the flags. A subcommand that does
// nothing else needs none.
func LostWords(name string, ws []Word) []string {
	out := []string{name}
	if len(ws) < 2 || ws[0].Text != name || ws[1].Kind != Exact || strings.HasPrefix(ws[1].Text, "-") {
		return nil
	}
	out = append(out, ws[1].Text)
	if name != "git" {
		if losses()[name] == nil {
			return nil
		}
		for _, l := range losses()[name] {
			if n := len(l.words); n > 0 && l.words[0] == ws[1].Text {
				out = append(out[:1], l.words...)
			}
		}
	} else if ws[1].Text == "restore" || ws[1].Text == "clean" {
		return out
	} else if ws[1].Text == "stash" || ws[1].Text == "worktree" || ws[1].Text == "submodule" || ws[1].Text == "reflog" {
		if len(ws) < 3 || ws[2].Kind != Exact {
			return nil
		}
		out = append(out, ws[2].Text)
	}
	for _, w := range ws[2:] {
		switch {
		case w.Kind != Exact && w.FlagLike():
			return nil
		case strings.HasPrefix(w.Text, "-") && !slices.Contains(out, w.Text), strings.HasPrefix(w.Text, "+"), strings.HasPrefix(w.Text, ":"):
			out = append(out, w.Text)
		}
	}
	return out
}
