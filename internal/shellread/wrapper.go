package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
)

// A wrapper's flags: those with a value, those without.
type wrapFlags struct {
	valued, plain string // space-separated names
	operands      int    // words before the command: timeout's duration
	digits        bool   // nice -5
}

var wrapTable = map[string]wrapFlags{
	"timeout": {valued: "-k --kill-after -s --signal", plain: "--foreground --preserve-status -v --verbose", operands: 1},
	"nice":    {valued: "-n --adjustment", digits: true},
	"nohup":   {},
	"time":    {valued: "-f --format", plain: "-p --portability -v --verbose -q --quiet"},
	"stdbuf":  {valued: "-i --input -o --output -e --error"},
	"ionice":  {valued: "-c --class -n --classdata", plain: "-t --ignore"},
	"setsid":  {plain: "-w --wait -c --ctty -f --fork"},
}

// transparent unwraps a command that runs its operands unchanged.
func transparent(name string) reading {
	return func(r *reader, ws []word, st state) (state, state) {
		f := wrapTable[name]
		rest, why := skipFlags(ws[1:], f)
		if why != "" || len(rest) < f.operands {
			r.hidden(ws, st, "a form of "+name+" that is not known")
			return st, st
		}
		for _, w := range rest[:f.operands] {
			if w.kind != exact || strings.HasPrefix(w.text, "-") {
				r.hidden(ws, st, "a form of "+name+" that is not known")
				return st, st
			}
		}
		rest = rest[f.operands:]
		if len(rest) == 0 {
			r.markExec(ws, st, name+" without a command")
			return st, st
		}
		return r.inside(ws[:len(ws)-len(rest)], rest, st)
	}
}

func skipFlags(ws []word, f wrapFlags) (rest []word, why string) {
	valued, plain := strings.Fields(f.valued), strings.Fields(f.plain)
	for len(ws) > 0 {
		w := ws[0]
		if w.kind != exact {
			if w.flagLike() {
				return nil, w.src + " may be a flag"
			}
			return ws, ""
		}
		if !strings.HasPrefix(w.text, "-") || w.text == "-" {
			return ws, ""
		}
		ws = ws[1:]
		if w.text == "--" {
			return ws, ""
		}
		name, _, has := strings.Cut(w.text, "=")
		switch {
		case slices.Contains(plain, w.text):
		case slices.Contains(valued, name) && has && strings.HasPrefix(name, "--"):
		case slices.Contains(valued, w.text):
			if len(ws) == 0 || ws[0].kind != exact {
				return nil, w.text + " needs a value that is known"
			}
			ws = ws[1:]
		case len(w.text) > 2 && w.text[1] != '-' && slices.Contains(valued, w.text[:2]):
		case f.digits && plainNumber(w.text[1:]):
		default:
			return nil, w.text + " is not known"
		}
	}
	return nil, ""
}

// hidden adds a launcher that cannot be read exactly, and after it every way
// its words could be a command, so that deny rules see it.
func (r *reader) hidden(ws []word, st state, why string) {
	at := len(r.acts)
	r.markExec(ws, st, why)
	for i, a := range r.acts[at:] {
		if e, ok := a.(policy.Exec); ok && e.Beyond == "" {
			e.Beyond, e.Unseen = why, why // a rule for the launcher does not cover what it runs
			r.acts[at+i] = e
		}
	}
	r.suspect(ws[1:], st)
	r.texts(ws, st)
}

// blind notes of the commands from an action on that what they start is not known.
func (r *reader) blind(from int, why string) {
	for i, a := range r.acts[from:] {
		if e, ok := a.(policy.Exec); ok && !e.Maybe {
			e.Unseen = why
			r.acts[from+i] = e
		}
	}
}

// texts searches the words of a launcher that a shell would read.
func (r *reader) texts(ws []word, st state) {
	if !textual[base(ws[0].text)] && !shellNames[base(ws[0].text)] {
		return
	}
	for _, w := range ws[1:] {
		if w.kind != exact {
			continue
		}
		r.denyScript(w.text, st)
		if strings.HasPrefix(w.text, "-") && len(w.text) > 2 { // -S'rm x', --command='rm x'
			_, val, attached := strings.Cut(w.text, "=")
			if !attached {
				val = w.text[2:]
			}
			r.denyScript(val, st)
		}
	}
}

// mentions searches a text that is not read exactly for words that may be
// commands, for deny and ask rules.
func (r *reader) mentions(text string, st state) {
	for i, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(";&|()\n\r`{}", c) }) {
		if i > 200 {
			return
		}
		var ws []word
		for _, f := range strings.Fields(part) {
			ws = append(ws, lit(strings.Trim(f, "'\"\\!")))
		}
		r.suspect(ws, st)
	}
}

// suspect adds commands that may be meant by the words behind a launcher, for
// deny and ask rules only.
func (r *reader) suspect(ws []word, st state) {
	const most = 40 // at either end
	for i, w := range ws {
		if w.kind != exact || w.text == "" || strings.HasPrefix(w.text, "-") || i > most && i < len(ws)-most {
			continue
		}
		r.suspectOne(ws[i:], st)
	}
}

func (r *reader) suspectOne(ws []word, st state) {
	ws = ws[:min(len(ws), 100)]
	e := r.begin(ws, st)
	prog := base(ws[0].text)
	e.Maybe, e.Also, e.Loses = true, nil, loses(prog, ws)
	r.add(e)
	u := &use{r: &r.recorder, dirs: st.dirs, name: prog}
	acts, _ := u.changes(ws)
	for _, a := range acts {
		if w, ok := a.(policy.Write); ok {
			w.Maybe = prog != "rm" // what is removed is judged as such
			r.add(w)
		}
	}
	if shellNames[base(ws[0].text)] {
		for _, w := range ws[1:] {
			if w.kind == exact {
				r.denyScript(w.text, st)
			}
		}
	}
}

// denyScript reads a text that may be run, keeping only what deny and ask
// rules look at.
func (r *reader) denyScript(text string, st state) {
	if r.depth > maxDepth/2 || len(text) > MaxChars || !strings.ContainsAny(text, " \t\n;") {
		return
	}
	acts, unclear, unsafe, cmds, seen := r.acts, r.unclear, r.unsafe, r.cmds, r.seen
	r.acts, r.seen = nil, nil
	r.depth++
	r.script(text, state{dirs: st.dirs, vars: map[string]value{}})
	r.depth--
	found := r.acts
	r.acts, r.unclear, r.unsafe, r.cmds, r.seen = acts, unclear, unsafe, cmds, seen
	for _, a := range found {
		switch a := a.(type) {
		case policy.Exec:
			lost := a.Loses
			a = defined(a)
			a.Loses = lost
			r.add(a)
		case policy.Write:
			if a.Remove && a.Tree {
				r.add(a)
			}
		case policy.Opaque, policy.Read, policy.Net, policy.Call, policy.Spawn, policy.Skill, policy.Person, policy.None:
		}
	}
}

// readEnv is env: plain assignments and a few flags, then a command.
func readEnv(r *reader, ws []word, st state) (state, state) {
	rest := ws[1:]
	saved, pinned := len(r.env), r.unpinned
	defer func() { r.env, r.unpinned = r.env[:saved], pinned }()
	in := st
	for len(rest) > 0 {
		w := rest[0]
		if w.kind != exact {
			r.hidden(ws, st, "env with words that are not known")
			return in, in
		}
		name, val, assign := strings.Cut(w.text, "=")
		switch {
		case assign && !strings.HasPrefix(w.text, "-"):
			r.setEnv(name, val, true, w.src)
		case w.text == "-i" || w.text == "-" || w.text == "--ignore-environment":
			r.unpinned = true
		case (w.text == "-u" || w.text == "--unset") && len(rest) > 1:
			r.unpinned = true
			rest = rest[1:]
		case strings.HasPrefix(w.text, "--unset="):
			r.unpinned = true
		case w.text == "--":
			rest = rest[1:]
			if len(rest) > 0 {
				r.inside(ws[:len(ws)-len(rest)], rest, in)
				return st, st
			}
			r.markExec(ws, st, "env prints the environment")
			return st, st
		case strings.HasPrefix(w.text, "-"):
			r.hidden(ws, st, "a form of env that is not known")
			return st, st
		default:
			r.inside(ws[:len(ws)-len(rest)], rest, in)
			return st, st
		}
		rest = rest[1:]
	}
	r.markExec(ws, st, "env prints the environment, which may hold secrets")
	return st, st
}

// readXargs is xargs with a fixed command. What comes in becomes arguments
// that are not known.
func readXargs(r *reader, ws []word, st state) (state, state) {
	rest, why := skipFlags(ws[1:], wrapFlags{
		valued: "-n --max-args -L --max-lines -P --max-procs -s --max-chars -d --delimiter -I --replace -E -a --arg-file",
		plain:  "-0 --null -r --no-run-if-empty -t --verbose -x --exit",
	})
	replace := ""
	for i, w := range ws[1 : len(ws)-len(rest)] {
		switch {
		case strings.HasPrefix(w.text, "-a") || strings.HasPrefix(w.text, "--arg-file") || strings.HasPrefix(w.text, "--replace"):
			why = "a form of xargs that is not known"
		case w.text == "-I" && i+2 < len(ws):
			replace = ws[i+2].text
		case strings.HasPrefix(w.text, "-I"):
			replace = w.text[2:]
		}
	}
	if replace != "" && (len(rest) == 0 || rest[0].kind != exact || strings.Contains(rest[0].text, replace)) {
		why = "a form of xargs that is not known"
	}
	if why != "" {
		r.hidden(ws, st, why)
		return st, st
	}
	if len(rest) == 0 {
		rest = []word{lit("echo")}
	}
	rest = append([]word(nil), rest...)
	if replace != "" {
		r.texts(rest, st) // sh -c 'rm {}'
	}
	for i, w := range rest {
		if replace != "" && (w.kind != exact || strings.Contains(w.text, replace)) {
			rest[i] = word{kind: unknown, src: w.src}
		}
	}
	if replace == "" {
		rest = append(rest, word{kind: unknown, src: "…", many: true})
	}
	saved := r.fed
	r.fed = true
	r.inside(ws[:1], rest, st)
	r.fed = saved
	return st, st
}

// readShell is bash -c '…': the literal is read as a script of its own.
func readShell(r *reader, ws []word, st state) (state, state) {
	if len(ws) < 3 || !shellCFlag(ws[1]) || ws[2].kind != exact || strings.HasPrefix(ws[2].text, "-") {
		why := ws[0].text + " runs a script that is not known here"
		if len(ws) > 2 && ws[1].text != "" && strings.IndexByte("-+", ws[1].text[0]) >= 0 && strings.Contains(ws[1].text, "c") {
			r.opaque(ws[0].src, why)
		}
		at := len(r.acts)
		r.markExec(ws, st, why)
		r.blind(at, why)
		r.suspect(ws[1:], st)
		r.texts(ws, st)
		return st, st
	}
	if r.fed {
		r.opaque(ws[0].src, "xargs gives the script arguments that are not known")
	}
	if base(ws[0].text) != "bash" && base(ws[0].text) != "sh" {
		r.opaque(ws[0].src, ws[0].text+" reads scripts in its own way")
	}
	if why := precheck(ws[2].text); why != "" {
		r.opaque(clip(ws[2].text), why)
	}
	before := len(r.acts)
	child := state{dirs: st.dirs, vars: map[string]value{}}
	funcs := r.funcs
	r.funcs = map[string]*syntax.Stmt{}
	r.outer = append(r.outer, literals(ws[:2]))
	r.depth++
	if r.depth <= maxDepth {
		r.script(ws[2].text, child)
	} else {
		r.opaque(clip(ws[2].text), "it is nested too deeply")
	}
	r.depth--
	r.outer = r.outer[:len(r.outer)-1]
	r.funcs = funcs
	if !slices.ContainsFunc(r.acts[before:], func(a policy.Action) bool { _, runs := a.(policy.Exec); return runs }) {
		r.markExec(ws, st, "a shell that is given nothing to run")
	}
	return st, st
}

// shellCFlag knows -c alone or with flags that only make the shell stricter.
func shellCFlag(w word) bool {
	return w.kind == exact && len(w.text) > 1 && w.text[0] == '-' && strings.Count(w.text, "c") == 1 && strings.Trim(w.text[1:], "ceux") == ""
}

// launcher is a command that runs another one in a way this package does not
// follow: sudo, ssh, watch … The whole asks; deny rules see what is inside.
func launcher(r *reader, ws []word, st state) (state, state) {
	if len(ws) == 1 && ws[0].is("arch") {
		r.exec(ws, st) // it says what the machine is
		return st, st
	}
	at := len(r.acts)
	r.markExec(ws, st, ws[0].text+" runs another command with other rights or elsewhere")
	if slices.ContainsFunc(ws[1:], func(w word) bool { return w.kind != exact }) {
		r.blind(at, "a word behind "+ws[0].text+" is not known before it runs")
	}
	r.suspect(ws[1:], st)
	r.texts(ws, st)
	return st, st
}

var shellNames = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "ash": true, "mksh": true, "rbash": true}
