package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
)

type reading func(r *reader, ws []word, st state) (ok, any state)

// builtin finds what bash does itself and what does something to the shell.
// Builtins that only print stand in the table of commands.
func builtin(name string) reading {
	switch name {
	case "cd", "pushd":
		return readCd
	case "exec":
		return readExec
	case "command", "builtin":
		return readCommand
	case "eval":
		return readEval
	case "set":
		return readSet
	case "read":
		return readRead
	case "printf":
		return readPrintf
	case "unset":
		return readUnset
	case "test", "[":
		return readTest
	case "exit", "return", "break", "continue", "shift", "wait", ":":
		return readExit
	case "umask", "ulimit", "hash":
		return readLimit
	case "repeat", "foreach", "integer", "float", "private", "chdir", "getln", "pushln", "zparseopts", "zformat", "zstyle", "zregexparse", "zpty", "ztcp", "zselect", "zsystem", "bye", "rehash", "disable", "limit", "unlimit":
		return readZshWord
	case "source", ".":
		return refuse("it reads a script that may change")
	case "trap", "alias", "unalias", "enable", "shopt", "bind", "complete", "compgen", "compopt", "fc", "history",
		"mapfile", "readarray", "getopts", "let", "export", "declare", "typeset", "readonly", "local", "popd", "dirs", "logout",
		"suspend", "disown", "bg", "fg", "caller", "times", "coproc",
		"autoload", "emulate", "setopt", "unsetopt", "zmodload", "noglob", "nocorrect", "functions", "zcompile", "zle", "sched", "vared", "print", "whence", "where", "-":
		return refuse(name + " changes or shows the shell itself")
	}
	return nil
}

// wrapper finds a program that runs the command behind it.
func wrapper(name string) reading {
	if _, ok := wrapTable[name]; ok {
		return transparent(name)
	}
	switch name {
	case "env":
		return readEnv
	case "xargs":
		return readXargs
	case "bash", "sh", "dash", "zsh", "ksh", "ash", "mksh", "rbash", "fish", "csh", "tcsh":
		return readShell
	case "sudo", "doas", "su", "runuser", "pkexec", "ssh", "watch", "chroot", "unshare", "nsenter", "strace", "ltrace", "script", "flock",
		"taskset", "chrt", "busybox", "toybox", "screen", "tmux", "parallel", "systemd-run", "at", "batch", "bwrap", "firejail", "entr", "setarch",
		"linux32", "linux64", "setpriv", "prlimit", "numactl", "rlwrap", "fakeroot", "faketime", "xvfb-run", "dbus-run-session", "catchsegv",
		"proot", "unbuffer", "expect", "caffeinate", "gtimeout", "npx", "bunx", "uvx", "pipx", "docker-compose", "nix-shell", "direnv", "arch", "runcon", "cgexec", "tsp", "eatmydata", "torsocks", "proxychains", "torify", "valgrind", "gdb", "perf", "hyperfine", "sg", "chronic", "ifne", "nocache":
		return launcher
	}
	return nil
}

// known reports whether a name means something to this package, so that a
// function of that name changes the meaning of what follows.
func (r *reader) known(name string) bool {
	if builtin(name) != nil || wrapper(name) != nil || r.table.has(name) {
		return true
	}
	return policy.Runner(name) || name == "rm" || name == "cp" || name == "mv"
}

func refuse(why string) reading {
	return func(r *reader, ws []word, st state) (state, state) {
		r.opaque(strings.Join(literals(ws), " "), why)
		r.markExec(ws, st, why)
		r.texts(ws, st)
		return st, st
	}
}

// readLimit is umask, ulimit and hash, which show what they are without
// operands.
func readLimit(r *reader, ws []word, st state) (state, state) {
	for _, w := range ws[1:] {
		if ws[0].text == "hash" || w.kind != exact || len(w.text) < 2 || w.text[0] != '-' || strings.Trim(w.text[1:], "aSHcdefilmnpqrstuvx") != "" {
			return refuse(ws[0].text+" changes or shows the shell itself")(r, ws, st)
		}
	}
	e := r.begin(ws, st)
	e.ReadOnly = true
	r.add(e)
	return st, st
}

// readZshWord is a program for bash and part of the language for zsh, which
// may run the words behind it.
func readZshWord(r *reader, ws []word, st state) (state, state) {
	r.opaque(strings.Join(literals(ws), " "), "zsh reads "+ws[0].text+" as a command of its own")
	r.markExec(ws, st, ws[0].text+" is read differently by shells")
	r.suspect(ws[1:], st)
	return st, st
}

func readCd(r *reader, ws []word, st state) (state, state) {
	e := r.begin(ws, st)
	e.ReadOnly = true
	r.add(e)
	if ws[0].text == "pushd" && len(ws) != 2 {
		return r.lost("a form of pushd that is not known", ws[1:], st)
	}
	return r.cd(ws[1:], st)
}

// readExec is exec: with a command it replaces the shell, without one its
// redirects stay.
func readExec(r *reader, ws []word, st state) (state, state) {
	if len(ws) == 1 {
		// Where later commands read and write is judged with the redirect.
		return st, st
	}
	if ws[1].flagLike() {
		r.suspect(ws[1:], st)
		return refuse("a form of exec that is not known")(r, ws, st)
	}
	return r.inside(ws[:1], ws[1:], st)
}

// readCommand is command and builtin: they run their first operand.
func readCommand(r *reader, ws []word, st state) (state, state) {
	rest := ws[1:]
	for len(rest) > 0 && rest[0].kind == exact && strings.HasPrefix(rest[0].text, "-") {
		switch rest[0].text {
		case "--":
			return r.inside(ws[:len(ws)-len(rest)+1], rest[1:], st)
		case "-v", "-V", "-pv", "-pV":
			r.exec(ws, st)
			return st, st
		case "-p":
			rest = rest[1:]
			continue
		}
		return refuse("a form of "+ws[0].text+" that is not known")(r, ws, st)
	}
	if len(rest) == 0 {
		return st, st
	}
	if name := rest[0]; ws[0].text == "command" && name.kind == exact && builtin(name.text) != nil {
		switch name.text {
		case "printf", "test", "[", ":":
		default:
			r.opaque(name.src, "zsh's command runs a program of this name, bash's the shell's own")
		}
	}
	return r.inside(ws[:len(ws)-len(rest)], rest, st)
}

// readEval reads what eval would read, if it is literal. It still asks: the
// text is joined and read anew, which shells do differently.
func readEval(r *reader, ws []word, st state) (state, state) {
	r.opaque(strings.Join(literals(ws), " "), "eval runs text as a script")
	var text []string
	args := ws[1:]
	if len(args) > 0 && args[0].is("--") {
		args = args[1:]
	}
	for _, w := range args {
		if w.kind != exact {
			return st, st
		}
		text = append(text, w.text)
	}
	if r.depth > maxDepth {
		return st, st
	}
	r.depth++
	out := r.script(strings.Join(text, " "), st)
	r.depth--
	return out, out
}

// readSet knows the options of set that only make the shell stricter or
// louder.
func readSet(r *reader, ws []word, st state) (state, state) {
	rest := ws[1:]
	if len(rest) == 0 {
		r.opaque("set", "set prints every variable")
		return st, st
	}
	for i := 0; i < len(rest); i++ {
		t := rest[i].text
		okay := rest[i].kind == exact && len(t) > 1 && (t[0] == '-' || t[0] == '+') && strings.Trim(t[1:], "euxo") == ""
		if okay && strings.HasSuffix(t, "o") {
			i++
			okay = i < len(rest) && slices.Contains([]string{"pipefail", "errexit", "nounset", "xtrace"}, rest[i].text)
		}
		if !okay {
			return refuse("set changes how the shell reads")(r, ws, st)
		}
	}
	return st, st
}

// readFlags are the flags of read that only say how to read.
var readFlags = command{flags: "-rs -d=x -n=x -N=x -p=x -t=x -u=x"}

// readRead is read: it sets variables to what comes in.
func readRead(r *reader, ws []word, st state) (state, state) {
	u := &use{r: &r.recorder, dirs: st.dirs, name: "read"}
	if why := u.parse(&readFlags, ws[1:]); why != "" {
		return refuse("a form of read that is not known: "+why)(r, ws, st)
	}
	if len(u.args) == 0 {
		return st.with("REPLY", value{kind: unknown}), st.with("REPLY", value{kind: unknown})
	}
	for _, a := range u.args {
		if a.kind != exact || !syntax.ValidName(a.text) || riskyVariable(a.text) {
			return refuse("read sets a variable that is not known")(r, ws, st)
		}
		st = st.with(a.text, value{kind: unknown})
	}
	return st, st
}

// readPrintf is printf: -v sets a variable, and its name may hold code.
func readPrintf(r *reader, ws []word, st state) (state, state) {
	if len(ws) > 1 && ws[1].flagLike() && !ws[1].is("--") {
		if ws[1].is("-v") && len(ws) > 2 && ws[2].kind == exact && syntax.ValidName(ws[2].text) && !riskyVariable(ws[2].text) {
			st = st.with(ws[2].text, value{kind: unknown})
			return st, st
		}
		return refuse("printf may set a variable that is not known")(r, ws, st)
	}
	if len(ws) > 1 && (ws[1].kind != exact || strings.Contains(ws[1].text, "%n")) && !(len(ws) == 2 && ws[1].kind != exact) {
		return refuse("the format of printf may set a variable")(r, ws, st)
	}
	r.exec(ws, st)
	return st, st
}

// readUnset forgets variables.
func readUnset(r *reader, ws []word, st state) (state, state) {
	for _, w := range ws[1:] {
		if w.kind == exact && (w.text == "-v" || w.text == "--") {
			continue
		}
		if w.kind != exact || !syntax.ValidName(w.text) || riskyVariable(w.text) {
			return refuse("unset of a name that is not plain")(r, ws, st)
		}
		if r.funcs[w.text] != nil {
			return refuse("unset of a name that is a function too")(r, ws, st)
		}
		st = st.with(w.text, value{kind: exact})
	}
	return st, st
}

// readTest is test and [: paths are looked at, -v evaluates subscripts.
func readTest(r *reader, ws []word, st state) (state, state) {
	args := ws[1:]
	if ws[0].text == "[" {
		if len(args) == 0 || !args[len(args)-1].is("]") {
			return refuse("[ without its ]")(r, ws, st)
		}
		args = args[:len(args)-1]
	}
	e := r.begin(ws, st)
	e.ReadOnly = true
	var reads []word
	for i, a := range args {
		if a.many && a.kind != pattern || a.is("-v") || a.is("-R") {
			return refuse("test of something that is not known")(r, ws, st)
		}
		if a.kind != exact && i+1 < len(args) && i == 0 && len(args) == 2 {
			return refuse("test of something that is not known")(r, ws, st)
		}
		if a.kind == exact && len(a.text) == 2 && a.text[0] == '-' && strings.IndexByte("abcdefghkprstuwxGLNOS", a.text[1]) >= 0 && i+1 < len(args) {
			if a.text != "-a" && a.text != "-t" {
				reads = append(reads, args[i+1])
			}
		}
		if a.is("-nt") || a.is("-ot") || a.is("-ef") {
			if i > 0 && i+1 < len(args) {
				reads = append(reads, args[i-1], args[i+1])
			}
		}
	}
	r.add(e)
	for _, w := range reads {
		r.read(w, st.dirs, policy.Read{Arg: true, List: true})
	}
	return st, st
}

// readExit stops the shell here or leaves a loop; what follows may still be
// reached another way.
func readExit(r *reader, ws []word, st state) (state, state) {
	if ws[0].text == ":" {
		return st, st
	}
	for _, w := range ws[1:] {
		// zsh evaluates these as arithmetic.
		if w.kind == number || w.kind == exact && (plainNumber(w.text) || ws[0].text == "wait" && (w.text == "-n" || strings.HasPrefix(w.text, "%"))) {
			continue
		}
		return refuse("a form of "+ws[0].text+" that is not known")(r, ws, st)
	}
	if ws[0].text == "shift" {
		st = st.forget([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"})
		return st, st
	}
	if ws[0].text == "break" || ws[0].text == "continue" || ws[0].text == "return" {
		r.jump(st)
	}
	return st, st
}
