package memory

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/paths"
)

// An owner is whose files are, and where they and what they import may be.
type owner struct {
	scope Scope
	roots []string
	// free: the person wrote the file, and what it imports itself may be anywhere.
	// What that imports in turn stays in roots.
	free bool
	// checked: each file must belong to the person.
	checked bool
}

func (r *Reader) managed() owner { return owner{scope: Managed, roots: resolved(r.o.Managed...)} }

func (r *Reader) person(more ...string) owner {
	return owner{scope: User, roots: resolved(append(more, r.o.Config, r.o.Home, r.o.Claude)...), free: true}
}

func (r *Reader) project() owner {
	return owner{scope: Project, roots: resolved(append([]string{r.o.Root, r.o.Dir}, r.o.Imports...)...)}
}

// here is the owner of what a person keeps in the same folder for this copy of it.
func (o owner) here() owner {
	if o.scope == Project {
		o.scope = Local
	}
	return o
}

// bound is the owner of what is imported behind that many imports.
func (o owner) bound(behind int) owner {
	o.free = o.free && behind == 0
	return o
}

func (o owner) may(real string) bool { return o.free || paths.WithinAny(o.roots, real) }

// strange is what is said of a file outside of the roots.
func (o owner) strange() string {
	return "not read: it is outside the folders that " + string(o.scope) + " memory may come from"
}

// where is what imports must be in, in words.
func (o owner) where() string {
	if o.scope == User {
		return "your home folder"
	}
	return "the repository"
}

// resolved are folders as they are named, and where their links lead: folders of
// settings are often links themselves.
func resolved(dirs ...string) (out []string) {
	for _, d := range dirs {
		if d == "" {
			continue
		}
		out = append(out, d)
		if real, err := filepath.EvalSymlinks(d); err == nil && real != d {
			out = append(out, real)
		}
	}
	return out
}

// above are the folders above the root that may hold memory files, the topmost
// first, without the root of the file system. What lies above a worktree inside of
// its own repository is another state of the same files, and is left out.
func above(root string) (out []string) {
	main := ""
	if repo, err := conf.In(root); err == nil && repo.Common != repo.GitDir {
		if main = filepath.Dir(repo.Common); !paths.Within(main, root) {
			main = ""
		}
	}
	for d := filepath.Dir(root); d != filepath.Dir(d); d = filepath.Dir(d) {
		if main == "" || !paths.Within(main, d) {
			out = append(out, d)
		}
	}
	slices.Reverse(out)
	return out
}

// outside reads a folder above the repository, where nothing but what belongs to
// the person counts: others may have a folder there, too.
func (r *Reader) outside(d string) (out []File) {
	if !r.instructs(d) {
		return nil
	}
	if !mine(d, r.o.Home, true) {
		return []File{{Path: d, Scope: User, Warnings: []string{"the memory files in it are not read: others can write to this folder"}}}
	}
	of := r.person(d)
	if top := conf.Root(d); top != "" { // of a repository around this one
		of = owner{scope: Project, roots: resolved(append([]string{top}, r.o.Imports...)...)}
	}
	of.checked = true
	if d == r.o.Home { // the rest of it was read before
		return r.beside(d, of, plain()...)
	}
	return r.folder(d, of)
}

// plain are the names that stand in a folder itself.
func plain() []string {
	return []string{"AGENTS.md", "CLAUDE.md", "AGENTS.local.md", "CLAUDE.local.md"}
}

// instructs reports whether a folder holds something that is read as instructions.
func (r *Reader) instructs(d string) bool {
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(d, filepath.FromSlash(name)))
		return err == nil
	}
	if d == r.o.Home {
		return slices.ContainsFunc(plain(), there)
	}
	return slices.ContainsFunc(names(), func(name string) bool { return name != copilot && there(name) }) || there(".claude/rules") || there(".adze/rules")
}
