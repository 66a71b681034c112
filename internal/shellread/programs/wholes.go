package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// changesFolders reports a program that changes files of whole folders, takesFolders also one
// that copies or packs them: it works on all of the folders it is given, or of the one it
// runs in when it is given none.
func (p *program) changesFolders() bool {
	return slices.ContainsFunc(p.forms, func(f form) bool { return f.edits != "" })
}

func (p *program) takesFolders() bool {
	return p.changesFolders() || slices.ContainsFunc(p.forms, func(f form) bool { return f.packs })
}

// gitPacking are the subcommands of git that copy, pack or serve a repository.
var gitPacking = []string{"clone", "bundle", "fast-export", "worktree", "daemon", "upload-pack", "upload-archive", "instaweb", "http-backend", "shell"}

// Wholes adds what a command copies or changes of whole folders, also when a runner
// starts it (npx prettier --write .): for rules that forbid.
func (u *Invocation) Wholes(ws []Word) {
	runs := policy.Runner(u.name) || Launches(u.name) || u.is(starter)
	for i, w := range ws[:min(len(ws), 20)] {
		if i > 0 && !runs && !slices.ContainsFunc(ws[1:i], func(w Word) bool { return w.Is("run") || w.Is("exec") || w.Is("x") || w.Is("dlx") || w.Is("tool") }) {
			continue
		}
		if w.Kind != Exact {
			continue
		}
		name, _, _ := strings.Cut(Base(w.Text), "@") // npx prettier@3
		if i > 0 && (u.r.Table.is(name, module) && !ws[i-1].Is("-m") || u.is(manager) && ws[i-1].Is("run")) {
			continue // the name of a script
		}
		p := u.r.Table.of(name)
		for k := range p.forms {
			f := &p.forms[k]
			if _, ok := p.match(f, ws[i+1:]); !ok || f.edits == "" && (!f.packs || i > 0 && u.is(manager)) {
				continue
			}
			if name == "git" { // the folders are the repository's, not the operands
				u.gitPacks(ws[i+1:])
			} else {
				u.whole(f, ws[i+1:])
			}
		}
	}
}

// whole adds the files of the folders among the words, or of the current one.
func (u *Invocation) whole(f *form, ws []Word) {
	named := false
	for _, w := range ws {
		if w.Kind != Exact && w.Kind != Pattern || w.Kind == Exact && strings.HasPrefix(w.Text, "-") {
			continue
		}
		if w.Kind == Exact {
			w.Text = strings.TrimSuffix(strings.TrimSuffix(w.Text, "..."), "/**") // go fmt ./...
			if w.Text == "" {
				w.Text = "."
			}
		}
		if !u.r.there(w, u.dirs) {
			continue
		}
		named = true
		u.wholeFolder(f, w)
	}
	if !named {
		u.wholeFolder(f, Lit("."))
	}
}

// gitPacks adds what git copies or packs of a repository here: the files it tracks.
func (u *Invocation) gitPacks(ws []Word) {
	verb := slices.IndexFunc(ws, func(w Word) bool {
		return slices.Contains(gitPacking, w.Text)
	})
	if verb < 0 {
		return
	}
	rest := ws[verb+1:]
	has := func(word string) bool { return slices.ContainsFunc(rest, func(w Word) bool { return w.Is(word) }) }
	if ws[verb].Is("bundle") && !has("create") || ws[verb].Is("worktree") && !has("add") {
		return
	}
	dirs := u.dirs
	if ws[verb].Is("clone") {
		dirs = nil
		for _, w := range rest {
			if w.Kind == Exact && !strings.HasPrefix(w.Text, "-") {
				w.Text = strings.TrimPrefix(strings.TrimPrefix(w.Text, "file://"), "localhost")
				for _, t := range u.r.Resolve(w, u.dirs) {
					if u.r.IsFolder(t.Real) {
						dirs = append(dirs, t.Real)
					}
				}
			}
		}
	}
	from := len(u.Actions)
	for _, d := range dirs {
		u.gitTracked("clone", strings.TrimSuffix(d, "/.git"), nil)
	}
	for i, a := range u.Actions[from:] {
		if a, ok := a.(policy.Read); ok {
			a.Sure = policy.Possible
			u.Actions[from+i] = a
		}
	}
}

func (u *Invocation) wholeFolder(f *form, w Word) {
	for _, t := range u.r.Resolve(w, u.dirs) {
		if !u.r.IsFolder(t.Real) {
			if f.edits != "" {
				u.Actions = append(u.Actions, policy.Write{Path: t.Real, Named: t.Named, Asked: t.Asked, Sure: policy.Possible})
			}
			continue
		}
		below := u.r.below(t.Real, t.Named, pick{names: f.names()})
		switch {
		case below == nil:
		case f.edits != "":
			u.Actions = append(u.Actions, policy.Write{Path: t.Real, Named: t.Named, Asked: t.Asked, Within: true, Sure: policy.Guessed, Below: below})
		default:
			u.Actions = append(u.Actions, policy.Read{Path: t.Real, Named: t.Named, Asked: t.Asked, Tree: true, Sure: policy.Possible, Below: below})
		}
	}
}

// names are the patterns of the files that a form changes; none means all.
func (f *form) names() []string {
	if f.edits == "*" {
		return nil
	}
	return strings.Fields(f.edits)
}
