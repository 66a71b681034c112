package ext

import (
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/ext/skill"
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/trust"
)

// libraryWait is how long a start waits for skills to be read. What comes later
// counts from the next step.
const libraryWait = 250 * time.Millisecond

// Begin has skills read in the background, for a session that is about to start.
func (w *World) Begin() { w.opened() }

// shelf opens the skills of the process, once.
func (w *World) opened() *skills.Shelf {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shelf == nil && !w.closed {
		w.shelf = skills.Open(skills.ShelfConfig{
			Places: w.places, Agents: w.conf.Agents, Taken: taken(), Watch: w.conf.Lasting,
			Changed: func(lib skill.Library) {
				lib = w.chosen(lib)
				for _, x := range w.attached() {
					x.desk.Use(lib)
					x.changed()
				}
			},
		})
	}
	return w.shelf
}

// library is what was read, and what of it cannot be used.
func (w *World) library() (skill.Library, []string) {
	s := w.opened()
	if s == nil {
		return skill.Library{}, nil
	}
	lib, problems := s.Library(libraryWait)
	lib = w.chosen(lib)
	var bad []string
	for _, p := range problems {
		bad = append(bad, p.String())
	}
	return lib, bad
}

// Library reads what skills, commands, agents and output styles there are, without a
// session, and what of them cannot be used.
func Library(c WorldConfig) (skill.Library, []skill.Problem) {
	w := Open(c)
	return skills.Read(w.places(), c.Agents, taken())
}

// chosen is the library with the skills that the start named.
func (w *World) chosen(lib skill.Library) skill.Library {
	if w.conf.Skills == nil {
		return lib
	}
	others := map[string]string{}
	for _, s := range lib.Skills() {
		if !slices.Contains(w.conf.Skills, s.Name) {
			others[s.Name] = "the program that drives adze"
		}
	}
	return lib.Without(others)
}

// taken are the names of adze's own commands, which no skill takes.
func taken() map[string]string {
	out := map[string]string{}
	for _, c := range contrib.Commands().Commands {
		out[c.Name] = string(contrib.BuiltIn)
	}
	return out
}

// places are where skills, commands, agents and output styles are looked for now.
func (w *World) places() []skill.Place {
	p := w.conf.Live.Paths
	own, cc := config.ManagedDirs(runtime.GOOS, w.conf.Env)
	g := skill.Ground{
		Managed: []string{own, cc}, Config: p.Folders.Config, Home: p.Home, Root: p.Root, Dir: p.Dir,
		Trusted: within(p.Root, w.conf.Live.Brings()),
	}
	if w.conf.Bare {
		g.Root, g.Dir, g.Trusted = "", "", nil
	}
	if s := w.conf.Live.Only(); w.conf.Bare || s != nil && !slices.Contains(s, string(config.User)) {
		g.Home, g.Config = "", "" // what is the person's own does not count
	}
	var roots []string
	if w.conf.Roots != nil {
		roots = w.conf.Roots()
	}
	for _, dir := range roots {
		if dir == p.Dir || dir == p.Root || w.conf.Bare {
			continue
		}
		added := skill.Added{Dir: dir}
		if v, err := p.Trust().Check(trust.Folder{Root: dir, Dir: dir, Home: p.Home}); err == nil && v.State == trust.Trusted {
			added.Trusted = within(dir, v.Files)
		}
		g.Added = append(g.Added, added)
	}
	return append(g.Places(skill.Skills, skill.Commands, skill.Agents, skill.Styles), w.plugins().places()...)
}

// within reports of a file below root whether exactly its content is trusted; nil
// is that nothing there is.
func within(root string, files []trust.File) func(path string, text []byte) bool {
	if len(files) == 0 {
		return nil
	}
	return func(path string, text []byte) bool {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return false
		}
		rel = filepath.ToSlash(rel)
		return slices.ContainsFunc(files, func(f trust.File) bool { return f.Path == rel && string(f.Text()) == string(text) })
	}
}
