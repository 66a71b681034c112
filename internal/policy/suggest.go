package policy

import (
	"path"
	"path/filepath"
	"strings"
)

// suggest lists the exact rules that "always" would save for one action.
func (c *call) suggest(a Action) []string {
	switch a := a.(type) {
	case Exec:
		return c.suggestExec(a)
	case Read:
		if c.owned {
			return c.suggests
		}
		return []string{pathRule("Read", a.Path)}
	case Write:
		if c.owned {
			return c.suggests
		}
		if a.Remove || a.Blind {
			return nil
		}
		if dir := c.holder(a.Path); dir != "" && !shellTool(c.req.Tool) { // a command names one file, and says so
			// The next edit in this folder is the same decision.
			return []string{strings.TrimSuffix(pathRule("Edit", dir), ")") + "/**)"}
		}
		return []string{pathRule("Edit", a.Path)}
	case Net:
		if a.Host == "" {
			return nil
		}
		return []string{"WebFetch(domain:" + strings.ToLower(a.Host) + ")"}
	case Call:
		return []string{"mcp__" + a.Server + "__" + a.Tool}
	case Spawn:
		return []string{"Agent(" + a.Agent + ")"}
	case Tell:
		return []string{"SendMessage(" + a.To + ")"}
	case Workflow:
		if a.Inline {
			return nil
		}
		return []string{"Workflow(" + a.Name + ")"}
	case Skill:
		return []string{"Skill(" + a.Name + ")"}
	case Opaque, Person, None:
	}
	return nil
}

// holder is the session's folder that p is in, "" when it is in none or the
// folder is one that nobody should open as a whole.
func (c *call) holder(p string) string {
	for _, d := range append([]string{c.rules.Dir}, c.rules.Dirs...) {
		if Within(d, p, c.rules.FoldCase) && vital(Rules{Home: c.rules.Home}, Write{Path: d, Remove: true, Tree: true}) == "" {
			return d
		}
	}
	return ""
}

// pathRule names exactly one path; what a pattern would read is escaped.
func pathRule(tool, file string) string {
	var b strings.Builder
	for _, c := range filepath.ToSlash(file) {
		if strings.ContainsRune(`*?[\`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return tool + "(/" + b.String() + ")"
}

// suggestExec is that of package level; of a command that names a path outside of the folders
// of the session, which a rule for its form would not mean, the command itself.
func (c *call) suggestExec(e Exec) []string {
	out := suggestExec(e)
	if len(out) > 0 && len(c.outside(e)) > 0 {
		return []string{"Bash(" + ruleCommand(e.Argv) + ")"}
	}
	return out
}

// suggestExec are the rules for one command: its form with any arguments where
// the form is known to stay the same kind of act, and the forms that do no more
// than that one; else the command itself; none for what runs whatever its
// arguments say.
func suggestExec(e Exec) []string {
	if len(e.Argv) == 0 || e.Loose || e.Beyond != "" || e.Loses != "" {
		return nil
	}
	if n := stable(e.Argv); n > 0 {
		form := strings.Join(e.Argv[:n], " ")
		rules := []string{"Bash(" + form + ":*)"}
		for _, less := range lesserForms[form] {
			rules = append(rules, "Bash("+less+":*)")
		}
		return rules
	}
	if Runner(e.Argv[0]) && e.Argv[0] != "make" && e.Argv[0] != "just" {
		return nil
	}
	return []string{"Bash(" + ruleCommand(e.Argv) + ")"}
}

// suggestOf is suggestExec of the command that touches something, nil for none.
func suggestOf(e *Exec) []string {
	if e == nil {
		return nil
	}
	return suggestExec(*e)
}

// stable is how many words of argv make a stable form, 0 for none.
func stable(argv []string) int {
	for n := min(3, len(argv)); n > 0; n-- {
		if stableForms[strings.Join(argv[:n], " ")] {
			return n
		}
	}
	return 0
}

// Runner reports whether a program runs what its arguments say.
func Runner(program string) bool { return runs(programName(program)) }

// Interpreter reports a Runner that runs the script which its first operand names.
func Interpreter(program string) bool { return interpreters[programName(program)] }

// runs is Runner of a program's bare name.
func runs(name string) bool { return runners[name] || interpreters[name] }

// programName is a program's name without its folder, its ending and its version.
func programName(program string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(filepath.ToSlash(program))), ".exe")
	if bare := strings.TrimRight(name, "0123456789."); !runs(name) && runs(bare) {
		return bare
	}
	return name
}

// Lint returns what a person should know about a rule before trusting it, ""
// when nothing. It warns about rules that can never match, and about allow
// rules that let an interpreter or a runner run anything.
func Lint(r Rule) string {
	if dead := Dead(r); dead != "" {
		return dead
	}
	switch {
	case shellTool(r.Tool):
		return lintCommand(r)
	case family(r.Tool) == "Read", family(r.Tool) == "Edit":
		return lintPath(r)
	}
	return ""
}

func lintPath(r Rule) string {
	if !onWindows && strings.Contains(r.Spec, "\\") && !strings.ContainsAny(r.Spec, "/*") {
		return "paths in rules use / on every system; a backslash makes the next character literal"
	}
	if r.Effect == Allow && (r.Spec == "//" || r.Spec == "//**" || r.Spec == "~" || r.Spec == "~/**") && r.family() == "Edit" {
		return "this rule allows changing nearly every file"
	}
	return ""
}

func lintCommand(r Rule) string {
	spec := strings.TrimSpace(r.Spec)
	p := compileCommand(spec)
	switch mid := strings.Index(spec, ":*"); {
	case p.any && r.Effect == Allow:
		return "this rule allows every command"
	case r.Effect != Allow, p.any:
		return ""
	case mid >= 0 && mid != len(spec)-2 && strings.HasPrefix(spec[mid:], ":* ") && !p.none:
		return "':*' means \"anything behind it\" only at the end of a rule; here it is taken literally"
	case strings.HasSuffix(spec, " '*'"):
		return "a star in single quotes is taken literally; in double quotes it stands for anything"
	case p.none, p.exact():
		return ""
	}
	f := p.fixed()
	if len(f) == 0 {
		return "this rule begins with a wildcard and allows every program of that form"
	}
	runs := Runner(f[0]) || runnerForms[f[0]]
	switch {
	case len(f) == 1 && runs:
		return "this rule lets " + f[0] + " run anything"
	case len(f) == 2 && runnerForms[f[0]+" "+f[1]],
		len(f) == 2 && Runner(f[0]) && (f[1] == "-c" || f[1] == "-e" || f[1] == "exec" || f[1] == "run" || f[1] == "-m"):
		return "this rule lets " + f[0] + " " + f[1] + " run anything"
	}
	return ""
}

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" {
		return false
	}
	for i, c := range name {
		if c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9' {
			continue
		}
		return false
	}
	return true
}
