package policy

import (
	"path/filepath"
	"slices"
	"strings"
)

// An Apart says that a session works in a git worktree of its own. The other checkouts of
// the repository are neither read nor changed, and git works on none of them: an absolute
// path of one of them means the same file of the worktree. All paths are resolved.
type Apart struct {
	Tree   string   // the worktree; Rules.Dir lies in it
	Tops   []string // the other checkouts; one may hold Tree
	Shared []string // what may be read all the same: folders that the worktree has links to
	Common string   // the git folder that all of them share
	Git    string   // that of the worktree, in Common
	// Alone: of Common, too, only what git needs for a commit on the worktree's own branch is
	// written. It is for an agent; a person's session does what git does.
	Alone bool
}

// Own are the folders of Common that git writes for the worktree alone.
func (a *Apart) Own() []string {
	return []string{a.Git, filepath.Join(a.Common, "objects"), filepath.Join(a.Common, "refs", "heads", "adze"), filepath.Join(a.Common, "logs", "refs", "heads", "adze")}
}

// Beyond reports whether a path is of another checkout: it, or what is in it.
func (a *Apart) Beyond(path string, fold bool) bool {
	return a != nil && !Within(a.Tree, path, fold) && !Within(a.Common, path, fold) && slices.ContainsFunc(a.Tops, func(top string) bool { return Within(top, path, fold) })
}

// Meant is the path in the worktree that is meant by one of another checkout; ok is false
// where there is none, or path is of no other checkout.
func (a *Apart) Meant(path string, fold bool) (meant string, ok bool) {
	if !a.Beyond(path, fold) {
		return "", false
	}
	top := ""
	for _, t := range a.Tops { // the innermost: they may lie in each other
		if len(t) > len(top) && Within(t, path, fold) {
			top = t
		}
	}
	rel := strings.TrimPrefix(path[len(top):], string(filepath.Separator))
	if low := strings.ToLower(filepath.ToSlash(rel)); low == worktrees || strings.HasPrefix(low, worktrees+"/") || low == ".adze" {
		return "", false // another worktree
	}
	return filepath.Join(a.Tree, rel), true
}

// worktrees is where worktrees of adze's are, below the top of a checkout.
const worktrees = ".adze/worktrees"

// TreeOf is the worktree of adze's, or of another agent's, that a folder lies in, as the
// names on the way say; "" for none.
func TreeOf(dir string) string {
	segs := strings.Split(filepath.ToSlash(dir), "/")
	for i := len(segs) - 1; i > 1; i-- {
		if strings.EqualFold(segs[i-1], "worktrees") && (strings.EqualFold(segs[i-2], ".adze") || strings.EqualFold(segs[i-2], ".claude")) {
			return filepath.FromSlash(strings.Join(segs[:i+1], "/"))
		}
	}
	return ""
}

// apart denies what has to do with another checkout than the session's own.
func (c *call) apart(a Action) (Verdict, bool) {
	at := c.rules.Apart
	if at == nil {
		return Verdict{}, false
	}
	switch a := a.(type) {
	case Read:
		return c.readsBeyond(at, a)
	case Write:
		return c.writesBeyond(at, a)
	case Exec:
		if a.Sure == Guessed {
			return Verdict{}, false
		}
		if at.Beyond(a.Dir, c.rules.FoldCase) {
			return c.beyond(at, a.Dir, a.Dir, "runs in"), true
		}
		if why := c.gitBeyond(at, a); why != "" {
			return Verdict{Effect: Deny, Reason: why, Check: CheckApart, Part: part(a)}, true
		}
	case Opaque:
		for _, word := range append(strings.Fields(a.Source), a.Sets) { // export GIT_DIR=…
			if why := c.variableBeyond(at, strings.Trim(word, `"'`)); why != "" {
				return Verdict{Effect: Deny, Reason: why, Check: CheckApart, Part: part(a)}, true
			}
		}
		if at.Alone && !a.Listed && c.mode == Bypass && !c.req.Sandboxed {
			return Verdict{Effect: Ask, Reason: "an agent that works in a worktree of its own must not change others, and what this does could not be read: " + a.Why, Check: CheckOpaque, Part: part(a)}, true
		}
	case Net, Call, Spawn, Tell, Skill, Workflow, Person, None:
	}
	return Verdict{}, false
}

// beyond is the refusal of a path of another checkout, with what is meant by it here.
func (c *call) beyond(at *Apart, asked, path, does string) Verdict {
	v := Verdict{Effect: Deny, Check: CheckApart, Part: path, Reason: "this session works in the worktree " + at.Tree + ", and this " + does + " " + c.show(asked, path) + ", which is in another checkout"}
	if meant, ok := at.Meant(path, c.rules.FoldCase); ok {
		v.Reason += "; here it is " + meant
	}
	return v
}

func (c *call) readsBeyond(at *Apart, r Read) (Verdict, bool) {
	switch {
	case r.Sure == Guessed:
	case Within(at.Common, r.Path, c.rules.FoldCase): // what git keeps may be read, and not be given to what may write it
		if r.MayWrite && at.Alone && !c.ownGit(at, r.Path) {
			return c.beyond(at, r.Asked, r.Path, "names"), true
		}
	case at.Beyond(r.Path, c.rules.FoldCase):
		shared := slices.ContainsFunc(at.Shared, func(s string) bool { return Within(s, r.Path, c.rules.FoldCase) })
		if !shared || r.MayWrite && !c.req.Sandboxed {
			return c.beyond(at, r.Asked, r.Path, "names"), true
		}
	}
	return Verdict{}, false
}

func (c *call) writesBeyond(at *Apart, w Write) (Verdict, bool) {
	fold := c.rules.FoldCase
	holds := (w.Tree || w.Within) && slices.ContainsFunc(append([]string{at.Common}, at.Tops...), func(top string) bool { return Within(w.Path, top, fold) })
	switch {
	case w.Sure == Guessed:
	case holds && !Within(at.Tree, w.Path, fold), at.Beyond(w.Path, fold):
		return c.beyond(at, w.Asked, w.Path, "changes"), true
	case at.Alone && Within(at.Common, w.Path, fold) && !c.ownGit(at, w.Path):
		return c.beyond(at, w.Asked, w.Path, "changes"), true
	}
	return Verdict{}, false
}

// ownGit reports whether git writes a path for the worktree alone.
func (c *call) ownGit(at *Apart, path string) bool {
	return slices.ContainsFunc(at.Own(), func(own string) bool { return Within(own, path, c.rules.FoldCase) })
}

// sharedVerbs are what git does to all checkouts at once, or to what they share, with the
// words behind them that only look; "*" is all of them.
var sharedVerbs = map[string][]string{
	"stash": {"list", "show", "create"}, "worktree": {"list"}, "reflog": {"show", "exists", "list"}, "symbolic-ref": nil, "update-ref": nil,
	"gc": nil, "prune": nil, "repack": nil, "pack-refs": nil, "maintenance": nil, "filter-branch": nil, "replace": nil, "prune-packed": nil,
}

// gitBeyond says why a git command is not for this worktree, "" where it is.
func (c *call) gitBeyond(at *Apart, e Exec) string {
	if len(e.Argv) == 0 || e.Argv[0] != "git" {
		return ""
	}
	outside := func(path string) bool { return c.outOfTree(at, e.Dir, path) }
	const words = "git works on another checkout here; this session has the worktree "
	for _, kv := range e.Env {
		if why := c.variableBeyond(at, kv); why != "" {
			return why
		}
	}
	args := e.Argv[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		flag, value, glued := strings.Cut(args[0], "=")
		takes := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"}, flag)
		if args = args[1:]; takes && !glued && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch {
		case flag == "-C" || flag == "--git-dir" || flag == "--work-tree":
			if outside(value) {
				return words + at.Tree
			}
		case flag == "-c" && strings.HasPrefix(strings.ToLower(value), "core.worktree"):
			return words + at.Tree
		}
	}
	if !at.Alone || len(args) == 0 {
		return ""
	}
	if e.Dir == "" && !c.req.Sandboxed {
		return "the folder that git would work in is not known before it runs; name it, or leave it out: the worktree is " + at.Tree
	}
	verb, rest := args[0], args[1:]
	looks, shared := sharedVerbs[verb]
	switch {
	case shared && !(len(rest) > 0 && slices.Contains(looks, rest[0])):
		return "git " + verb + " would change what all checkouts of the repository share; commit on the branch of this worktree instead"
	case verb == "branch" && moves(rest), verb == "tag" && moves(rest):
		return "git " + verb + " would move or remove a name that other checkouts may use; this agent has the branch of its worktree"
	case (verb == "push" || verb == "fetch" || verb == "pull") && slices.ContainsFunc(rest, func(w string) bool { return w == "." || w == ".." || outside(w) }):
		return "git " + verb + " would move branches of other checkouts; this agent has the branch of its worktree"
	}
	return ""
}

// outOfTree reports whether a path that git is given, as it is written, is of another checkout
// or its git folder. One that is relative counts from dir, and for nothing where that is "".
func (c *call) outOfTree(at *Apart, dir, path string) bool {
	if !filepath.IsAbs(path) {
		if dir == "" {
			return false
		}
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	return at.Beyond(path, c.rules.FoldCase) || Within(at.Common, path, c.rules.FoldCase) && !Within(at.Git, path, c.rules.FoldCase)
}

// variableBeyond says why NAME=value may have git work on another checkout.
func (c *call) variableBeyond(at *Apart, kv string) string {
	name, value, _ := strings.Cut(kv, "=")
	if !strings.HasPrefix(name, "GIT_") || !c.outOfTree(at, "", value) && !slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"}, name) {
		return ""
	}
	return "the variable " + name + " may have git work elsewhere; this session has the worktree " + at.Tree
}

// moves reports whether flags of git branch or git tag move or remove a name.
func moves(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		if strings.HasPrefix(w, "--") {
			return slices.Contains([]string{"--delete", "--move", "--copy", "--force", "--set-upstream-to", "--unset-upstream", "--edit-description"}, strings.SplitN(w, "=", 2)[0])
		}
		return len(w) > 1 && w[0] == '-' && strings.ContainsAny(w, "dDmMcCfu")
	})
}
