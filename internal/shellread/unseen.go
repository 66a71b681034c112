package shellread

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
	patterns "github.com/adze-agent/adze/internal/text/pattern"
)

// launchedByRunner lists, for rules that forbid or ask, the commands that the words
// of a runner, the values of flags that run programs, and git's own aliases may mean.
func (r *reader) launchedByRunner(prog string, ws []word, st state) {
	if programs.RunsWords(prog, ws[1:]) {
		for i := range ws[1:min(len(ws), 40)] {
			r.mayRun(ws[1+i:], st)
			r.denyScript(ws[1+i].Text, st)
			if programs.RunsHere(prog) {
				r.mayLose(ws[1+i:], st)
			}
		}
	}
	if programs.RunsCode(prog) {
		for _, w := range ws[1:min(len(ws), 40)] {
			r.mayRunCode(w.Text, st)
			if len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' { // -c'rm x'
				r.mayRunCode(w.Text[2:], st)
			}
		}
	}
	if prog == "git" {
		r.launchedByGit(ws, st)
	}
	for i, w := range ws {
		if glued, ok := programs.LaunchFlag(prog, ws, i); ok {
			r.mayRunCode(glued, st)
			if i+1 < len(ws) && !strings.Contains(w.Text, "=") {
				r.mayRun(ws[i+1:], st)
				r.mayRunCode(ws[i+1].Text, st)
			}
		}
		if prog == "git" && i > 0 && w.Kind == exact && (ws[i-1].Is("-c") || ws[i-1].Is("--config-env")) {
			name, val, _ := strings.Cut(w.Text, "=")
			shell, yes := strings.CutPrefix(val, "!")
			if yes || !strings.HasPrefix(strings.ToLower(name), "alias.") {
				r.mayRunText(shell, st)
				r.denyScript(shell, st)
			} else {
				r.mayRunText("git "+val, st)
			}
		}
	}
}

// launchedByGit lists what git's short flags and addresses make it run.
func (r *reader) launchedByGit(ws []word, st state) {
	has := func(verb string) bool { return slices.ContainsFunc(ws, func(w word) bool { return w.Is(verb) }) }
	for i, w := range ws {
		_, remote, found := strings.Cut(w.Text, "ext::")
		pager, pages := strings.CutPrefix(w.Text, "-O")
		pack, packs := strings.CutPrefix(w.Text, "-u")
		switch {
		case w.Kind != exact:
		case found:
			r.mayRunText(remote, st)
		case i > 0 && has("config") && strings.Contains(w.Text, "!"):
			r.mayRunCode(w.Text, st)
		case pages && has("grep"):
			r.mayRunText(pager, st)
		case packs && has("clone"):
			r.mayRunText(pack, st)
			if pack == "" && i+1 < len(ws) {
				r.mayRunText(ws[i+1].Text, st)
			}
		}
	}
}

// mayRunCode lists the commands that a text in some program's own language may
// hold: behind a sign such as "!" or "EXEC:", too.
func (r *reader) mayRunCode(text string, st state) {
	r.mayRunText(strings.NewReplacer("!", "\n", "=", "\n", ":", "\n", ",", "\n").Replace(text), st)
	r.mayRunText(text, st)
}

// mayRunText lists the commands that a text may hold.
func (r *reader) mayRunText(text string, st state) {
	for i, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(";&|()\n`{}\"'", c) }) {
		var ws []word
		for _, f := range strings.Fields(part) {
			ws = append(ws, lit(f))
		}
		for at := range ws {
			if i < 50 && at < 20 {
				r.mayRun(ws[at:], st)
			}
		}
	}
}

// mayRun adds a command for rules that forbid or ask, and of what it would do only
// the settings that it writes.
func (r *reader) mayRun(ws []word, st state) {
	if len(ws) == 0 || ws[0].Kind != exact || ws[0].Text == "" || strings.HasPrefix(ws[0].Text, "-") {
		return
	}
	e := r.begin(ws[:min(len(ws), 100)], st)
	e.Maybe, e.Also = true, nil
	r.Add(e)
	for _, a := range r.Invoke(programs.Base(ws[0].Text), st.dirs).Settings(ws) {
		r.Add(a)
	}
}

// mayLose adds what a command that another one may run destroys, for the checks that
// hold in every mode.
func (r *reader) mayLose(ws []word, st state) {
	if len(ws) == 0 || ws[0].Kind != exact || ws[0].Text == "" {
		return
	}
	prog := programs.Base(ws[0].Text)
	if lost := r.loses(prog, ws, st.dirs); lost != "" {
		e := forRulesOnly(r.begin(ws[:min(len(ws), 100)], st))
		e.Maybe, e.Guess, e.Also, e.Loses = true, true, nil, lost
		r.Add(e)
	}
	if prog != "rm" {
		return
	}
	u := r.Invoke(prog, st.dirs)
	u.Changes(ws)
	for _, a := range u.Actions {
		if w, ok := a.(policy.Write); ok && w.Remove && w.Tree {
			w.Maybe = true
			r.Add(w)
		}
	}
}

// guessed lists the commands that the words of a program may mean of which nobody
// knows whether it runs them: a rule that forbids one makes it a question.
func (r *reader) guessed(prog string, ws []word, st state) {
	from := len(r.Actions)
	defer func() { r.guess(from) }()
	code, _ := programs.Code(prog, ws)
	for _, text := range code {
		r.mayStart(text, st)
	}
	if !r.Table.MayRun(prog, ws) {
		return
	}
	for i, w := range ws[1:min(len(ws), 40)] {
		if w.Kind == exact && strings.ContainsAny(w.Text, " \n") {
			flag, val, glued := strings.Cut(w.Text, "=")
			switch {
			case slices.Contains(code, w.Text):
			case programs.RunFlag(ws[i].Text):
				r.denyScript(w.Text, st)
			case glued && programs.RunFlag(flag):
				r.denyScript(val, st)
			}
			continue
		}
		r.mayRun(ws[1+i:], st)
		r.mayLose(ws[1+i:], st)
	}
}

// mayStart lists the commands that code in the language of some interpreter may start, as
// far as it says them in one text or in a list of texts.
func (r *reader) mayStart(code string, st state) {
	if len(code) > MaxChars {
		return
	}
	r.denyScript(code, st)
	texts := strings.FieldsFunc(between().ReplaceAllString(code, " "), func(c rune) bool { return strings.ContainsRune("\"'`", c) })
	for _, text := range texts[:min(len(texts), 40)] {
		if text != code {
			r.denyScript(text, st)
		}
	}
}

// between stands between two texts of a list.
var between = patterns.Lazy("[\"'`]\\s*,[\\s\\[(]*[\"'`]")

// guess makes the commands since then ones that are only guessed.
func (r *reader) guess(from int) {
	for i, a := range r.Actions[from:] {
		if e, ok := a.(policy.Exec); ok {
			e.Guess = true
			r.Actions[from+i] = e
		}
	}
}

// runsUnseen says why commands that this one starts are not known, "" when it
// starts none or they are. A path that leads to a program of another name is
// added to the spellings of e.
func (r *reader) runsUnseen(prog string, ws []word, st state, e *policy.Exec) string {
	if why := r.beyondScript(prog, ws, st); why != "" {
		return why
	}
	if why := r.madeBefore(prog, ws[0], st, e); why != "" {
		return why
	}
	return unseenWord(prog, ws)
}

// beyondScript says why a script of awk or sed may start what it does not name.
func (r *reader) beyondScript(prog string, ws []word, st state) string {
	if !programs.IsAwk(prog) && prog != "sed" {
		return ""
	}
	why := r.Table.BeyondScript(prog, ws[1:])
	if why == "" {
		return ""
	}
	for _, w := range ws[1:] {
		if w.Kind == exact {
			r.mayRunText(w.Text, st)
		}
	}
	return why
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
