package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// A taking is what git takes over into the work tree: the files that two commits, named as
// World.Changed takes them, do not have alike.
type taking struct{ from, to string }

// gitTaking says what a subcommand of git takes over. names are its operands, f all that
// stands behind it. sure is that it takes nothing else, so that what is none of these is
// not known.
func gitTaking(command string, names []string, f gitFlags) (out []taking, sure bool) {
	each := func(from string) (out []taking) {
		for _, n := range names {
			a, b, ranged := strings.Cut(n, "..")
			switch b = strings.TrimPrefix(b, "."); {
			case ranged:
				out = append(out, taking{a, b})
			case from == "":
				out = append(out, taking{n + "^", n})
			default:
				out = append(out, taking{from, n})
			}
		}
		return out
	}
	drops := taking{"HEAD", ""} // what is not committed
	if len(names) > 0 {
		drops.from = names[0]
	}
	switch {
	case f.has("--abort") && (command == "rebase" || command == "am"):
		return []taking{{"ORIG_HEAD", ""}}, false
	case f.has("--abort"):
		return []taking{{"HEAD", ""}}, false
	case f.has("--continue", "--skip") && command == "rebase":
		return []taking{{"HEAD...", "ORIG_HEAD"}}, false
	case f.has("--quit", "--continue", "--skip", "--edit-todo", "--soft", "--mixed"):
		return nil, false
	}
	switch command {
	case "merge", "rebase":
		if len(names) == 0 {
			names = []string{"@{upstream}"}
		}
		return each("HEAD"), true
	case "cherry-pick", "revert":
		return each(""), len(names) > 0
	case "stash":
		switch verb := strings.Join(names[:min(len(names), 1)], ""); verb {
		case "apply", "pop", "branch":
			of := "stash@{0}"
			if len(names) > 1 {
				of = names[len(names)-1]
			}
			return []taking{{"HEAD", of}, {"", of + "^3"}}, true // what git did not track is the third
		case "", "push", "save":
			return []taking{{"HEAD", ""}}, false
		}
	case "checkout", "switch":
		if f.has("--force", "--discard-changes") || f.short("f") {
			return []taking{drops}, false
		}
		return each("HEAD"), false
	case "reset":
		if f.has("--hard") {
			return []taking{drops}, false
		}
		return each("HEAD"), false
	case "read-tree":
		if f.has("--reset") {
			return []taking{drops}, false
		}
		return each("HEAD"), false
	}
	return nil, false
}

// brings adds the files that git takes over from commits into the work tree, or from there
// into commits. It returns why those are not known.
func (u *Invocation) brings(rest []Word) (why string) {
	operands := gitOperands(withoutStrategy(u.notProse(append([]Word{Lit("git")}, rest...))[1:]))
	if u.r.World.Changed == nil || len(u.dirs) == 0 || len(operands) == 0 || rest[0].Kind != Exact {
		return ""
	}
	command, operands := rest[0].Text, operands[1:]
	if command == "pull" {
		u.pulls(rest[1:], operands)
		return ""
	}
	var names []string
	unknown := false
	for _, w := range operands {
		if unknown = unknown || w.Kind != Exact; w.Kind == Exact && w.Text != "" {
			names = append(names, w.Text)
		}
	}
	f := gitFlags(Literals(rest[1:]))
	takings, sure := gitTaking(command, names, f)
	found := false
	for _, d := range u.dirs {
		var files []string
		for _, t := range takings {
			more, ok := u.r.World.Changed(d, t.from, t.to)
			found, files = found || ok, append(files, more...)
		}
		top := u.r.GitTop(d)
		switch {
		case command == "bisect" && u.r.World.Bisected != nil && len(names) > 0:
			files = u.bisected(d, names)
		case command == "stash" && (f.has("--include-untracked", "--all") || f.short("u") || f.short("a")):
			files = append(files, u.takesUntracked(top, f.has("--all") || f.short("a"))...)
		}
		if len(files) == 0 && len(takings) == 0 {
			continue
		}
		below := &policy.Below{}
		for _, f := range files {
			below.Paths = append(below.Paths, policy.Place{Path: f})
		}
		u.Actions = append(u.Actions, policy.Write{Path: top, Named: top, Asked: top, Sure: policy.Possible, Within: len(files) == 0, Below: below})
	}
	if sure && (unknown || !found) {
		return "which files git " + command + " brings is not known before it runs"
	}
	return ""
}

// bisected are the files that git bisect may change.
func (u *Invocation) bisected(dir string, names []string) []string {
	if slices.Contains([]string{"log", "view", "visualize", "terms"}, names[0]) {
		return nil
	}
	if _, git, ok := u.r.Repo(dir); ok && names[0] == "reset" && u.r.World.Text != nil {
		if began, ok := u.r.World.Text(path.Join(git, "BISECT_START")); ok {
			names = append(names, strings.TrimSpace(began))
		}
	}
	files, _ := u.r.World.Bisected(dir, names[1:])
	return files
}

// takesUntracked are the files below a folder that git does not track, that steer other
// programs, and that it takes away. It adds the folders that go with the last of their files.
func (u *Invocation) takesUntracked(top string, ignored bool) (files []string) {
	standing := u.r.untracked(top, ignored)
	if standing == nil {
		return nil
	}
	tracked, _ := u.r.Tracked(top)
	var gone []string
	paths, _ := standing.Look()
	for _, p := range paths {
		if policy.Within(top+"/.git", p, false) || policy.Protects(p) == "" || slices.ContainsFunc(gone, func(g string) bool { return policy.Within(g, p, false) }) {
			continue
		}
		in := func(f string) bool { return policy.Within(p, f, false) }
		switch {
		case !u.r.IsFolder(p):
			files = append(files, p)
		case !slices.ContainsFunc(tracked, in):
			gone = append(gone, p)
			u.Actions = append(u.Actions, policy.Write{Path: p, Named: p, Asked: p, Remove: true, Tree: true, Opens: true, Standing: u.r.standing(p, false, nil)})
		}
	}
	return files
}
