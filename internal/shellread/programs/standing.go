package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// standing is what stands below a folder, as far as keep does, nil for all; nil when nobody
// can look. A command that follows links reaches more where there are some.
func (r *Recorder) standing(dir string, follows bool, keep func(world.Entry) bool) *policy.Standing {
	ask := r.World.Tree
	if ask == nil {
		return nil
	}
	key := dir
	if follows {
		key += "\x00"
	}
	if have := r.stand[key]; have != nil && keep == nil {
		return have
	}
	out := policy.NewStanding(func() (paths []string, all bool) {
		l, ok := ask(dir, world.MaxListed)
		all = ok && !l.Closed
		for _, e := range l.Entries {
			if all = all && !(follows && e.Link); keep == nil || keep(e) {
				paths = append(paths, strings.TrimSuffix(dir, "/")+"/"+e.Name)
			}
		}
		return paths, all
	})
	if keep == nil {
		if r.stand == nil {
			r.stand = map[string]*policy.Standing{}
		}
		r.stand[key] = out
	}
	return out
}

// tracked is what git tracks below a folder. With more, a command may touch other files of
// the same folder.
func (r *Recorder) tracked(dir string, more bool) *policy.Standing {
	ask := r.World.Tracked
	if ask == nil {
		return r.standing(dir, false, nil)
	}
	return policy.NewStanding(func() (paths []string, all bool) {
		files, ok := ask(dir, world.MaxListed)
		for _, f := range files {
			if policy.Within(dir, f, false) {
				paths = append(paths, f)
			}
		}
		return paths, ok && !more
	})
}

// untracked is what git does not track below a folder; without ignored, not what it
// ignores either.
func (r *Recorder) untracked(dir string, ignored bool) *policy.Standing {
	w := r.World
	if w.Tree == nil {
		return nil
	}
	return policy.NewStanding(func() (paths []string, all bool) {
		var l world.Listing
		if !ignored && w.Searched != nil {
			l, all = w.Searched(dir, world.MaxListed)
		}
		if !all {
			l, all = w.Tree(dir, world.MaxListed)
		}
		kept := map[string]bool{}
		if w.Tracked != nil {
			files, _ := w.Tracked(dir, world.MaxListed)
			for _, f := range files {
				kept[f] = true
			}
		}
		for _, e := range l.Entries {
			if at := strings.TrimSuffix(dir, "/") + "/" + e.Name; !kept[at] {
				paths = append(paths, at)
			}
		}
		return paths, all && !l.Closed
	})
}

// gitStanding is what a subcommand of git may change below a folder that it is told of.
func (u *Invocation) gitStanding(rest []Word, dir string) *policy.Standing {
	f := Literals(rest[1:])
	short := func(letter byte) bool {
		return slices.ContainsFunc(f, func(w string) bool {
			return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.IndexByte(w, letter) > 0
		})
	}
	switch rest[0].Text {
	case "rm":
		return u.r.tracked(dir, false)
	case "clean":
		return u.r.untracked(dir, short('x') || short('X'))
	case "restore":
		return u.r.tracked(dir, short('s') || slices.ContainsFunc(f, func(w string) bool { return strings.HasPrefix(w, "--s") }))
	case "checkout":
		return u.r.tracked(dir, u.ofAnotherCommit(rest[1:]))
	}
	return nil
}

// ofAnotherCommit reports whether git checkout may take files from a commit.
func (u *Invocation) ofAnotherCommit(ws []Word) bool {
	divided := slices.ContainsFunc(ws, func(w Word) bool { return w.Is("--") })
	for _, w := range ws {
		switch {
		case w.Is("--"):
			return false
		case w.Kind == Exact && strings.HasPrefix(w.Text, "-"):
		case divided || w.Kind != Exact || !u.r.there(w, u.dirs):
			return true
		}
	}
	return false
}

// cleansNamed reports a git clean that names each folder that it cleans.
func cleansNamed(ws []Word) bool {
	named := false
	for _, w := range ws {
		switch {
		case w.Kind != Exact || strings.ContainsAny(w.Text, `*?[\:`) || strings.HasPrefix(w.Text, "--e"):
			return false
		case w.Text != "" && w.Text[0] == '-':
			if !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, "e") {
				return false // what follows is no folder
			}
		default:
			named = true
		}
	}
	return named
}
