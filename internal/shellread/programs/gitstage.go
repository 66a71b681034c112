package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// gitStages adds what git add and git stash take into the repository of files that it
// does not track yet, for rules that forbid: what they hold can be printed from there.
// Of those that it tracks nothing new becomes known.
func (u *Invocation) gitStages(rest []Word) {
	specs, ignored, some := gitTakes(rest[0].Text, rest[1:])
	if !some || !slices.ContainsFunc(specs, u.mayBeMore) && len(specs) > 0 {
		return
	}
	for _, d := range u.dirs {
		top := u.r.GitTop(d)
		match := newPathspecs(specs, d, top)
		all := u.r.below(top, top, pick{kept: !ignored})
		if all == nil {
			continue
		}
		if !ignored && slices.ContainsFunc(all.Paths, func(p policy.Place) bool {
			return strings.HasSuffix(p.Path, "/.ignore") || strings.HasSuffix(p.Path, "/.rgignore")
		}) {
			all = u.r.below(top, top, pick{}) // git honours none of those
		}
		tracked := map[string]bool{}
		if files, ok := u.r.Tracked(top); ok {
			for _, f := range files {
				tracked[f] = true
			}
		}
		below := &policy.Below{Short: all.Short}
		for _, p := range all.Paths {
			if !tracked[p.Path] && !policy.Within(top+"/.git", p.Path, false) && match.names(p.Path) {
				below.Paths = append(below.Paths, p)
			}
		}
		if len(below.Paths) > 0 || below.Short != "" {
			u.Actions = append(u.Actions, policy.Read{Path: top, Named: top, Asked: "git " + rest[0].Text, Tree: true, Sure: policy.Possible, Kept: ignored, Below: below})
		}
	}
}

// mayBeMore reports whether a pathspec may mean more than the one file that it names.
func (u *Invocation) mayBeMore(w Word) bool {
	return w.Kind != Exact || strings.ContainsAny(w.Text, "*?[\\") || strings.HasPrefix(w.Text, ":") || u.folder(w)
}

// gitTakes are the pathspecs of what a subcommand of git takes into the repository,
// none for everything, and whether files that are ignored are among it; some is false
// when it takes only what is tracked.
func gitTakes(command string, args []Word) (specs []Word, ignored, some bool) {
	f := gitFlags(Literals(args))
	switch command {
	case "add", "stage":
		if f.short("n") || f.has("--dry-run", "--refresh", "--renormalize") || (f.short("u") || f.has("--update")) && !f.short("A") {
			return nil, false, false
		}
		return gitOperands(args), f.short("f") || f.has("--force"), true
	case "update-index":
		return gitOperands(args), true, f.has("--add")
	case "stash":
		if len(args) > 0 && slices.Contains([]string{"list", "show", "drop", "pop", "apply", "branch", "clear", "create", "store"}, args[0].Text) {
			return nil, false, false
		}
		ignored = f.short("a") || f.has("--all")
		return nil, ignored, ignored || f.short("u") || f.has("--include-untracked")
	}
	return nil, false, false
}

// gitOperands are the words that are no flags; a list of names in a file may be any.
func gitOperands(args []Word) (out []Word) {
	for i, w := range args {
		switch {
		case w.Is("--"):
			return append(out, args[i+1:]...)
		case w.Kind == Exact && strings.HasPrefix(w.Text, "--pathspec-f"):
			return nil
		case w.Kind == Exact && strings.HasPrefix(w.Text, "-"):
		default:
			out = append(out, w)
		}
	}
	return out
}
