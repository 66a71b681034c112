package programs

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// A loss is a form of a program that destroys something which cannot be brought back:
// these words among its first operands, in this order, and one of the flags.
type loss struct {
	words []string
	flags []string // none means any
	// removes means that the words alone say that something is removed, so that a rule
	// which has them means the flags as well.
	removes bool
	what    string
}

const (
	lostVolumes = "removes volumes with what is in them"
	lostCloud   = "removes what runs there, for good"
	lostData    = "drops data of a database for good"
)

var losses = sync.OnceValue(func() map[string][]loss {
	volumes := []loss{
		{words: []string{"volume", "prune"}, what: lostVolumes}, {words: []string{"volume", "rm"}, what: lostVolumes}, {words: []string{"volume", "remove"}, what: lostVolumes},
		{words: []string{"system", "prune"}, flags: []string{"--volumes"}, removes: true, what: lostVolumes}, {words: []string{"compose", "down"}, flags: []string{"-v", "--volumes"}, what: lostVolumes},
	}
	destroy := []loss{{words: []string{"destroy"}, what: lostCloud}, {words: []string{"apply"}, flags: []string{"-destroy", "--destroy"}, what: lostCloud}}
	database := []loss{{words: []string{"db:drop"}, what: lostData}, {words: []string{"db:reset"}, what: lostData}, {words: []string{"db:purge"}, what: lostData}}
	return map[string][]loss{
		"docker": volumes, "podman": volumes, "nerdctl": volumes,
		"docker-compose": {{words: []string{"down"}, flags: []string{"-v", "--volumes"}, what: lostVolumes}},
		"terraform":      destroy, "tofu": destroy, "terragrunt": destroy, "pulumi": {{words: []string{"destroy"}, what: lostCloud}}, "cdk": {{words: []string{"destroy"}, what: lostCloud}},
		"aws":    {{words: []string{"s3", "rb"}, flags: []string{"--force"}, removes: true, what: lostCloud}, {words: []string{"s3", "rm"}, flags: []string{"--recursive"}, removes: true, what: lostCloud}},
		"gsutil": {{words: []string{"rb"}, what: lostCloud}}, "gh": {{words: []string{"repo", "delete"}, what: "removes the repository for everybody"}},
		"rails": database, "rake": database, "prisma": {{words: []string{"migrate", "reset"}, what: lostData}},
		"npm": {{words: []string{"unpublish"}, what: "takes away what others may use"}}, "crontab": {{flags: []string{"-r"}, what: "removes all that is scheduled"}},
	}
})

// otherLoses names what a form of losses destroys.
func otherLoses(name string, args []Word) string {
	for _, l := range losses()[name] {
		if l.at(args) != nil {
			return strings.Join(append([]string{name}, l.words...), " ") + " " + l.what
		}
	}
	return ""
}

// at are the places of the words, and of the flags unless the words alone say it, that
// make a command this loss; nil when it is another one.
func (l loss) at(args []Word) (at []int) {
	found, given := 0, len(l.flags) == 0
	for i, w := range args[:min(len(args), 20)] {
		switch flag, _, _ := strings.Cut(w.Text, "="); {
		case w.Kind != Exact:
		case strings.HasPrefix(flag, "-"):
			if slices.Contains(l.flags, flag) {
				if given = true; !l.removes {
					at = append(at, i)
				}
			}
		case found < len(l.words) && i < 8 && w.Text == l.words[found]:
			at = append(at, i)
			found++
		}
	}
	if !given || found < len(l.words) {
		return nil
	}
	return at
}

// lossFlag reports a flag that makes a command one of losses, whose first word its
// subcommand is: docker compose down -v. It is asked about as a loss, and is no other flag.
func lossFlag(name string, args []Word, flag string) bool {
	flag, _, _ = strings.Cut(flag, "=")
	return slices.ContainsFunc(losses()[name], func(l loss) bool {
		return len(l.words) > 0 && args[0].Is(l.words[0]) && slices.Contains(l.flags, flag) && l.at(args) != nil
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

// Loses says what a command would destroy for good, run in one of the folders; "" when
// it is not one of those that do. Such a command is asked about in every mode.
func (r *Recorder) Loses(name string, ws []Word, dirs []string) string {
	if name == "rm" && len(dirs) == 0 && recurses(ws[1:]) && slices.ContainsFunc(ws[1:], wholeFolder) {
		return "the folder that this runs in is not known, and everything in it would be removed"
	}
	if i := slices.IndexFunc(ws[1:], func(w Word) bool { return w.Each != "" }); i >= 0 && (name == "rm" || name == "unlink" || name == "shred") {
		return name + " removes every file that " + ws[1+i].Each + " prints, for good"
	}
	if what := loses(name, ws); what != "" || name != "git" {
		return what
	}
	for _, rest := range gitRests(ws[1:]) {
		if rest[0].Is("checkout") && r.checksOutFile(ws, rest[1:], dirs) {
			return "git checkout " + gitLosses()["checkout"].what
		}
	}
	return ""
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

// tars are the names of tar, bins are programs that remove what they are given, or put it
// where it is removed.
var (
	tars = map[string]bool{"tar": true, "bsdtar": true, "gtar": true}
	bins = map[string]bool{"trash": true, "trash-put": true, "rmtrash": true, "gtrash": true, "gio": true, "kioclient": true, "rimraf": true, "del": true, "del-cli": true, "rip": true}
)

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
	case tars[u.name]:
		if !has("", "--remove-f") {
			return
		}
	case u.name == "zip":
		if !has("m", "--move") {
			return
		}
	case bins[u.name]:
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
		u.putStanding(w, policy.Write{Remove: true, Tree: true, Maybe: true}, func(dir string) *policy.Standing { return u.r.standing(dir, false, keep) })
	}
}

// UnpacksHere reports tar that unpacks where it runs.
func UnpacksHere(name string, ws []Word) bool {
	if !tars[name] || len(ws) < 2 {
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
