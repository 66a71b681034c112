package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// nameSigns are what names of variables consist of, also those of make and cmake.
const nameSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

// ValueBeyond says which value among the words of a command a rule with a wildcard does
// not speak of: one that is more than a value where a shell or make reads it, and one of a
// variable or a flag that names a program, or the flags of one.
func ValueBeyond(program string, args []Word) string {
	t := Standard()
	if t.is(program, takesTexts) || policy.Runner(program) && !t.is(program, ownNames) {
		return ""
	}
	for i, w := range args {
		if why := t.sets(program, w); why != "" {
			return why
		}
		if w.Kind != Exact {
			continue
		}
		name, val, assigned := strings.Cut(w.Text, "=")
		flag := strings.HasPrefix(name, "-")
		if flag && len(name) > 2 && (name[1] == 'D' || name[1] == 'P') { // -DCMAKE_C_COMPILER=x
			name, flag = name[2:], false
		}
		name, _, _ = strings.Cut(name, ":") // -DNAME:TYPE=x
		variable := assigned && !flag && name != "" && strings.Trim(name, nameSigns) == ""
		signs := "`\n"
		if variable {
			signs = "`\n;|&"
		}
		switch {
		case strings.ContainsAny(w.Text, signs), strings.Contains(w.Text, "$(") || strings.Contains(w.Text, "${"):
			return w.Source + " may be more than a value where " + program + " hands it on"
		case variable && namesProgram(name):
			return name + " names a program, or flags of one, that " + program + " runs"
		case flag && !assigned && i+1 < len(args):
			val, assigned = args[i+1].Text, true
		}
		if flag && assigned && strings.ContainsAny(val, "/ ") && programFlag(name) {
			return program + " " + name + " names a program that it runs"
		}
	}
	return ""
}

// sets says why a word of make is more than a plain value for a variable of its files: !=
// runs a command, a sign of currency stands for another text, and what is set so goes to
// the programs that make starts, as if it stood before make.
func (t *Table) sets(program string, w Word) string {
	name, val, ok := strings.Cut(w.Text, "=")
	if !ok || !t.is(program, setsWords) || w.Kind != Exact && w.Kind != Pattern || strings.HasPrefix(name, "-") {
		return ""
	}
	name, val = strings.TrimSpace(strings.TrimSuffix(name, ":")), strings.TrimSpace(val)
	switch {
	case name == "" || strings.Trim(name, nameSigns) != "":
		return w.Source + " is more than NAME=value, which is all that a rule for " + program + " speaks of"
	case strings.Contains(strings.TrimSuffix(w.Text, "$"), "$"): // at the end it stands for nothing: -run ^TestX$
		return w.Source + " may be more than a value where " + program + " hands it on"
	case Steers(name, val) && !strings.HasSuffix(name, "_VERSION") && !strings.HasSuffix(name, "_TAG") && !strings.HasSuffix(name, "_IMAGE"):
		return "the variable " + name + " may change what the programs do that " + program + " runs"
	}
	return ""
}

// namesProgram reports a variable that by custom names a program or has flags for one.
func namesProgram(variable string) bool {
	up := strings.ToUpper(strings.ReplaceAll(variable, ".", "_"))
	if slices.Contains([]string{"CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "FC", "F77", "LEX", "YACC", "INSTALL", "MAKE", "PYTHON", "PERL", "RUBY", "NODE", "GO", "CARGO", "RUSTC", "AWK", "SED", "BASH", "SH", "GIT", "SSH", "SUDO", "RANLIB", "STRIP", "OBJCOPY", "CROSS_COMPILE", "MAKEOVERRIDES", "MAKEFILES", "BASH_ENV", "ENV", "PATH", "LD_PRELOAD", "LD_LIBRARY_PATH"}, up) {
		return true
	}
	return slices.ContainsFunc([]string{"FLAGS", "OPTS", "OPTIONS", "COMMAND", "CMD", "SHELL", "LAUNCHER", "WRAPPER", "EDITOR", "PAGER", "BROWSER", "RUNNER", "PROGRAM", "EXECUTABLE", "COMPILER", "LINKER", "_CC", "HOSTCC", "_CXX", "_LD", "_RSH", "_SSH", "HOOK"}, func(s string) bool { return strings.HasSuffix(up, s) })
}

// programFlag reports a flag that by its name takes a program.
func programFlag(flag string) bool {
	flag = strings.ToLower(strings.TrimLeft(flag, "-"))
	last := flag[strings.LastIndexAny(flag, "-._")+1:]
	return slices.Contains([]string{"exec", "command", "cmd", "call", "shell", "hook", "editor", "viewer", "browser", "pager", "program", "launcher", "wrapper", "runner", "plugin", "loader", "rsh", "gyp", "git", "python", "preload", "askpass", "linker", "compiler", "interpreter", "debugger", "module", "executable", "under", "require", "import", "pre"}, last)
}
