package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// outputs are the files that common flags of other commands write.
func (u *Invocation) outputs(ws []Word) []policy.Action {
	c := &Invocation{r: u.r, dirs: u.dirs, name: u.name}
	c.behindFlags(ws)
	c.shown(ws)
	switch u.name {
	case "find":
		c.removes(ws)
	case "rm":
		c.removes(ws)
		c.losesMost(ws)
	case "truncate", "shred":
		c.losesMost(ws)
	case "rsync", "scp":
		c.synced(ws[1:])
	case "git":
		c.moved = u.moved || c.moveAll(ws)
		c.gitOutputs(ws)
		c.gitSteers(ws)
	case "go":
		c.goSettings(ws)
	}
	c.empties(ws)
	return append(c.Actions, u.mayWrite(ws)...)
}

// behindFlags are files that stand behind a flag for an output.
func (u *Invocation) behindFlags(ws []Word) {
	if u.r.Table.of(u.name).hasOutputs() && u.name != "git" {
		u.written(ws)
		return
	}
	for i, w := range ws {
		if i == 0 || w.Kind != Exact {
			continue
		}
		switch {
		case w.Text == "-o" || w.Text == "--output" || u.name == "unzip" && w.Text == "-d":
			if i+1 < len(ws) && ws[i+1].Kind == Exact {
				u.put(ws[i+1], policy.Write{})
			}
		case strings.HasPrefix(w.Text, "--output=") || strings.HasPrefix(w.Text, "of="):
			_, file, _ := strings.Cut(w.Text, "=")
			u.put(Word{Kind: Exact, Text: file, Source: w.Source}, policy.Write{})
		}
	}
}

// losesMost adds, of rm and what empties files, the folder of a pattern that may match all
// that is in it, where that could not be read: maybe because it matches too much.
func (u *Invocation) losesMost(ws []Word) {
	for _, w := range ws[1:] {
		if w.Kind == Pattern && u.mostOf(w) {
			u.put(w, policy.Write{Remove: true, Tree: true, Sure: policy.Possible})
		}
	}
}

// removes are the trees that find and rm remove.
func (u *Invocation) removes(ws []Word) {
	if u.name == "find" {
		u.findDeletes(ws[1:])
		return
	}
	if !mayRecurse(ws[1:]) {
		return
	}
	for _, w := range ws[1:] {
		if w.Kind == Exact && !w.FlagLike() {
			sure := policy.Possible
			if recurses(ws[1:]) {
				sure = policy.Certain
			}
			u.put(w, policy.Write{Remove: true, Tree: true, Sure: sure})
		}
	}
}

// goSettings is the file that go env writes.
func (u *Invocation) goSettings(ws []Word) {
	home := u.r.World.Home
	if home == "" || len(ws) <= 2 || !ws[1].Is("env") || !slices.ContainsFunc(ws, func(w Word) bool { return w.Is("-w") || w.Is("-u") }) {
		return
	}
	at := path.Join(home, ".config/go/env") // it may be elsewhere, and is settings all the same
	u.Actions = append(u.Actions, policy.Write{Path: at, Named: at, Asked: at})
}

// gitOutputs are the files that git's own commands write or remove in the
// working tree, as far as they are named.
func (u *Invocation) gitOutputs(ws []Word) {
	for _, rest := range gitRests(ws[1:]) {
		if rest[0].Kind == Exact {
			u.gitOutput(rest)
			if u.moved {
				u.gitStages(rest)
			}
		}
	}
}

func (u *Invocation) gitOutput(rest []Word) {
	if grafts(rest) {
		u.Actions = append(u.Actions, policy.Person{Why: "git would put the files of the other side into another folder, which its difference does not show, or take them out of one: some may steer programs there"})
	}
	u.gitTrees(rest)
	u.gitDumps(rest)
	u.gitFiles(rest)
	named := false
	switch rest[0].Text {
	case "mv":
		u.gitMoves(rest[1:])
		return
	case "rm":
		if onlyIndex(rest[1:]) {
			return
		}
		named = true
	case "restore", "clean", "init", "clone", "worktree", "format-patch":
		named = true
	case "checkout":
		// A name that is there is taken for a file.
		named = len(rest) > 1 && slices.ContainsFunc(rest[1:], func(w Word) bool { return w.Kind == Exact && u.r.there(w, u.dirs) })
	default:
		return
	}
	for _, w := range rest[1:] {
		switch {
		case w.Is("--"):
			named = true
		case named && w.Kind == Exact && !strings.HasPrefix(w.Text, "-"):
			like := policy.Write{Remove: rest[0].Text == "rm", Tree: u.folder(w)}
			u.putStanding(w, like, func(dir string) *policy.Standing { return u.gitStanding(rest, dir) })
		}
	}
}

// grafts reports a merge in which the files of one side get another folder.
func grafts(rest []Word) bool {
	for i, w := range rest[1:] {
		before := rest[i].Text
		if !slices.Contains([]string{"merge", "pull", "rebase", "cherry-pick", "revert", "am", "stash"}, rest[0].Text) || !strings.Contains(w.Text, "subtree") {
			continue
		}
		if strings.HasPrefix(w.Text, "-") || strings.HasPrefix(before, "--strategy") || strings.HasPrefix(before, "-") && (strings.HasSuffix(before, "X") || strings.HasSuffix(before, "s")) {
			return true
		}
	}
	return false
}

// onlyIndex reports whether git rm leaves all files where they are, and takes them only out
// of the index.
func onlyIndex(ws []Word) bool {
	cached := false
	for _, w := range ws {
		switch {
		case w.Is("--"):
			return cached
		case w.Kind != Exact || strings.HasPrefix(w.Text, "--no"): // it may be --no-cached
			return false
		}
		cached = cached || w.Text == "--cached"
	}
	return cached
}

// MayRead adds every operand that could be a file as read, for deny rules about
// paths; they change nothing about a command that asks anyway.
func (u *Invocation) MayRead(ws []Word) []policy.Action {
	if len(ws) > 200 {
		ws = ws[:200]
	}
	ws = u.notProse(ws)
	c := &Invocation{r: u.r, dirs: u.dirs, name: u.name}
	if len(u.dirs) == 0 {
		c.everywhere(ws[1:])
		return c.Actions
	}
	operands, named := 0, false
	told, alone := u.toldToWrite(ws), u.leavesAlone(ws)
	for i, w := range ws[1:] {
		if w.Kind == Pattern && u.is(walker) {
			c.get(w, policy.Read{Tree: true})
		}
		if w.Kind == Pattern && (!NamesOnly(u.name) || u.r.Table.Changes(u.name)) {
			c.getMatches(w, policy.Read{MayWrite: told[i+1], Edits: told[i+1] && !alone})
		}
		if w.Kind == Unknown || w.Kind == Number && w.Many {
			c.unknownOperand(w, operands)
			operands++
		}
		if w.Kind != Exact || w.Text == "" || len(w.Text) > 1000 || strings.ContainsAny(w.Text, "\n") {
			continue
		}
		text := w.Text
		if strings.HasPrefix(text, "-") {
			_, val, has := strings.Cut(text, "=")
			if !has {
				continue
			}
			text = val
		}
		name := Word{Kind: Exact, Text: strings.TrimPrefix(text, "@"), Source: w.Source}
		tree := u.is(walker) && u.folder(name)
		if !strings.HasPrefix(w.Text, "-") {
			operands++
			named = named || u.is(seeker) && operands > 1 && u.r.there(name, u.dirs)
		}
		c.get(name, policy.Read{Tree: tree, List: u.is(quiet), MayWrite: told[i+1], Edits: told[i+1] && (!alone || outputFlag(ws[i], w))})
	}
	if u.name == "find" && slices.ContainsFunc(ws, func(w Word) bool { return strings.HasPrefix(w.Text, "-exec") || strings.HasPrefix(w.Text, "-ok") }) {
		c.starts(ws[1:])
	}
	c.namesIn(ws, told)
	c.curlPatterns(ws)
	c.fromList(ws)
	c.eachFound(ws)
	if u.is(seeker) && !named {
		c.get(Lit("."), policy.Read{Tree: true})
	}
	c.given(ws)
	return c.Actions
}

// given marks what a flag names as the file of variables of what the program runs.
func (u *Invocation) given(ws []Word) {
	for i, w := range ws[1:] {
		flag, file, glued := strings.Cut(w.Text, "=")
		if flag != "--env-file" && flag != "--env-file-if-exists" || w.Kind != Exact {
			continue
		}
		if !glued && i+2 < len(ws) && ws[i+2].Kind == Exact {
			file = ws[i+2].Text
		}
		for k, a := range u.Actions {
			if m, ok := a.(policy.Read); ok && !m.Tree && m.Asked == file {
				m.Given = true
				u.Actions[k] = m
			}
		}
	}
}

// getMatches adds what a pattern matches now. The folder it stands in is only listed.
func (u *Invocation) getMatches(w Word, like policy.Read) {
	from := len(u.Actions)
	u.get(w, like)
	folders := u.r.foldersOf(w.Text, u.dirs)
	for i, a := range u.Actions[from:] {
		if r, ok := a.(policy.Read); ok && folders[r.Named] {
			if r.List, r.Edits, r.Sure = !r.MayWrite, false, policy.Certain; r.MayWrite {
				r.Sure = policy.Possible
			}
			u.Actions[from+i] = r
		}
	}
}

// everywhere adds what words may name in a folder that is not known.
func (u *Invocation) everywhere(ws []Word) {
	for _, w := range ws {
		if w.Kind == Exact && len(w.Text) < 1000 && !strings.HasPrefix(w.Text, "-") {
			u.Actions = append(u.Actions, u.r.apart(func() { u.r.somewhere(w, nil, false) })...)
		}
	}
}
