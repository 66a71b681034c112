package bash

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// silent is what exit code 1 of a program means that uses it as an answer.
// The programs of the first group print nothing then.
var silent = map[string]string{
	"grep": "no match", "egrep": "no match", "fgrep": "no match", "zgrep": "no match", "rg": "no match", "ag": "no match",
	"git grep": "no match", "pgrep": "no such process", "pidof": "no such process",
	"test": "the condition is false", "[": "the condition is false", "[[": "the condition is false",
	"which": "not found on PATH", "type": "not found", "command": "not found", "cmp": "the files differ",
	"git check-ignore": "nothing is ignored", "git merge-base": "not an ancestor",
}

var answers = map[string]string{
	"diff": "the files differ", "colordiff": "the files differ", "zdiff": "the files differ", "git diff": "there are differences",
}

// codes are what the shell and common tools mean by other codes.
var codes = map[int]string{
	124: "the timeout command ended it",
	126: "found, but it cannot be run: not executable, or a directory",
	127: "command not found",
	130: "interrupted (SIGINT)",
	132: "illegal instruction (SIGILL)",
	134: "aborted (SIGABRT)",
	135: "bus error (SIGBUS)",
	136: "arithmetic error (SIGFPE)",
	137: "killed (SIGKILL); often because memory ran out",
	139: "segmentation fault (SIGSEGV)",
	141: "its reader went away (SIGPIPE)",
	143: "terminated (SIGTERM)",
}

// exitNote says in one line what a status means, "" for success, and whether
// it is a failure. quiet: the command printed nothing.
func exitNote(command string, st proc.Status, quiet bool) (note string, failed bool) {
	if st.Code == 0 {
		return "", false
	}
	note = fmt.Sprintf("exit code %d", st.Code)
	if st.Code == 1 {
		if why := meaning(command, quiet); why != "" {
			return note + ": " + why + "; that is not an error", false
		}
		return note, true
	}
	if why, ok := codes[st.Code]; ok {
		note += ": " + why
	} else if st.Signal != "" {
		note += ": " + st.Signal
	}
	return note, true
}

// meaning says what exit code 1 means when it is an answer. All programs that
// could have given the code must be of that kind; only when nothing was
// printed is the last one enough, because another one would have complained.
func meaning(command string, quiet bool) string {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(f.Stmts) == 0 {
		return ""
	}
	names := deciders(f.Stmts[len(f.Stmts)-1])
	if len(names) == 0 {
		return ""
	}
	last := names[len(names)-1]
	all := true
	for _, n := range names {
		if silent[n] == "" && answers[n] == "" {
			all = false
		}
	}
	switch {
	case silent[last] != "" && (all || quiet):
		return silent[last]
	case all:
		return answers[last]
	}
	return ""
}

// ownProcesses is said of a command in the sandbox that found no such process, while
// another command runs in the background.
const ownProcesses = "in the sandbox not every command sees the processes of a command in the background: if this looked for one, end it with TaskStop"

var noProcess = pattern.Lazy(`(?i)no such process|no process found|\bkill: usage:|ProcessLookupError|\bESRCH\b`)

// seeksProcess reports whether a command that failed says that there is no such
// process, or does by its last program, which prints nothing then.
func seeksProcess(command, output string) bool {
	if noProcess().MatchString(output) {
		return true
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(f.Stmts) == 0 || strings.TrimSpace(output) != "" {
		return false
	}
	names := deciders(f.Stmts[len(f.Stmts)-1])
	return slices.Contains([]string{"pkill", "pgrep", "pidof"}, names[len(names)-1])
}

// deciders names the programs one of which gives a statement's exit code; a
// "" among them is one that is not known.
func deciders(s *syntax.Stmt) []string {
	if s.Background || s.Negated {
		return []string{""}
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt {
			return append(deciders(c.X), deciders(c.Y)...)
		}
		return deciders(c.Y)
	case *syntax.CallExpr:
		return []string{program(c.Args)}
	case *syntax.TestClause:
		return []string{"[["}
	case *syntax.Subshell:
		if n := len(c.Stmts); n > 0 {
			return deciders(c.Stmts[n-1])
		}
	case *syntax.Block:
		if n := len(c.Stmts); n > 0 {
			return deciders(c.Stmts[n-1])
		}
	}
	return []string{""}
}

// program names what words run: the base name, with git its subcommand, with
// the common wrappers what they wrap.
func program(words []*syntax.Word) string {
	var argv []string
	for _, w := range words {
		argv = append(argv, w.Lit()) // "" unless it is plain
	}
	for len(argv) > 0 {
		name := path.Base(argv[0])
		switch name {
		case "nice", "nohup", "time", "stdbuf", "env", "timeout":
			i := 1
			for i < len(argv) && (strings.HasPrefix(argv[i], "-") || strings.Contains(argv[i], "=") || name == "timeout" && i == 1) {
				i++
			}
			argv = argv[i:]
			continue
		case "command":
			if len(argv) > 1 && !strings.HasPrefix(argv[1], "-") {
				argv = argv[1:]
				continue
			}
		case "git":
			for i := 1; i < len(argv); i++ {
				switch {
				case argv[i] == "-C" || argv[i] == "-c":
					i++
				case !strings.HasPrefix(argv[i], "-"):
					return "git " + argv[i]
				}
			}
		}
		return name
	}
	return ""
}
