package shellread

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
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
			r.unreadLauncher(ws, st, "a form of "+name+" that is not known")
			return st, st
		}
		for _, w := range rest[:f.operands] {
			if w.Kind != exact || strings.HasPrefix(w.Text, "-") {
				r.unreadLauncher(ws, st, "a form of "+name+" that is not known")
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
		if w.Kind != exact {
			if w.FlagLike() {
				return nil, w.Source + " may be a flag"
			}
			return ws, ""
		}
		if !strings.HasPrefix(w.Text, "-") || w.Text == "-" {
			return ws, ""
		}
		ws = ws[1:]
		if w.Text == "--" {
			return ws, ""
		}
		name, _, has := strings.Cut(w.Text, "=")
		switch {
		case slices.Contains(plain, w.Text):
		case slices.Contains(valued, name) && has && strings.HasPrefix(name, "--"):
		case slices.Contains(valued, w.Text):
			if len(ws) == 0 || ws[0].Kind != exact {
				return nil, w.Text + " needs a value that is known"
			}
			ws = ws[1:]
		case len(w.Text) > 2 && w.Text[1] != '-' && slices.Contains(valued, w.Text[:2]):
		case f.digits && scan.Number(w.Text[1:]):
		default:
			return nil, w.Text + " is not known"
		}
	}
	return nil, ""
}

// unreadLauncher adds a launcher that cannot be read exactly: its words may be any command,
// and a rule for it does not cover that.
func (r *reader) unreadLauncher(ws []word, st state, why string) {
	r.mark(ws, st, policy.Exec{Why: why, Inner: policy.Inner{Unseen: why, Holds: policy.HoldsSurely}, Reach: policy.Reach{Beyond: why}})
}

// fromFile notes of the shell at an action that it runs a script in a file, when its
// first operand is one that no command before has made.
func (r *reader) fromFile(at int, ws []word, st state) {
	e, ok := r.Actions[at].(policy.Exec)
	if !ok || r.Fed || !r.scriptFile(ws, st) {
		return
	}
	e.FromFile = true
	r.Actions[at] = e
}

// scriptFile reports whether the first of the words names a file, and no command
// so far wrote it.
func (r *reader) scriptFile(ws []word, st state) bool {
	if len(ws) == 0 || ws[0].Kind != exact || ws[0].Text == "" || strings.HasPrefix(ws[0].Text, "-") || len(st.dirs) == 0 {
		return false
	}
	for _, d := range st.dirs {
		at := ws[0].Text
		if !path.IsAbs(at) {
			at = d + "/" + at
		}
		real, err := r.Real(at)
		if err != nil || strings.HasPrefix(real, "/dev/") || strings.HasPrefix(real, "/proc/") || slices.Contains(r.Wrote, real) || slices.Contains(r.Wrote, path.Clean(at)) || len(r.Through(at)) > 0 {
			return false
		}
	}
	return true
}

// denyScript reads a text that may be run, keeping only what deny and ask
// rules look at.
func (r *reader) denyScript(text string, st state) {
	if r.depth > maxDepth/2 || len(text) > MaxChars || !strings.ContainsAny(text, " \t\n;") {
		return
	}
	r.keepForRules(func() { r.script(text, state{dirs: st.dirs, vars: map[string]value{}}) })
}

// apart returns what reading something finds, and leaves all else as it was.
func (r *reader) apart(read func()) []policy.Action {
	notes, cmds := r.Notes, r.cmds
	r.Notes = notes.Apart()
	r.depth++
	r.keepFuncs(read)
	r.depth--
	found := r.Actions
	r.Notes, r.cmds = notes, cmds
	return found
}

// keepForRules reads something that may be run, keeping only what deny and ask rules
// look at.
func (r *reader) keepForRules(read func()) {
	r.keep(r.apart(read), func(a policy.Action) policy.Action {
		switch a := a.(type) {
		case policy.Exec:
			lost := a.Loses
			a = forRulesOnly(a)
			a.Loses = lost
			return a
		case policy.Write:
			if !a.Remove || !a.Tree {
				a.Sure = max(a.Sure, policy.Possible)
			}
			if !r.remote {
				return a
			}
		case policy.Read:
			if !a.List && !r.remote {
				a.Sure, a.MayWrite = policy.Possible, false
				return a
			}
		case policy.Opaque, policy.Net, policy.Call, policy.Spawn, policy.Tell, policy.Workflow, policy.Skill, policy.Person, policy.None:
		}
		return nil
	})
}

// keep adds actions, and what commands among them touch, as change leaves them; those for
// which it returns nil are left out.
func (r *reader) keep(as []policy.Action, change func(policy.Action) policy.Action) {
	for _, a := range as {
		if a = change(a); a == nil {
			continue
		}
		if e, ok := a.(policy.Exec); ok {
			touches := e.Touches
			e.Touches = nil
			for _, t := range touches {
				if t = change(t); t != nil {
					e.Touches = append(e.Touches, t)
				}
			}
			a = e
		}
		r.Add(a)
	}
}

// readEnv is env: plain assignments and a few flags, then a command.
func readEnv(r *reader, ws []word, st state) (state, state) {
	rest := ws[1:]
	saved, pinned := len(r.env), r.Unpinned
	defer func() { r.env, r.envValues, r.Unpinned = r.env[:saved], r.envValues[:saved], pinned }()
	in := st
	for len(rest) > 0 {
		w := rest[0]
		if w.Kind != exact {
			r.unreadLauncher(ws, st, "env with words that are not known")
			return in, in
		}
		name, val, assign := strings.Cut(w.Text, "=")
		switch {
		case assign && !strings.HasPrefix(w.Text, "-"):
			r.setEnv(name, value{kind: exact, text: val}, w.Source)
		case w.Text == "-i" || w.Text == "-" || w.Text == "--ignore-environment":
			r.Unpinned = true
		case (w.Text == "-u" || w.Text == "--unset") && len(rest) > 1:
			r.Unpinned = true
			rest = rest[1:]
		case strings.HasPrefix(w.Text, "--unset="):
			r.Unpinned = true
		case w.Text == "--":
			rest = rest[1:]
			if len(rest) > 0 {
				r.inside(ws[:len(ws)-len(rest)], rest, in)
				return st, st
			}
			r.markExec(ws, st, "env prints the environment")
			return st, st
		case strings.HasPrefix(w.Text, "-"):
			r.unreadLauncher(ws, st, "a form of env that is not known")
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
		case strings.HasPrefix(w.Text, "-a") || strings.HasPrefix(w.Text, "--arg-file") || strings.HasPrefix(w.Text, "--replace"):
			why = "a form of xargs that is not known"
		case w.Text == "-I" && i+2 < len(ws):
			replace = ws[i+2].Text
		case strings.HasPrefix(w.Text, "-I"):
			replace = w.Text[2:]
		}
	}
	if replace != "" && slices.ContainsFunc(ws[1:len(ws)-len(rest)], countsNames) {
		why = "xargs leaves out -I beside a flag that says how many names it takes"
	}
	if replace != "" && (len(rest) == 0 || rest[0].Kind != exact || strings.Contains(rest[0].Text, replace)) {
		why = "a form of xargs that is not known"
	}
	if why != "" {
		r.unreadLauncher(ws, st, why)
		return st, st
	}
	if len(rest) == 0 {
		rest = []word{lit("echo")}
	}
	if r.namedFiles(ws, rest, replace, st) {
		return st, st
	}
	u := r.Invoke("xargs", st.dirs)
	if !r.Invoke(programs.Base(rest[0].Text), st.dirs).OnlyReads() {
		u.Named(r.input.text+r.input.said, true)
	}
	rest = append([]word(nil), rest...)
	for i, w := range rest {
		if replace != "" && r.input.commits && w.Is(replace) {
			rest[i] = commitWord()
			rest[i].Many = false
			continue
		}
		if replace != "" && (w.Kind != exact || strings.Contains(w.Text, replace)) {
			rest[i] = word{Kind: unknown, Source: w.Source}
		}
	}
	switch {
	case replace == "" && r.input.commits:
		rest = append(rest, commitWord())
	case replace == "":
		rest = append(rest, word{Kind: unknown, Source: "…", Many: true})
	}
	if !programs.NamesOnly(programs.Base(rest[0].Text)) {
		u.ReadsBelow(rest)
	}
	saved, at := r.Fed, len(r.Actions)
	r.Fed = true
	r.inside(ws[:1], rest, st)
	r.Fed = saved
	r.Touch(at, u.Actions)
	return st, st
}

// countsNames reports a flag of xargs that says how many names or lines a command gets.
func countsNames(w word) bool {
	return strings.HasPrefix(w.Text, "-n") || strings.HasPrefix(w.Text, "-L") || strings.HasPrefix(w.Text, "--max-args") || strings.HasPrefix(w.Text, "--max-lines")
}

// namedFiles reads xargs with a program that only reads the files it is started with,
// whose names a command before the pipe prints. It reports whether that is all.
func (r *reader) namedFiles(ws, rest []word, replace string, st state) bool {
	names := r.input.names
	if n := len(rest) - 1; replace != "" && n > 0 && rest[n].Is(replace) && !slices.ContainsFunc(rest[:n], func(w word) bool { return w.Kind != exact || strings.Contains(w.Text, replace) }) {
		rest, replace = rest[:n], "" // each name stands where it would without -I
	}
	if names == nil || replace != "" || !names.In(st.dirs) || len(r.outer) > 0 || r.Unpinned || len(r.env) > 0 || r.funcs[rest[0].Text] != nil {
		return false
	}
	flags := ws[1 : len(ws)-len(rest)]
	zero := slices.ContainsFunc(flags, func(w word) bool { return w.Is("-0") || w.Is("--null") })
	if zero != names.Zero || slices.ContainsFunc(flags, func(w word) bool {
		return w.Kind != exact || strings.HasPrefix(w.Text, "-d") || strings.HasPrefix(w.Text, "--delim") || strings.HasPrefix(w.Text, "-E") || strings.HasPrefix(w.Text, "-L") || strings.HasPrefix(w.Text, "--max-lines")
	}) {
		return false
	}
	u := r.Invoke("xargs", st.dirs)
	if u.EachNamed(rest, *names) != "" {
		return false
	}
	e := r.begin(ws, st)
	e.ReadOnly, e.Unpinned = true, "xargs\x00"+rest[0].Text
	e.Also = append(e.Also, programs.Literals(rest))
	r.cmds++
	r.Touch(r.Add(e), u.Actions)
	r.forRules(rest, st)
	return true
}

// forRules adds a command that another one starts and that only reads, for rules that
// forbid or ask.
func (r *reader) forRules(ws []word, st state) {
	e := forRulesOnly(r.begin(ws, st))
	e.Sure, e.Also = policy.Possible, nil
	r.Add(e)
}

// launcher is a command that runs another one in a way this package does not
// follow: sudo, ssh, watch … The whole asks; deny rules see what is inside.
func launcher(r *reader, ws []word, st state) (state, state) {
	known := programs.StandardPath(ws[0].Text) && !slices.ContainsFunc(ws, func(w word) bool { return w.Kind != exact })
	if known && r.Invoke(programs.Base(ws[0].Text), st.dirs).ReadOnly(ws) == "" {
		r.exec(ws, st) // it starts nothing: arch, ssh -V, tmux ls
		return st, st
	}
	e := policy.Exec{Why: runsAnother(ws[0].Text), Inner: policy.Inner{Holds: policy.HoldsSurely}}
	if slices.ContainsFunc(ws[1:], func(w word) bool { return w.Kind != exact }) {
		e.Unseen = "a word behind " + ws[0].Text + " is not known before it runs"
	}
	r.mark(ws, st, e)
	if i := slices.IndexFunc(ws[1:], func(w word) bool { return w.Kind == exact && r.known(programs.Base(w.Text)) }); i >= 0 && i < 20 && r.depth <= maxDepth/2 {
		r.keepForRules(func() { r.simple(ws[1+i:], nil, st) })
	}
	if programs.Base(ws[0].Text) == "parallel" {
		r.combined(ws[1:], st)
		r.MayName(word{Kind: unknown, Source: ws[0].Text}, st.dirs, false)
		r.MayName(word{Kind: unknown, Source: ws[0].Text}, st.dirs, true)
	}
	return st, st
}

// combined lists, for rules that forbid or ask, the commands that parallel makes of its
// words and of the values behind :::, or of what it is given to read.
func (r *reader) combined(ws []word, st state) {
	at := slices.IndexFunc(ws, func(w word) bool { return strings.HasPrefix(w.Text, "::") && w.Kind == exact })
	values := []word{{Kind: unknown, Source: "…", Many: true}}
	if at >= 0 {
		values = nil
		for _, w := range ws[at+1:] {
			if w.Kind != exact || !strings.HasPrefix(w.Text, "::") {
				values = append(values, w)
			}
		}
		ws = ws[:at]
	}
	put := func(words []word, v word) (out []word) {
		for _, w := range words {
			if w.Kind == exact && v.Kind == exact {
				if with := strings.ReplaceAll(strings.ReplaceAll(w.Text, "{}", v.Text), "{1}", v.Text); with != w.Text {
					w = lit(with)
				}
			}
			out = append(out, w)
		}
		return out
	}
	for i := range ws[:min(len(ws), 10)] {
		if ws[i].Kind != exact || strings.HasPrefix(ws[i].Text, "-") {
			continue
		}
		for _, v := range values[:min(len(values), 20)] {
			r.keepForRules(func() { r.simple(append(put(ws[i:], v), v), nil, st) })
		}
		if len(values) > 1 && len(values) < 20 {
			r.keepForRules(func() { r.simple(slices.Concat(ws[i:], values), nil, st) })
		}
	}
}

// readOwn is adze itself: a command that it is to run in the sandbox is looked at as any
// other launcher's is, whatever flags stand before it.
func readOwn(r *reader, ws []word, st state) (state, state) {
	if len(ws) > 2 && ws[1].Is("sandbox") && ws[2].Is("run") {
		return launcher(r, ws, st)
	}
	r.exec(ws, st)
	return st, st
}
