package programs

import (
	"slices"

	"github.com/adze-agent/adze/internal/policy"
)

// gitWhole reports whether a subcommand of git that runs in dir may change files anywhere
// below top, the top of its work tree, where no more than a part of that may be written.
// git goes on when it cannot write a file: what it then records (the branch, the index) is
// not what lies on disk, and the next commit takes the difference for a change.
func (u *Invocation) gitWhole(rest []Word, dir, top string) bool {
	dirs := u.r.World.Dirs
	written := func(p string) bool {
		return slices.ContainsFunc(dirs, func(d string) bool { return policy.Within(d, p, false) }) || u.r.World.Writes != nil && u.r.World.Writes(p)
	}
	if written(top) || !slices.ContainsFunc(dirs, func(d string) bool { return policy.Within(top, d, false) }) {
		return false
	}
	f := gitFlags(Literals(rest[1:]))
	names := gitOperands(withoutStrategy(u.notProse(append([]Word{Lit("git")}, rest...))[1:]))
	names = names[min(len(names), 1):] // without the subcommand
	if slices.ContainsFunc(rest[1:], func(w Word) bool { return w.Is("-") }) {
		names = append(names, Lit("@{-1}")) // where it was before, and no flag
	}
	from := "HEAD"
	switch rest[0].Text {
	case "checkout", "switch":
		named := f.has("--create", "--force-create") || f.short("b") || f.short("B") || f.short("c") || f.short("C")
		if named || f.has("--orphan") && rest[0].Is("checkout") {
			names = names[min(len(names), 1):]
		}
		empties := f.has("--orphan") && rest[0].Is("switch")
		if f.has("--") || len(names) == 0 && !empties || rest[0].Is("checkout") && u.r.checksOutFile(append([]Word{Lit("git")}, rest...), rest[1:], []string{dir}) {
			return false // of files, or of nothing
		}
	case "reset":
		return f.has("--hard", "--merge", "--keep")
	case "stash":
		return !f.has("--") && (len(rest) == 1 || !slices.Contains([]string{"list", "show", "drop", "clear", "create", "store"}, rest[1].Text))
	case "read-tree":
		return f.short("u")
	case "bisect":
		return len(rest) > 1 && !rest[1].Is("log") && !rest[1].Is("view") && !rest[1].Is("visualize") && !rest[1].Is("terms")
	case "sparse-checkout":
		return len(rest) > 1 && !rest[1].Is("list")
	case "cherry-pick", "revert":
		from = "" // the commit before
	case "merge":
	case "rebase", "pull", "am":
		return !f.has("--quit", "--show-current-patch", "--edit-todo")
	default:
		return false
	}
	if f.has("--quit") {
		return false
	}
	if ask := u.r.World.Changed; ask != nil && len(names) == 1 && names[0].Kind == Exact {
		name := names[0].Text
		if from == "" {
			from = name + "^"
		}
		if files, ok := ask(dir, from, name); ok {
			return slices.ContainsFunc(files, func(p string) bool { return !written(p) })
		}
	}
	return true
}
