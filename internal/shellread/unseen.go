package shellread

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
)

// holds notes what of a command may be run as a command of its own.
func (r *reader) holds(e *policy.Exec, least policy.Holding, ws []word, st state) {
	prog := programs.Base(ws[0].Text)
	if e.Holds = least; least < policy.HoldsWords && r.Table.MayRun(prog, ws) {
		e.Holds = policy.HoldsWords
	}
	if programs.IsAwk(prog) && e.Unseen != "" {
		e.Holds = policy.HoldsSurely // its program starts others
	}
	for i, w := range ws[1:] {
		if name, val, _ := strings.Cut(w.Text, "="); prog == "git" && ws[i].Is("-c") && strings.HasPrefix(strings.ToLower(name), "alias.") {
			e.Also = append(e.Also, append([]string{"git"}, strings.Fields(val)...))
		}
	}
	e.Said = r.Invoke(prog, st.dirs).Prose(ws)
	if text := r.input.text + r.input.said; text != "" && prog != "git" && prog != "gh" && !(inert(prog, ws) && programs.InertPython(text)) { // to them it is a message
		e.Fed = []string{text}
	}
}

// inert reports Python that takes its code from its standard input.
func inert(prog string, ws []word) bool {
	return (prog == "python" || prog == "python3") && (len(ws) == 1 || len(ws) == 2 && ws[1].Is("-"))
}

// heldActions reads the commands that stand in one and may destroy something or write
// settings: for rules that forbid or ask, and for the checks that hold in every mode.
func (r *reader) heldActions(e policy.Exec, ws []word, st state) {
	if prog := programs.Base(e.Argv[0]); !programs.RunsHere(prog) {
		shown, dir := r.Invoke(prog, st.dirs).Shown(ws)
		if shown == nil {
			return
		}
		ws, e.Argv, st.dirs = shown, programs.Literals(shown), []string{dir}
	}
	want := r.Table.Judged
	if e.Holds == policy.HoldsSurely {
		want = func(name string) bool { return r.Table.Judged(name) || r.known(name) || r.Table.Changes(name) }
	}
	e.Held(want, func(argv []string, surely bool) bool {
		from := len(r.Actions)
		at := -1
		for i := range ws {
			if &e.Argv[i] == &argv[0] { // it is words of the command, not a text in one
				at = i
			}
		}
		if at > 0 && r.depth <= maxDepth/2 {
			inner := slices.Clone(ws[at : at+len(argv)])
			for i, w := range inner {
				if w.Source == "{}" {
					inner[i].Head = "./" // the name of a file is no flag
				}
			}
			r.keepForRules(func() { r.simple(inner, nil, st) })
		} else {
			r.denyScript(strings.Join(argv, " ")+";", st)
		}
		for i, a := range r.Actions[from:] {
			if e, ok := a.(policy.Exec); ok {
				if e.Sure = max(e.Sure, policy.Possible); !surely {
					e.Sure = policy.Guessed
				}
				r.Actions[from+i] = e
			}
		}
		r.tried++
		return r.tried < maxTried
	})
}

// unread notes a text that was not read exactly: what stands in it may run.
func (r *reader) unread(text string, st state) {
	e := policy.Exec{Argv: []string{"a script"}, Sure: policy.Possible, Inner: policy.Inner{Holds: policy.HoldsSurely, Fed: []string{text}}}
	at := r.Add(e)
	r.heldActions(e, nil, st)
	u := r.Invoke("text", st.dirs)
	u.Named(text, false)
	r.Touch(at, u.Actions)
}

// maxTried bounds the commands in others that are read in one script: beyond it rules that
// forbid still find them by their words.
const maxTried = 500

// runsUnseen says why commands that this one starts are not known, "" when it
// starts none or they are. A path that leads to a program of another name is
// added to the spellings of e.
func (r *reader) runsUnseen(prog string, ws []word, st state, e *policy.Exec) string {
	if why := r.beyondScript(prog, ws); why != "" {
		return why
	}
	if why := r.madeBefore(prog, ws[0], st, e); why != "" {
		return why
	}
	return unseenWord(prog, ws)
}

// beyondScript says why a script of awk or sed may start what it does not name.
func (r *reader) beyondScript(prog string, ws []word) string {
	if !programs.IsAwk(prog) && prog != "sed" {
		return ""
	}
	return r.Table.BeyondScript(prog, ws[1:])
}

// madeBefore says that a program with a path is another one by the time it runs. What
// it is called where its path leads is added to the spellings of e.
func (r *reader) madeBefore(prog string, first word, st state, e *policy.Exec) string {
	if !strings.Contains(first.Text, "/") {
		return ""
	}
	for _, d := range st.dirs {
		at := first.Text
		if !path.IsAbs(at) {
			at = d + "/" + at
		}
		real, err := r.Real(at)
		if err != nil || slices.Contains(r.Wrote, real) || slices.Contains(r.Wrote, path.Clean(at)) || len(r.Through(at)) > 0 {
			return first.Text + " is made by the commands before it"
		}
		if path.Base(real) != prog {
			e.Also = append(e.Also, append([]string{path.Base(real)}, e.Argv[1:]...))
		}
	}
	return ""
}

// runFlags are those behind which programs that start others have the command.
var runFlags = map[string]bool{"-exec": true, "-execdir": true, "-ok": true, "-x": true, "-X": true, "--exec": true, "-c": true}

// unseenWord says which word of a program that starts others is a command and not
// known.
func unseenWord(prog string, ws []word) string {
	if prog == "git" {
		for i, w := range ws[1:] {
			if name, _, _ := strings.Cut(w.Text, "="); w.Kind == exact && len(name) > 4 && strings.HasPrefix("--config-env", name) && i < 20 {
				return w.Text + " takes a setting from a variable, which may be a command"
			}
		}
	}
	switch prog {
	case "find", "fd", "fdfind", "git", "docker":
		for i, w := range ws[1:] {
			if w.Kind != exact && ws[i].Kind == exact && runFlags[ws[i].Text] {
				return w.Source + " is a command that is not known before it runs"
			}
		}
	}
	return ""
}

// otherShell says why a command's word may be a shell, or another program that runs
// what its words say, under a name of its own: a running program in /proc, a file that
// is open, or a link to one. "" when it is not.
func (r *reader) otherShell(w word, st state) string {
	if w.Kind != exact || !strings.Contains(w.Text, "/") {
		return ""
	}
	dirs := st.dirs
	if path.IsAbs(w.Text) || len(dirs) == 0 {
		dirs = []string{""}
	}
	for _, d := range dirs {
		at := w.Text
		if d != "" {
			at = d + "/" + at
		}
		real, err := r.Real(at)
		for _, p := range append([]string{path.Clean(at), real}, r.Through(at)...) {
			if policy.Within("/proc", p, false) || policy.Within("/dev", p, false) {
				return w.Text + " is whatever program runs there or is open, and may be a shell"
			}
		}
		if i := slices.IndexFunc(r.Through(at), func(to string) bool { return shellNames[path.Base(to)] || wrapper(path.Base(to)) != nil }); i >= 0 {
			return w.Text + " may be " + path.Base(r.Through(at)[i]) + ", which runs what its words say"
		}
		if name := path.Base(real); err == nil && !programs.StandardPath(w.Text) && (name != programs.Base(w.Text) || programs.StandardPath(real)) && (shellNames[name] || wrapper(name) != nil) {
			return w.Text + " is " + name + ", which runs what its words say"
		}
	}
	return ""
}
