package shellread

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

type reading func(r *reader, ws []word, st state) (ok, any state)

// builtin finds what bash does itself and what does something to the shell.
// Builtins that only print stand in the table of commands.
func builtin(name string) reading {
	switch name {
	case "cd", "pushd":
		return readCd
	case "popd":
		return readPopd
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
	case "mapfile", "readarray":
		return readMapfile
	case "getopts":
		return readGetopts
	case "trap":
		return readTrap
	case "exit", "return", "break", "continue", "shift", "wait", ":":
		return readExit
	case "umask", "ulimit", "hash":
		return readLimit
	case "repeat", "foreach", "integer", "float", "private", "chdir", "getln", "pushln", "zparseopts", "zformat", "zstyle", "zregexparse", "zpty", "ztcp", "zselect", "zsystem", "bye", "rehash", "disable", "limit", "unlimit":
		return readZshWord
	case "source", ".":
		return readSource
	case "alias", "unalias", "enable", "shopt", "bind", "complete", "compgen", "compopt", "fc", "history",
		"let", "export", "declare", "typeset", "readonly", "local", "dirs", "logout",
		"suspend", "disown", "bg", "fg", "caller", "times", "coproc",
		"autoload", "emulate", "setopt", "unsetopt", "zmodload", "noglob", "nocorrect", "functions", "zcompile", "zle", "sched", "vared", "print", "whence", "where", "-":
		return ofShell(name)
	}
	return nil
}

// nameBuiltin adds, for rules that forbid or ask, a builtin of which nothing was added from
// that action on.
func (r *reader) nameBuiltin(from int, ws []word, st state) {
	if !slices.ContainsFunc(r.Actions[from:], func(a policy.Action) bool {
		e, exec := a.(policy.Exec)
		return exec && len(e.Argv) > 0 && e.Argv[0] == ws[0].Text
	}) {
		e := forRulesOnly(r.begin(ws, st))
		e.Sure, e.Open = policy.Possible, nil // what is not known is a number
		r.Add(e)
	}
}

// wrapper finds a program that runs the command behind it.
func wrapper(name string) reading {
	if _, ok := wrapTable[name]; ok {
		return transparent(name)
	}
	switch name {
	case "env":
		return readEnv
	case "adze":
		return readOwn
	case "xargs":
		return readXargs
	case "bash", "sh", "dash", "zsh", "ksh", "ash", "mksh", "rbash", "fish", "csh", "tcsh":
		return readShell
	}
	if programs.Launches(name) {
		return launcher
	}
	return nil
}

// runsAnother says what a launcher does with the command behind it.
func runsAnother(name string) string {
	switch programs.Base(name) {
	case "sudo", "doas", "su", "runuser", "pkexec", "sg", "newgrp", "run0", "please", "sudo-rs", "calife":
		return name + " runs a command with other rights"
	case "ssh", "rsh", "mosh":
		return name + " may run a command on another machine"
	}
	return name + " may run another command"
}

// known reports whether a name means something to this package, so that a
// function of that name changes the meaning of what follows.
func (r *reader) known(name string) bool {
	if builtin(name) != nil || wrapper(name) != nil || r.Table.Has(name) {
		return true
	}
	return policy.Runner(name) || name == "rm" || name == "cp" || name == "mv"
}

// readSource is source and the dot: a script in a file, which may change.
func readSource(r *reader, ws []word, st state) (state, state) {
	const why = "it reads a script that may change"
	r.sourced = true
	if r.scriptFile(ws[1:], st) {
		r.OpaqueListed(strings.Join(programs.Literals(ws), " "), why)
	}
	return refuse(why)(r, ws, st)
}

func refuse(why string) reading { return refuseAs(policy.Opaque{Why: why}) }

// ofShell is a builtin that acts on the shell: that is known of it, whatever its words are.
func ofShell(name string) reading {
	return refuseAs(policy.Opaque{Why: name + " changes or shows the shell itself", Whole: true})
}

// shellOnly are the builtins of ofShell that make no later command another one than it was
// read as, each with the letters of the flags for which that is so, and the operands that
// it takes then.
var shellOnly = map[string]struct{ flags, operands string }{
	"popd": {"n", "+-0123456789"}, "dirs": {"clpv", "+-0123456789"}, "pushd": {"n", "+-0123456789"},
	"fg": {"", "%0123456789"}, "bg": {"", "%0123456789"}, "disown": {"ahr", "%0123456789"}, "suspend": {"f", ""}, "logout": {"", "0123456789"},
	"caller": {"", "0123456789"}, "times": {}, "history": {"c", "0123456789"}, "hash": {"rldt", anyOperand},
	"alias": {"p", ""}, "unalias": {"a", anyOperand}, "enable": {"aps", ""}, "bind": {"lpPsSvV", ""}, "whence": {"acfmpsvwx", anyOperand}, "where": {"mpsx", anyOperand}, "print": {"lnr", anyOperand},
	// No shell of a command completes words.
	"complete": {"abcdefgjksuvoprDEIAGWFCXPS", anyOperand}, "compopt": {"oDEI", anyOperand}, "compgen": {"abcegjksuvAW-", anyOperand},
	"ulimit": {"SHabcdefilmnpqrstuvx", anyOperand}, "umask": {"pS", anyOperand},
	"shopt": {"suqp", anyOperand}, "set": {"aeuxobCvm", anyOperand},
}

const anyOperand = "*"

// shellOptions are the options that shopt and set -o may switch.
var shellOptions = []string{"extglob", "nullglob", "failglob", "globstar", "dotglob", "nocaseglob", "nocasematch", "inherit_errexit", "lastpipe", "allexport", "noclobber", "verbose", "notify", "monitor", "pipefail", "errexit", "nounset", "xtrace", "vi", "emacs"}

// onlyShell reports such a builtin.
func onlyShell(ws []word) bool {
	takes, known := shellOnly[ws[0].Text]
	for i, w := range ws[1:] {
		letters, flag := strings.CutPrefix(w.Text, "-")
		if plus, off := strings.CutPrefix(w.Text, "+"); off && ws[0].Is("set") {
			letters, flag = plus, true
		}
		switch {
		case w.Kind != exact && w.Kind != number:
			return false
		case w.Is("--") && ws[0].Is("set"):
			return known
		case flag && letters != "" && strings.Trim(letters, takes.flags) == "":
		case takes.operands != anyOperand && strings.Trim(w.Text, takes.operands) == "":
		case takes.operands != anyOperand || flag:
			return false
		case ws[0].Is("compgen"):
			known = known && !w.Is("file") && !w.Is("directory") && !strings.ContainsAny(w.Text, "$`\\<>") // it reads a folder, or runs what stands there
		case ws[0].Is("shopt"), ws[0].Is("set"):
			known = known && slices.Contains(shellOptions, w.Text) && (ws[0].Is("shopt") || strings.HasSuffix(ws[i].Text, "o"))
		}
	}
	return known
}

func refuseAs(o policy.Opaque) reading {
	why := o.Why
	return func(r *reader, ws []word, st state) (state, state) {
		o := o
		if onlyShell(ws) {
			o.Own, o.Listed = true, true
		}
		o.Source = strings.Join(programs.Literals(ws), " ")
		r.Unclearly(o)
		holds := policy.HoldsTexts
		if programs.RunsText(ws[0].Text) {
			holds = policy.HoldsSurely
		}
		r.mark(ws, st, policy.Exec{Why: why, Inner: policy.Inner{Holds: holds}})
		r.looseGlobs = r.looseGlobs || loosens(ws)
		return st, st
	}
}

// loosens reports a builtin that may make patterns match more than they do as a rule.
func loosens(ws []word) bool {
	return ws[0].Is("setopt") || ws[0].Is("emulate") || ws[0].Is("shopt") && slices.ContainsFunc(ws[1:], func(w word) bool {
		return w.Kind != exact || !slices.Contains([]string{"-s", "-u", "-q", "extglob", "nullglob", "failglob"}, w.Text)
	})
}

// readLimit is umask, ulimit and hash, which show what they are without
// operands.
func readLimit(r *reader, ws []word, st state) (state, state) {
	for _, w := range ws[1:] {
		if ws[0].Text == "hash" || w.Kind != exact || len(w.Text) < 2 || w.Text[0] != '-' || strings.Trim(w.Text[1:], "aSHcdefilmnpqrstuvx") != "" {
			return ofShell(ws[0].Text)(r, ws, st)
		}
	}
	e := r.begin(ws, st)
	e.ReadOnly = true
	r.Add(e)
	return st, st
}

// readZshWord is a program for bash and part of the language for zsh, which
// may run the words behind it.
func readZshWord(r *reader, ws []word, st state) (state, state) {
	r.Opaque(strings.Join(programs.Literals(ws), " "), "zsh reads "+ws[0].Text+" as a command of its own")
	r.mark(ws, st, policy.Exec{Why: ws[0].Text + " is read differently by shells", Inner: policy.Inner{Holds: policy.HoldsSurely}})
	return st, st
}

func readCd(r *reader, ws []word, st state) (state, state) {
	e := r.begin(ws, st)
	e.ReadOnly = true
	r.Add(e)
	if ws[0].Is("pushd") && (len(ws) != 2 || onlyShell(ws)) {
		return readPopd(r, ws, st)
	}
	return r.cd(ws[1:], st)
}

// readPopd is popd, and pushd that names no folder: they go to one that they remember.
func readPopd(r *reader, ws []word, st state) (state, state) {
	ofShell(ws[0].Text)(r, ws, st)
	st.old, st.dirs = st.dirs, nil
	return st, st
}

// readExec is exec: with a command it replaces the shell, without one its
// redirects stay.
func readExec(r *reader, ws []word, st state) (state, state) {
	if len(ws) == 1 {
		// Where later commands read and write is judged with the redirect.
		return st, st
	}
	if ws[1].FlagLike() {
		r.mark(ws, st, policy.Exec{Why: "a form of exec that is not known", Inner: policy.Inner{Holds: policy.HoldsSurely}})
		return refuse("a form of exec that is not known")(r, ws, st)
	}
	return r.inside(ws[:1], ws[1:], st)
}

// readCommand is command and builtin: they run their first operand.
func readCommand(r *reader, ws []word, st state) (state, state) {
	rest := ws[1:]
	for len(rest) > 0 && rest[0].Kind == exact && strings.HasPrefix(rest[0].Text, "-") {
		switch rest[0].Text {
		case "--":
			return r.inside(ws[:len(ws)-len(rest)+1], rest[1:], st)
		case "-v", "-V", "-pv", "-pV":
			r.exec(ws, st)
			return st, st
		case "-p":
			rest = rest[1:]
			continue
		}
		return refuse("a form of "+ws[0].Text+" that is not known")(r, ws, st)
	}
	if len(rest) == 0 {
		return st, st
	}
	if name := rest[0]; ws[0].Text == "command" && name.Kind == exact && builtin(name.Text) != nil {
		switch name.Text {
		case "printf", "test", "[", ":":
		default:
			r.Opaque(name.Source, "zsh's command runs a program of this name, bash's the shell's own")
		}
	}
	return r.inside(ws[:len(ws)-len(rest)], rest, st)
}

// readEval reads what eval would read, if it is literal. It still asks: the
// text is joined and read anew, which shells do differently.
func readEval(r *reader, ws []word, st state) (state, state) {
	runs := slices.ContainsFunc(ws, func(w word) bool { return w.Kind != exact }) || r.depth > maxDepth
	r.Unclearly(policy.Opaque{Source: strings.Join(programs.Literals(ws), " "), Why: "eval runs text as a script", Runs: runs, Own: !runs})
	r.forRules(ws, st)
	var text []string
	args := ws[1:]
	if len(args) > 0 && args[0].Is("--") {
		args = args[1:]
	}
	for _, w := range args {
		if w.Kind != exact {
			return st, st
		}
		text = append(text, w.Text)
	}
	if r.depth > maxDepth {
		return st, st
	}
	r.depth++
	out := r.script(strings.Join(text, " "), r.withEnv(st))
	r.depth--
	return out, out
}

// readSet knows the options of set that only make the shell stricter or
// louder.
func readSet(r *reader, ws []word, st state) (state, state) {
	rest := ws[1:]
	if len(rest) == 0 {
		r.Opaque("set", "set prints every variable")
		return st, st
	}
	for i := 0; i < len(rest); i++ {
		t := rest[i].Text
		okay := rest[i].Kind == exact && len(t) > 1 && (t[0] == '-' || t[0] == '+') && strings.Trim(t[1:], "euxo") == ""
		if okay && strings.HasSuffix(t, "o") {
			i++
			okay = i < len(rest) && slices.Contains([]string{"pipefail", "errexit", "nounset", "xtrace"}, rest[i].Text)
		}
		if !okay {
			refuse("set changes how the shell reads")(r, ws, st)
			if rest[i].Is("--") {
				st = st.parameters(rest[i+1:])
			}
			return st, st
		}
	}
	return st, st
}

// readFlags are the flags of read that only say how to read.
const readFlags = "-rs -d=x -n=x -N=x -p=x -t=x -u=x"

// readRead is read: it sets variables to what comes in.
func readRead(r *reader, ws []word, st state) (state, state) {
	if name := arrayRead(ws[1:]); name != "" {
		if out, ok := r.setsUnknown(st, lit(name)); ok {
			return out, out
		}
	}
	names, why := r.Invoke("read", st.dirs).OperandsBehind(readFlags, ws[1:])
	if why != "" {
		return refuse("a form of read that is not known: "+why)(r, ws, st)
	}
	if len(names) == 0 {
		r.leaves("REPLY")
		return st.with("REPLY", value{kind: unknown}), st.with("REPLY", value{kind: unknown})
	}
	for i, a := range names {
		if a.Kind != exact || !syntax.ValidName(a.Text) || programs.RiskyVariable(a.Text) {
			return refuse("read sets a variable that is not known")(r, ws, st)
		}
		r.leaves(a.Text)
		v := r.readsIn(i, len(names))
		if len(names) == 1 {
			v.found = r.readsName(ws[1 : len(ws)-1])
			v.commit = r.input.commits && strings.Trim(r.readIFS, " \t\n") == "" && (len(ws) == 2 || len(ws) == 3 && ws[1].Is("-r"))
		}
		st = st.with(a.Text, v)
	}
	return st, st
}

// arrayRead is the array that read -a sets, when it has no other flags than -r and -s.
func arrayRead(ws []word) (name string) {
	array := false
	for i, w := range ws {
		switch letters, flag := strings.CutPrefix(w.Text, "-"); {
		case w.Kind != exact:
			return ""
		case i == len(ws)-1 && array && !flag:
			return w.Text
		case !flag || array || letters == "" || strings.Trim(letters, "rsa") != "" || strings.Contains(strings.TrimSuffix(letters, "a"), "a"):
			return ""
		default:
			array = strings.HasSuffix(letters, "a")
		}
	}
	return ""
}

// setsUnknown is what is known behind a builtin that sets variables to what nobody knows; ok
// is false where one of them may change what commands do.
func (r *reader) setsUnknown(st state, names ...word) (out state, ok bool) {
	for _, a := range names {
		if a.Kind != exact || !syntax.ValidName(a.Text) || programs.RiskyVariable(a.Text) {
			return st, false
		}
		r.leaves(a.Text)
		st = st.with(a.Text, value{kind: unknown})
	}
	return st, true
}

// readMapfile is mapfile and readarray: they set an array to the lines that come in.
func readMapfile(r *reader, ws []word, st state) (state, state) {
	names, why := r.Invoke("mapfile", st.dirs).OperandsBehind("-t -d=x -n=x -O=x -s=x -u=x", ws[1:])
	if len(names) == 0 {
		names = []word{lit("MAPFILE")}
	}
	out, ok := r.setsUnknown(st, names...)
	if why != "" || !ok || len(names) > 1 {
		return refuse("a form of "+ws[0].Text+" that is not known")(r, ws, st)
	}
	return out, out
}

// readGetopts is getopts: it sets a variable to the next flag, and OPTARG to its value.
func readGetopts(r *reader, ws []word, st state) (state, state) {
	if len(ws) < 3 || ws[1].Kind != exact || ws[1].FlagLike() {
		return refuse("a form of getopts that is not known")(r, ws, st)
	}
	out, ok := r.setsUnknown(st, ws[2])
	if !ok {
		return refuse("getopts sets a variable that is not known")(r, ws, st)
	}
	out = out.with("OPTARG", value{kind: unknown}).with("OPTIND", value{kind: number})
	return out, out
}

// readsName are the files of which a read with these flags gets the name of one.
func (r *reader) readsName(flags []word) *programs.Found {
	found := r.input.lines
	if found == nil || !found.Sheer() || strings.Trim(r.readIFS, " \t\n") != "" {
		return nil
	}
	text := strings.Join(programs.Literals(flags), " ")
	if found.Zero && (text == "-r -d " || text == "-rd " || text == "-d  -r") || !found.Zero && (text == "-r" || text == "") {
		return found
	}
	return nil
}

// readsIn is what read gives the variable at a place among several: the words of the
// first line that comes in, as far as it is known, the last one the rest of it.
func (r *reader) readsIn(at, of int) value {
	v := value{kind: unknown, each: r.input.from}
	if !r.input.given {
		return v
	}
	line, _, _ := strings.Cut(r.input.text, "\n")
	ifs := " \t"
	if r.readIFS != "" {
		ifs = r.readIFS
	}
	words := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(ifs, c) })
	switch {
	case at >= len(words):
	case at < of-1:
		v.or, v.ors = words[at], true
	default:
		v.or, v.ors = strings.Join(words[at:], ifs[:1]), true
	}
	return v
}

// readPrintf is printf: -v sets a variable, and its name may hold code.
func readPrintf(r *reader, ws []word, st state) (state, state) {
	if len(ws) > 1 && ws[1].FlagLike() && !ws[1].Is("--") {
		if ws[1].Is("-v") && len(ws) > 2 && ws[2].Kind == exact && syntax.ValidName(ws[2].Text) && !programs.RiskyVariable(ws[2].Text) {
			r.leaves(ws[2].Text)
			st = st.with(ws[2].Text, value{kind: unknown})
			return st, st
		}
		return refuse("printf may set a variable that is not known")(r, ws, st)
	}
	if len(ws) > 1 && (ws[1].Kind != exact || strings.Contains(ws[1].Text, "%n")) && !(len(ws) == 2 && ws[1].Kind != exact) {
		return refuse("the format of printf may set a variable")(r, ws, st)
	}
	r.exec(ws, st)
	return st, st
}

// readUnset forgets variables.
func readUnset(r *reader, ws []word, st state) (state, state) {
	functions := false
	for _, w := range ws[1:] {
		if w.Kind == exact && (w.Text == "-v" || w.Text == "--" || w.Text == "-f") {
			functions = functions || w.Text == "-f"
			continue
		}
		if functions && w.Kind == exact && syntax.ValidName(w.Text) && r.funcs[w.Text] == nil {
			continue // a call of it was read as one of a program
		}
		if functions || w.Kind != exact || !syntax.ValidName(w.Text) || programs.RiskyVariable(w.Text) {
			return refuse("unset of a name that is not plain")(r, ws, st)
		}
		if r.funcs[w.Text] != nil {
			return refuse("unset of a name that is a function too")(r, ws, st)
		}
		r.leaves(w.Text)
		st = st.with(w.Text, value{kind: exact})
	}
	return st, st
}

// readTest is test and [: paths are looked at, -v evaluates subscripts.
func readTest(r *reader, ws []word, st state) (state, state) {
	args := ws[1:]
	if ws[0].Text == "[" {
		if len(args) == 0 || !args[len(args)-1].Is("]") {
			return refuse("[ without its ]")(r, ws, st)
		}
		args = args[:len(args)-1]
	}
	e := r.begin(ws, st)
	e.ReadOnly = true
	var reads []word
	for i, a := range args {
		if a.Many && a.Kind != pattern || a.Is("-R") || a.Is("-v") && !(i+1 < len(args) && args[i+1].Kind == exact && syntax.ValidName(args[i+1].Text)) {
			return refuse("test of something that is not known")(r, ws, st)
		}
		if a.Kind != exact && i+1 < len(args) && i == 0 && len(args) == 2 {
			return refuse("test of something that is not known")(r, ws, st)
		}
		if a.Kind == exact && len(a.Text) == 2 && a.Text[0] == '-' && strings.IndexByte("abcdefghkprstuwxGLNOS", a.Text[1]) >= 0 && i+1 < len(args) {
			if a.Text != "-a" && a.Text != "-t" {
				reads = append(reads, args[i+1])
			}
		}
		if a.Is("-nt") || a.Is("-ot") || a.Is("-ef") {
			if i > 0 && i+1 < len(args) {
				reads = append(reads, args[i-1], args[i+1])
			}
		}
	}
	r.Touching(r.Add(e), func() {
		for _, w := range reads {
			if !r.ReadFound(w, st.dirs, true) {
				r.Read(w, st.dirs, policy.Read{List: true})
			}
		}
	})
	return st, st
}

// readExit stops the shell here or leaves a loop; what follows may still be
// reached another way.
func readExit(r *reader, ws []word, st state) (state, state) {
	if ws[0].Text == ":" {
		return st, st
	}
	for _, w := range ws[1:] {
		// zsh evaluates these as arithmetic.
		if w.Kind == number || w.Kind == exact && (scan.Number(w.Text) || ws[0].Text == "wait" && (w.Text == "-n" || strings.HasPrefix(w.Text, "%"))) {
			continue
		}
		return refuse("a form of "+ws[0].Text+" that is not known")(r, ws, st)
	}
	if ws[0].Text == "shift" {
		n := 1
		if len(ws) > 1 {
			var err error
			if n, err = strconv.Atoi(ws[1].Text); err != nil || n < 0 {
				n = 9
			}
		}
		st = st.shifted(min(n, 9))
		return st, st
	}
	if ws[0].Text == "break" || ws[0].Text == "continue" || ws[0].Text == "return" {
		r.jump(st)
	}
	return st, st
}
