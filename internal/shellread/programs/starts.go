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
	if len(args) == 0 || t.beyondFlags(name, ownFlags(name, args)) != "" {
		return 0, false
	}
	switch name {
	case "npx", "bunx", "uvx", "pnpx", "pipx":
		return 1, true
	case "adze":
		return 0, false
	}
	if args[0].Kind != Exact || strings.HasPrefix(args[0].Text, "-") {
		return 0, false
	}
	sub := t.of(name).running(args[0])
	if slices.Contains(strings.Fields(sub), "*") {
		return 2, runners[args[0].Text]
	}
	at := 0
	for i, w := range args[1:] {
		switch {
		case w.Kind != Exact || !matches(sub, w.Text):
		case at > 0 || strings.HasPrefix(w.Text, "-"):
			return 0, false
		default:
			at = i + 3
		}
		if at > 0 && runners[w.Text] && name != "git" {
			return at, true // what follows is the command
		}
	}
	return at, false
}

// runners are subcommands that run the words behind them.
var runners = map[string]bool{"exec": true, "run": true, "x": true, "dlx": true, "debug": true}
