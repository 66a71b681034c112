package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// Launches reports a program that is there to run the words behind it as a command.
func Launches(name string) bool {
	return Standard().is(name, launcher) || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl")
}

// Through is how many words stand before the command that a runner starts, when that
// is all there is to say against a rule with a wildcard; else 0.
func (t *Table) Through(name string, ws []Word) int {
	if name == "git" && len(ws) > 1 && ws[1].Kind == Exact && !strings.HasPrefix(ws[1].Text, "-") && !knownToGit(ws[1].Text) {
		return 1
	}
	if len(ws) < 3 {
		return 0
	}
	p := t.of(name)
	runner := p.form(ws[1:2], func(f *form) bool { return f.command || f.own != "" })
	if !runner.command && (name == "adze" || !slices.Contains(strings.Fields(p.running(ws[1])), "*") || t.beyondFlags(name, ownFlags(name, ws[1:])) != "") {
		return 0
	}
	from := behindRunnerFlags(runner, ws)
	if from >= len(ws) || ws[from].Kind != Exact || strings.HasPrefix(ws[from].Text, "-") {
		return 0
	}
	for i, w := range ws[:min(len(ws), from+4)] { // a further word may be the command: uv tool run find
		if i >= from && w.Kind == Exact && !strings.HasPrefix(w.Text, "-") && t.Beyond(Base(w.Text), ws[i:]) != "" {
			return 0
		}
	}
	return from
}

// behindRunnerFlags is the place of the first word behind a runner and those flags.
func behindRunnerFlags(runner *form, ws []Word) int {
	row := &command{flags: runner.own}
	i := 2
	for ; i < len(ws) && ws[i].Kind == Exact && strings.HasPrefix(ws[i].Text, "-"); i++ {
		name, _, glued := strings.Cut(ws[i].Text, "=")
		kind, ok := row.flag(name)
		if !ok {
			break
		}
		if kind.value != 0 && !glued {
			i++
		}
	}
	return i
}

// ownFlags are the words in which the flags of a program itself may stand: behind go tool
// NAME they are those of the tool.
func ownFlags(name string, args []Word) []Word {
	if name == "go" && len(args) > 1 && args[0].Is("tool") && args[1].Kind == Exact && !strings.HasPrefix(args[1].Text, "-") {
		return args[:2]
	}
	return args
}

// RunsHere reports a runner whose command runs on this machine.
func RunsHere(name string) bool { return !Standard().is(name, remote) }

// MayRun reports a program of which nobody knows whether it runs some of its words:
// one that is in no table, and one that runs the code in a file.
func (t *Table) MayRun(name string, ws []Word) bool {
	if !StandardPath(ws[0].Text) || policy.Runner(name) && !t.is(name, editor|ownNames) {
		return true
	}
	return !t.Has(name) && !t.Changes(name) && !t.is(name, checker|reader|editor|writer|walker|ownNames|namesOthers) && !t.of(name).takesFolders()
}

// RunsText reports a launcher that hands a word to a shell.
func RunsText(name string) bool { return Standard().is(name, takesScripts) }

// RunsBehind reports a subcommand that starts the words behind it, as a command or as a
// file that it runs: "exec" of bundle.
func RunsBehind(name, sub string) bool {
	return Standard().of(name).form([]Word{Lit(sub)}, func(f *form) bool { return f.command || f.script || runners[sub] && f.runs == "*" }).words != ""
}
