package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
	"github.com/adze-agent/adze/internal/text/pattern"
)

const (
	lostVolumes = "removes volumes with what is in them"
	lostChanges = "drops changes that are not committed"
	lostFiles   = "of files drops their changes that are not committed"
	lostBranch  = "-D drops commits that are only on that branch"
	lostObjects = "drops objects for good"
	lostAll     = "destroys what cannot be brought back"
	lostCloud   = "removes what runs there, for good"
	lostData    = "drops data of a database for good"
)

// losing names what the words behind the program destroy.
func (p *program) losing(name string, args []Word) string {
	for i := range p.forms {
		f := &p.forms[i]
		if f.loses == "" {
			continue
		}
		if m, ok := p.match(f, args); ok {
			for _, at := range m.words[:len(strings.Fields(f.words))] {
				name += " " + args[at].Text
			}
			return name + " " + f.loses
		}
	}
	if p.lost != nil {
		return p.lost(args)
	}
	return ""
}

// lossFlag reports a flag that makes a command a form which loses something, whose first word
// its subcommand is: docker compose down -v. It is asked about as a loss, and is no other flag.
func (p *program) lossFlag(args []Word, flag Word) bool {
	return slices.ContainsFunc(p.forms, func(f form) bool {
		m, ok := p.match(&f, args)
		return f.loses != "" && ok && len(m.words) > 0 && m.words[0] == 0 && p.given(&f, f.flags, []Word{flag}, true) != nil
	})
}

// killLoses names a signal for every process: -1 where a process stands.
func killLoses(args []Word) string {
	for i, w := range args {
		if i > 0 && w.Is("-1") {
			return "kill -1 ends every process of this user"
		}
	}
	return ""
}

// ownJob is a job of the shell, which the same script started.
var ownJob = pattern.Lazy(`^%([0-9]+|[%+-])?$`)

// killsOwn says why kill may end more than what the script itself started.
func killsOwn(u *Invocation) string {
	args := u.args
	if len(args) > 1 && args[0].Kind == Exact && strings.HasPrefix(args[0].Text, "-") && strings.Trim(args[0].Text[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" {
		args = args[1:]
	}
	for _, w := range args {
		if !w.Job && !(w.Kind == Exact && ownJob().MatchString(w.Text)) {
			return "kill may end a process that this did not start"
		}
	}
	return ""
}

// Loses says what a command would destroy for good, run in one of the folders; "" when
// it is not one of those that do. Such a command is asked about in every mode.
func (r *Recorder) Loses(name string, ws []Word, dirs []string) string {
	if name == "rm" && len(dirs) == 0 && recurses(ws[1:]) && slices.ContainsFunc(ws[1:], wholeFolder) {
		return "the folder that this runs in is not known, and everything in it would be removed"
	}
	if i := slices.IndexFunc(ws[1:], func(w Word) bool { return w.Each != "" }); i >= 0 && (name == "rm" || name == "unlink" || name == "shred" || name == "truncate") {
		return name + " removes every file that " + ws[1+i].Each + " prints, for good"
	}
	if what := r.Table.loses(name, ws); what != "" || name != "git" {
		if name == "git" && r.renamesFreely(ws, dirs) {
			return ""
		}
		return what
	}
	for _, rest := range gitRests(ws[1:]) {
		if rest[0].Is("checkout") && r.checksOutFile(ws, rest[1:], dirs) {
			return "git checkout " + lostFiles
		}
	}
	return ""
}

// renamesFreely reports whether git branch -M, checkout -B or switch -C only gives a branch a
// name that no other has (git branch -M main behind git init).
func (r *Recorder) renamesFreely(ws []Word, dirs []string) bool {
	rests := gitRests(ws[1:])
	if len(rests) != 1 || len(rests[0]) < 3 || gitAsFlags(ws) != nil {
		return false
	}
	switch verb, flag, behind := rests[0][0].Text, rests[0][1].Text, rests[0][3:]; {
	case verb == "branch" && flag == "-M" && len(behind) == 0:
	case verb == "checkout" && flag == "-B", verb == "switch" && (flag == "-C" || flag == "--force-create"):
		if len(behind) > 1 || len(behind) == 1 && behind[0].FlagLike() {
			return false
		}
	default:
		return false
	}
	to := rests[0][2]
	u := &Invocation{r: r, dirs: dirs, name: "git"}
	notes := r.Notes
	r.Seen = nil
	defer func() { r.Notes = notes }()
	if to.Kind != Exact || strings.HasPrefix(to.Text, "-") || !u.moveAll(ws) || len(u.dirs) == 0 {
		return false
	}
	for _, d := range u.dirs {
		common, _, ok := r.Repo(d)
		if !ok || r.packedRef(path.Join(common, "packed-refs"), to.Text, u.dirs) || r.there(Lit(path.Join(common, "refs/heads", to.Text)), u.dirs) {
			return false
		}
	}
	return true
}

// packedRef reports whether a branch may stand in git's list of packed ones.
func (r *Recorder) packedRef(file, branch string, dirs []string) bool {
	if !r.there(Lit(file), dirs) {
		return false
	}
	if r.World.Text == nil {
		return true
	}
	text, ok := r.World.Text(file)
	return !ok || strings.Contains(text, " refs/heads/"+branch+"\n")
}

// wholeFolder reports a word that names all that is in the folder it counts from.
func wholeFolder(w Word) bool {
	text := strings.TrimPrefix(w.Text, "./")
	return w.Kind == Pattern && (text == "*" || text == ".*") || w.Kind == Exact && (text == "." || text == "..")
}

// checksOutFile reports whether an operand of git checkout is a file and no commit,
// or stands behind one: its changes are dropped.
func (r *Recorder) checksOutFile(ws, args []Word, dirs []string) bool {
	u := &Invocation{r: r, dirs: dirs, name: "git"}
	notes := r.Notes
	r.Seen = nil // what is noted here is noted again where the command is read
	defer func() { r.Notes = notes }()
	if !u.moveAll(ws) {
		return false
	}
	n := 0
	for i, w := range args {
		switch {
		case w.Is("-b") || w.Is("-B") || w.Is("--orphan") || w.Is("--detach") || w.Is("-d"):
			return false // it makes a branch, or goes to a commit
		case w.Kind == Exact && strings.HasPrefix(w.Text, "-"):
			if strings.HasPrefix(w.Text, "--pathspec-f") {
				return true
			}
			continue
		}
		if n++; u.checkedOut(w, n == 1 && len(args) == i+1) {
			return true
		}
	}
	return false
}

// checkedOut reports whether a word is a file that is there, or a pattern of some.
// alone says that it is the only word, so that git takes it for a commit first.
func (u *Invocation) checkedOut(w Word, alone bool) bool {
	switch {
	case w.Kind == Pattern:
		return !u.r.NoMatches(w.Text, u.dirs)
	case w.Kind != Exact || w.Text == "" || w.Text == "-":
		return false
	case strings.ContainsAny(w.Text, "*?[") || w.Text[0] == ':': // no name of a commit has these
		return true
	}
	return u.r.there(w, u.dirs) && !(alone && u.isRef(w.Text))
}

// isRef reports whether a word is a branch or a tag here, as far as it has a file of
// its own.
func (u *Invocation) isRef(name string) bool {
	for _, d := range u.dirs {
		common, _, ok := u.r.Repo(d)
		if !ok {
			continue
		}
		for _, at := range []string{"refs/heads", "refs/tags", "refs/remotes", "refs"} {
			if u.r.there(Lit(path.Join(common, at, name)), u.dirs) && !u.r.IsFolder(path.Join(common, at, name)) {
				return true
			}
		}
	}
	return false
}

// empties adds what a command removes besides what it is for: tar --remove-files,
// rsync --delete, zip -m, trash.
func (u *Invocation) empties(ws []Word) {
	has := func(letter string, names ...string) bool {
		return slices.ContainsFunc(ws[1:], func(w Word) bool {
			long := strings.HasPrefix(w.Text, "--")
			return w.Kind == Exact && (long && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(w.Text, n) }) ||
				!long && letter != "" && len(w.Text) > 1 && w.Text[0] == '-' && strings.Contains(w.Text, letter))
		})
	}
	var names []Word
	for _, w := range ws[1:] {
		if w.Kind == Exact && !strings.HasPrefix(w.Text, "-") && !strings.Contains(w.Text, ":") {
			names = append(names, w)
		}
	}
	switch {
	case u.name == "rsync":
		switch {
		case len(names) == 0:
		case has("", "--remove-s"):
		case has("", "--del"):
			names = names[len(names)-1:]
		default:
			return
		}
	case u.is(tarLike):
		if !has("", "--remove-f") {
			return
		}
	case u.name == "zip":
		if !has("m", "--move") {
			return
		}
	case u.is(bin):
		if u.name == "gio" && (len(names) == 0 || !names[0].Is("trash") && !names[0].Is("remove")) {
			return
		}
	default:
		return
	}
	var keep func(world.Entry) bool
	if u.name == "rsync" && slices.ContainsFunc(ws, func(w Word) bool { return strings.Contains(w.Text, "exclude") }) && slices.ContainsFunc(ws, func(w Word) bool { return strings.HasSuffix(strings.TrimSuffix(w.Text, "/"), ".git") }) {
		keep = func(e world.Entry) bool { return !strings.Contains("/"+e.Name+"/", "/.git/") }
	}
	for _, w := range names {
		u.putStanding(w, policy.Write{Remove: true, Tree: true, Sure: policy.Possible}, func(dir string) *policy.Standing { return u.r.standing(dir, false, keep) })
	}
}

// UnpacksHere reports tar that unpacks where it runs.
func UnpacksHere(name string, ws []Word) bool {
	if !Standard().is(name, tarLike) || len(ws) < 2 {
		return false
	}
	unpacks := !strings.HasPrefix(ws[1].Text, "-") && strings.Contains(ws[1].Text, "x")
	for _, w := range ws[1:] {
		switch t := w.Text; {
		case strings.HasPrefix(t, "--dir"), strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "--") && strings.Contains(t, "C"):
			return false
		case strings.HasPrefix(t, "--ex") && !strings.HasPrefix(t, "--exc"), t == "--get", strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "--") && strings.Contains(t, "x"):
			unpacks = true
		}
	}
	return unpacks
}
