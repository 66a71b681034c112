package programs

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// gitSteers are the parts of git's own folder that a git command writes and
// that steer git: mostly its settings. Without them it fails where those are
// protected, after a question nobody was asked.
func (u *Invocation) gitSteers(ws []Word) {
	if !u.moved {
		return
	}
	for _, rest := range gitRests(ws[1:]) {
		if rest[0].Kind == Exact && slices.Contains(gitSteering, rest[0].Text) {
			u.gitSteersBy(rest, u.gitAlone(ws[1:len(ws)-len(rest)], rest[1:]))
		}
	}
}

// routineFlags are flags of routine commands that name no program.
var routineFlags = strings.Fields(`-u --set-upstream -f --force --force-with-lease --force-if-includes --tags --follow-tags -q --quiet -v --verbose -n --no-verify --dry-run --progress --no-progress --all --atomic -t --track --no-track
-b -B -c -C --create --force-create -m -M --move --copy --unset-upstream --set-upstream-to --init --recursive --depth --jobs -j --remote --rebase --no-rebase --ff-only --ff --no-tags --prune -p -d --delete --detach --orphan --cone --no-cone
--merge --checkout --recurse-submodules --recommend-shallow --single-branch --lock --reason --guess --no-guess --name --branch -a -r --signoff --no-edit --autostash --no-commit -uf -fu -uq -qu -qb -qc -qt -b -qB -qC`)

// gitAlone reports whether a git command, of which flags stand before the subcommand and
// args behind it, starts no program but git's own: nothing names one, on the line or in
// what earlier commands exported.
func (u *Invocation) gitAlone(flags, args []Word) bool {
	if u.r.World.Program != nil && u.r.World.Program("git") != "" {
		return false
	}
	for i, w := range flags {
		if !w.Is("-C") && !w.Is("--no-pager") && !(i > 0 && flags[i-1].Is("-C")) {
			return false
		}
	}
	return !slices.ContainsFunc(args, func(w Word) bool {
		flag, _, _ := strings.Cut(w.Text, "=")
		return strings.HasPrefix(w.Text, "-") && !slices.Contains(routineFlags, flag) && !w.Is("--") || w.Kind != Exact && (w.Head == "" || w.Head[0] == '-')
	})
}

// gitSteersBy is gitSteers for one subcommand; alone says that git starts nothing else.
func (u *Invocation) gitSteersBy(rest []Word, alone bool) {
	for _, dir := range u.dirs {
		common, git, ok := u.r.Repo(dir)
		if !ok {
			if !rest[0].Is("config") && (!rest[0].Is("init") || !slices.ContainsFunc(rest, func(w Word) bool { return strings.HasPrefix(w.Text, "--template") })) {
				continue // what is made anew steers nothing yet
			}
			if common, git = "", ""; rest[0].Is("init") {
				git = path.Join(dir, ".git")
				common = git
			}
		}
		g := gitWrite{u: u, dir: dir, common: common, git: git, args: rest[1:], alone: alone}
		g.steer(rest[0].Text)
	}
}

// gitSteering are the subcommands that gitWrite knows.
var gitSteering = []string{"config", "init", "remote", "push", "fetch", "pull", "branch", "checkout", "switch", "reset", "worktree", "submodule", "sparse-checkout", "lfs"}

// A gitWrite is one git command in one repository.
type gitWrite struct {
	u                *Invocation
	dir, common, git string
	args             []Word
	valued           string // its short flags that take a value
	steers           bool   // the setting makes git run a program
	alone            bool   // git starts no program that somebody named
	routine          bool   // it writes no setting that somebody chose
	goes             bool   // folders of submodules may go
	sets             string // as in policy.Write
}

func (g gitWrite) write(parts ...string) {
	if g.common == "" {
		return // no repository: git refuses
	}
	g.own(path.Join(append([]string{g.common}, parts...)...), "")
}

// own adds a file of settings that git keeps for itself.
func (g gitWrite) own(p, asked string) {
	if asked == "" {
		asked = p
	}
	g.u.Actions = append(g.u.Actions, policy.Write{Path: p, Named: p, Asked: asked, Keeps: policy.Keeps{Own: true, Steers: g.steers, Routine: g.routine && g.alone, Sets: g.sets}})
}

// has reports whether one of the flags is given, alone, with a value, or among
// several letters.
func (g gitWrite) has(flags ...string) bool {
	return slices.ContainsFunc(g.args, func(w Word) bool {
		name, _, _ := strings.Cut(w.Text, "=")
		if w.Kind != Exact || !strings.HasPrefix(w.Text, "-") {
			return false
		}
		for _, f := range flags {
			if name == f || len(f) == 2 && !strings.HasPrefix(name, "--") && strings.Contains(g.letters(name), f[1:]) {
				return true
			}
		}
		return false
	})
}

// letters are the flags in a word of short ones, without the value that is glued to the
// last of them.
func (g gitWrite) letters(word string) string {
	if i := strings.IndexAny(word, g.valued); g.valued != "" && i > 0 {
		return word[1 : i+1]
	}
	return word[1:]
}

// verb is the first word that is no flag.
func (g gitWrite) verb() string {
	for _, w := range g.args {
		if w.Kind == Exact && !strings.HasPrefix(w.Text, "-") {
			return w.Text
		}
	}
	return ""
}

// last is the last word, "" where it is not known.
func (g gitWrite) last() string {
	if n := len(g.args); n > 0 && g.args[n-1].Kind == Exact {
		return g.args[n-1].Text
	}
	return ""
}

// remoteSets is what git remote add and set-url set: policy.Write.Sets.
func (g gitWrite) remoteSets() string {
	n := len(g.args)
	if n < 3 || g.args[n-2].Kind != Exact || g.last() == "" || g.verb() != "add" && g.verb() != "set-url" {
		return ""
	}
	key := "url"
	if g.has("--push") && g.verb() == "set-url" {
		key = "pushurl"
	}
	return "remote." + g.args[n-2].Text + "." + key + "=" + g.last()
}

// tracks reports whether a word names a branch of a remote: a branch made of it
// follows it, which stands in the settings.
func (g gitWrite) tracks() bool {
	if g.has("-t", "--track") {
		return true
	}
	if g.has("--no-track", "--detach") {
		return false
	}
	return slices.ContainsFunc(g.args, func(w Word) bool {
		remote, branch, ok := strings.Cut(strings.TrimPrefix(w.Text, "remotes/"), "/")
		return ok && w.Kind == Exact && branch != "" && remote != "" && remote != "." && remote != ".." && g.u.r.IsFolder(path.Join(g.common, "refs", "remotes", remote))
	})
}

func (g gitWrite) steer(command string) {
	settings := false
	g.routine = true
	switch command {
	case "config":
		g.routine, g.sets = false, gitConfigSets(g.args)
		g.steers = gitConfigBeyond(append([]Word{Lit("config")}, g.args...)) != ""
		g.valued = "f"
		g.config()
	case "init":
		settings = g.verb() == "" && path.Dir(g.git) == g.dir // else a new one is made
		if g.has("--template") {
			g.routine, g.steers = false, true
			g.write("hooks")
		}
	case "remote":
		settings = slices.Contains([]string{"add", "remove", "rm", "rename", "set-url", "set-branches"}, g.verb())
		g.sets = g.remoteSets()
		g.routine = g.verb() == "add" && g.sets != "" && !strings.Contains(g.last(), "::")
	case "push":
		settings = g.has("-u", "--set-upstream")
	case "fetch", "pull":
		if settings = g.has("--set-upstream"); g.has("--recurse-submodules") {
			g.inSubmodules(path.Dir(g.git), "modules", maxNested, false)
		}
	case "branch":
		settings = g.has("-u", "--set-upstream-to", "--unset-upstream", "-m", "-M", "--move", "-c", "-C", "--copy", "--edit-description") || !g.has("-d", "-D", "--delete", "-r", "-a", "-l", "--list", "--contains", "--merged", "--no-merged") && g.tracks()
	case "reset":
		g.recursing(command)
	case "checkout":
		g.recursing(command)
		settings = g.has("-b", "-B", "-t", "--track") && g.tracks()
	case "switch":
		g.recursing(command)
		settings = g.has("-c", "-C", "--create", "--force-create", "-t", "--track") && g.tracks()
	case "worktree":
		g.worktree()
	case "submodule":
		g.submodule()
	case "sparse-checkout":
		if settings = slices.Contains([]string{"init", "set", "add", "disable"}, g.verb()); settings {
			g.write("config.worktree")
		}
	case "lfs":
		g.routine = false
		if g.verb() == "install" || g.verb() == "uninstall" {
			g.write("hooks")
			settings = g.has("--local")
		}
	}
	if settings {
		g.write("config")
	}
}

// config is git config in a form that writes.
func (g gitWrite) config() {
	name := slices.IndexFunc(g.args, func(w Word) bool { return w.Kind != Exact || !strings.HasPrefix(w.Text, "-") })
	alone := name >= 0 && len(g.args) == name+1 && g.args[name].Kind == Exact && strings.Contains(g.args[name].Text, ".") && !slices.ContainsFunc(g.args[:name], func(w Word) bool {
		return !slices.Contains([]string{"--global", "--local", "--system", "--worktree", "--show-origin", "--show-scope", "--null", "-z", "--bool", "--int", "--path"}, w.Text)
	})
	switch {
	case alone: // git config --global NAME prints it
	case g.has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--get-color", "--get-colorbool"):
	case slices.Contains([]string{"get", "list"}, g.verb()):
	case g.has("--global"):
		if home := g.u.r.World.Home; home != "" {
			g.own(path.Join(home, ".gitconfig"), "~/.gitconfig")
		}
	case g.has("--system"):
		g.own("/etc/gitconfig", "")
	case g.has("-f", "--file", "--fil", "--fi"):
		g.configFiles()
	case g.has("--worktree"):
		g.write("config")
		g.write("config.worktree")
		if g.git != g.common {
			g.own(path.Join(g.git, "config.worktree"), "")
		}
	default:
		g.write("config")
	}
}

// configFiles are the files of settings that git config is given.
func (g gitWrite) configFiles() {
	for i, w := range g.args {
		name, file, attached := strings.Cut(w.Text, "=")
		long := len(name) > 3 && strings.HasPrefix("--file", name)
		letters := ""
		if clustered(w.Text, 'f') {
			letters = g.letters(w.Text)
		}
		switch {
		case w.Kind != Exact && (strings.HasPrefix(w.Head, "-f") || strings.HasPrefix(w.Head, "--fi")):
			g.write("config") // it may be that one
		case w.Kind != Exact || !long && !strings.HasSuffix(letters, "f"):
		case long && attached:
			g.u.put(Word{Kind: Exact, Text: file, Source: w.Source}, policy.Write{})
		case !long && len(w.Text) > 1+len(letters):
			g.u.put(Word{Kind: Exact, Text: w.Text[1+len(letters):], Source: w.Source}, policy.Write{})
		case i+1 < len(g.args) && g.args[i+1].Kind == Exact:
			g.u.put(g.args[i+1], policy.Write{})
		case i+1 < len(g.args):
			g.write("config")
		}
	}
}

func (g gitWrite) worktree() {
	switch g.verb() {
	case "add":
		if g.tracks() {
			g.write("config")
		}
	case "remove", "move", "prune", "repair", "lock", "unlock":
		g.write("worktrees")
		if g.verb() == "remove" || g.verb() == "move" {
			g.takesWorktree()
		}
	}
}

// takesWorktree adds the folder of a worktree that is removed or moved: the sandbox keeps
// files of it in their places otherwise, and git goes on with what it has of it in its own
// folder.
func (g gitWrite) takesWorktree() {
	names := gitOperands(g.args)
	if len(names) < 2 {
		return
	}
	w := names[1]
	if w.Kind != Exact {
		g.u.Actions = append(g.u.Actions, policy.Person{Why: "which worktree git would take away is not known before it runs, and commands here may take only a part of it away. Name its folder"})
		return
	}
	var at string
	if dot, ok := g.text(path.Join(g.common, "worktrees", path.Base(w.Text), "gitdir")); ok && (path.Base(dot) == ".git") && !g.u.r.there(Lit(path.Join(w.Text, ".git")), g.u.dirs) {
		at = path.Dir(dot)
	} else if at = w.Text; !path.IsAbs(at) {
		at = path.Join(g.dir, at)
	}
	real, err := g.u.r.Real(at)
	if common, git, ok := g.u.r.Repo(real); err == nil && ok && common == g.common && git != common && g.u.r.there(Lit(path.Join(real, ".git")), g.u.dirs) {
		g.u.Actions = append(g.u.Actions, policy.Write{Path: real, Named: at, Asked: w.Text, Remove: true, Tree: true, Standing: g.u.r.standing(real, false, nil), Opens: true})
	}
}

// text is a file of one line.
func (g gitWrite) text(file string) (line string, ok bool) {
	if g.u.r.World.Text == nil {
		return "", false
	}
	line, ok = g.u.r.World.Text(file)
	return strings.TrimSpace(line), ok
}

// recursing adds what git writes when it checks out submodules with its own files. Where
// the list of submodules may change, their folders may go.
func (g gitWrite) recursing(command string) {
	if !g.has("--recurse-submodules") {
		return
	}
	top := path.Dir(g.git)
	g.goes = true
	if ask := g.u.r.World.Changed; ask != nil {
		takings, _ := gitTaking(command, Literals(gitOperands(g.args)), gitFlags(Literals(g.args)))
		g.goes = slices.ContainsFunc(takings, func(t taking) bool {
			files, ok := ask(g.dir, t.from, t.to)
			return !ok || slices.Contains(files, path.Join(top, ".gitmodules"))
		})
	}
	if g.goes {
		g.sets = "core.worktree"
		for _, config := range g.u.r.Glob(world.EscapeGlob(path.Join(g.common, "modules")) + "/*/config") { // of those that come back
			back := g
			back.sets = "core.worktree=../../../" + path.Base(path.Dir(config))
			back.own(config, "")
		}
	}
	g.inSubmodules(top, "modules", maxNested, true)
}

// maxNested bounds submodules in submodules.
const maxNested = 4

// inSubmodules are the settings of the submodules that a working tree lists: git writes
// there where they are checked out, each time. moves adds their .git files.
func (g gitWrite) inSubmodules(top, modules string, depth int, moves bool) {
	if g.u.r.World.Text == nil || depth == 0 {
		return
	}
	text, _ := g.u.r.World.Text(path.Join(top, ".gitmodules")) // there is none, mostly
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if n, ok := strings.CutPrefix(line, "[submodule \""); ok {
			name = strings.TrimSuffix(n, "\"]")
		}
		key, at, ok := strings.Cut(line, "=")
		if !ok || strings.TrimSpace(key) != "path" || name == "" || !filepath.IsLocal(name) {
			continue
		}
		in := path.Join(modules, name)
		g.write(in, "config")
		if at = strings.TrimSpace(at); filepath.IsLocal(at) {
			switch in := path.Join(top, at); {
			case !moves || g.u.r.IsFolder(path.Join(in, ".git")): // a repository of its own
			case g.goes:
				g.u.Actions = append(g.u.Actions, policy.Write{Path: in, Named: in, Asked: in, Remove: true, Tree: true, Standing: g.u.r.standing(in, false, nil), Opens: true})
			default:
				g.own(path.Join(in, ".git"), "")
			}
			g.inSubmodules(path.Join(top, at), path.Join(in, "modules"), depth-1, moves)
		}
	}
}

func (g gitWrite) submodule() {
	verb := g.verb()
	if verb == "" || verb == "status" || verb == "summary" || verb == "foreach" {
		return
	}
	g.routine = verb == "update" || verb == "init" || verb == "add"
	if verb == "update" {
		g.inSubmodules(path.Dir(g.git), "modules", maxNested, false)
		if !g.has("--init", "--remote") {
			return
		}
	}
	g.write("config")
	switch verb {
	case "add", "set-url", "set-branch":
		g.u.put(Word{Kind: Exact, Text: ".gitmodules", Source: ".gitmodules"}, policy.Write{Keeps: policy.Keeps{Own: true}})
	case "deinit", "sync", "absorbgitdirs":
		g.write("modules")
	}
}
