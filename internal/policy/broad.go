package policy

import (
	"slices"
	"strings"
	"sync"
)

// Aside are the rules of a list that do not count in the mode auto: those that allow so
// much that its classifier would have nothing to rule on. They allow every command or every
// agent, or whatever an interpreter, a shell or a runner is given.
func Aside(list []Rule) (out []Rule) {
	for _, r := range list {
		if Broad(r) {
			out = append(out, r)
		}
	}
	return out
}

// WithoutAside are the rules without those that Aside has.
func WithoutAside(r Rules) Rules {
	if slices.ContainsFunc(r.List, Broad) {
		r.List = slices.DeleteFunc(slices.Clone(r.List), Broad)
	}
	return r
}

// Broad reports whether a rule allows any program, any agent or any workflow.
func Broad(r Rule) bool {
	if r.Effect != Allow || !shellTool(r.Tool) {
		return r.Effect == Allow && (r.family() == "Agent" || r.Tool == "Workflow")
	}
	return slices.ContainsFunc(readings(r.Spec, false, nil)[0].steps, func(s step) bool { return s.broad() })
}

// broad is Broad for one command of a rule.
func (p commandPattern) broad() bool {
	switch words, part := p.begin(); {
	case p.any:
		return true
	case p.none:
		return false
	case p.exact():
		return len(words) > 0 && interpreters[programName(words[0])] && runsCode(words[1:]) && !slices.ContainsFunc(words[1:], codeFlag) // it reads a program
	case len(words) == 0:
		return anyProgram(part)
	default:
		if begin, _, _ := strings.Cut(strings.ReplaceAll(part, string(within), string(star)), string(star)); begin != "" { // a wildcard goes on behind the word
			words = append(words, begin)
		}
		return runsAnything(words)
	}
}

// begin are the words of a pattern before its first wildcard, and the word with that.
func (p commandPattern) begin() (fixed []string, part string) {
	fixed = slices.Clone(p.fixed())
	if all := strings.Split(p.wild, "\x00"); p.wild != "" && len(fixed) < len(all) {
		part = all[len(fixed)]
	}
	return fixed, part
}

// anyProgram reports whether a name with a wildcard is also the name of a program that runs
// what it is given.
func anyProgram(part string) bool {
	is := func(name string) bool {
		return wildMatch(part, name) || strings.Contains(part, "/") && slices.ContainsFunc(programPlaces, func(dir string) bool { return wildMatch(part, dir+"/"+name) })
	}
	for _, table := range []map[string]bool{runners, interpreters} {
		for name := range table {
			if is(name) {
				return true
			}
		}
	}
	for form := range startForms() {
		if is(strings.Fields(form)[0]) {
			return true
		}
	}
	return false
}

// runsAnything reports whether a command that begins with words, and goes on as the model
// likes, can be any program.
func runsAnything(words []string) bool {
	for len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return true
	}
	name, rest := programName(words[0]), words[1:]
	switch {
	case name == "make" || name == "just": // what stands behind is a name in a file of the project
		return !slices.ContainsFunc(rest, plainOperand)
	case name == "command" && len(rest) > 0 && (rest[0] == "-v" || rest[0] == "-V"): // says where a program is
		return false
	case contained[name]:
		return runsInside(name, rest)
	case interpreters[name]:
		return runsCode(rest)
	case Runner(name):
		return runsBehind(rest)
	}
	for n := min(3, len(words)); n > 1; n-- {
		if named, ok := startForms()[strings.Join(append([]string{name}, words[1:n]...), " ")]; ok && named {
			return !slices.ContainsFunc(words[n:], plainOperand)
		} else if ok {
			return runsBehind(words[n:])
		}
	}
	for form := range startForms() {
		if strings.HasPrefix(form, name+" ") && len(rest) == 0 {
			return true
		}
	}
	return false
}

// runsCode reports whether the words behind an interpreter leave open what it runs: they
// name no script and no module, or have a flag behind which code stands.
func runsCode(rest []string) bool {
	for i, w := range rest {
		switch before := append([]string{""}, rest...)[i]; {
		case w == "eval" || w == "repl" || codeFlag(w):
			return true
		case w == "x" || w == "exec":
			return runsBehind(rest[i+1:])
		case w == "run" || w == "task" || !plainOperand(w): // of bun and deno
		case before != "-m" && takesValue(before) && !strings.ContainsAny(w, "./"):
		default:
			return false
		}
	}
	return true
}

// runsBehind reports whether the words behind a program that runs a command leave open
// which one. A word behind a flag may be its value.
func runsBehind(rest []string) bool {
	for i, w := range rest {
		switch {
		case w == "-c" || w == "--call":
			return true
		case !plainOperand(w) || isAssignment(w) || strings.Trim(w, "0123456789.smhd") == "":
		default:
			return runsAnything(rest[i:]) || i > 0 && takesValue(rest[i-1]) && runsBehind(rest[i+1:])
		}
	}
	return true
}

// runsInside is runsBehind of a program that runs commands in a container or on another
// machine, which its first operand names.
func runsInside(name string, rest []string) bool {
	if name != "ssh" {
		at := slices.IndexFunc(rest, func(w string) bool { return w == "run" || w == "exec" || w == "debug" })
		if at < 0 { // docker ps
			return !slices.ContainsFunc(rest, func(w string) bool { return plainOperand(w) && w != "compose" })
		}
		rest = rest[at+1:]
	}
	for i, w := range rest {
		if plainOperand(w) && (i == 0 || !takesValue(rest[i-1])) {
			return runsBehind(rest[i+1:])
		}
	}
	return true
}

// codeFlag reports a flag of an interpreter behind which code stands: -c, -lc, -pe, --eval.
func codeFlag(w string) bool {
	flag, _, _ := strings.Cut(strings.ToLower(w), "=")
	switch flag {
	case "--eval", "--print", "--exec", "--command", "--init-command", "-command", "-encodedcommand", "/c", "/k":
		return true
	}
	return len(flag) > 1 && len(flag) < 6 && flag[0] == '-' && flag[1] != '-' && strings.ContainsAny(flag[len(flag)-1:], "cepr")
}

// plainOperand reports a word that is no flag.
func plainOperand(w string) bool { return w != "" && w[0] != '-' && w != "/dev/stdin" }

// takesValue reports a flag that may take the next word as its value.
func takesValue(w string) bool {
	return len(w) > 1 && w[0] == '-' && w != "--" && !strings.Contains(w, "=") && !slices.Contains([]string{"-y", "--yes", "-i", "-t", "-it", "-ti", "-q", "--quiet", "--rm", "-B", "-E"}, w)
}

// startForms are beginnings of commands that run what stands behind them; true where that
// is a script of the project by its name. Those of git and gh are not among them: no rule
// with a wildcard covers them (Exec.Beyond).
var startForms = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{"uv tool run": false, "mise x": false, "nix run": false, "nix develop": false, "nix shell": false}
	for form := range runnerForms {
		if name, _, ok := strings.Cut(form, " "); ok && name != "git" && name != "gh" {
			out[form] = false
		}
	}
	for _, form := range []string{"npm run", "npm run-script", "pnpm run", "yarn run", "go run", "cargo run", "dotnet run", "mix run"} {
		out[form] = true
	}
	return out
})

// contained are runners whose commands run elsewhere.
var contained = map[string]bool{"docker": true, "podman": true, "kubectl": true, "ssh": true}
