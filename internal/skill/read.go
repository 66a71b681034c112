package skill

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A found is a file of a place that may define something.
type found struct {
	path string // on disk, or in the place's Text
	name string // what it is called by where it stands: "lint", "front:lint"
	dir  string // the folder of its own files
	// straight: no link was on the way from the place to it when it was found.
	straight bool
}

// A walk looks through one place.
type walk struct {
	p     Place
	out   []found
	bad   []Problem
	count int
	full  bool
}

// A look is what one reading found of folders: whether there is something at a path.
// Places are many, and most of them are in the same few folders, which are not there.
type look map[string]bool

// there reports whether there may be something at a path. A folder that is not there
// answers for all below it.
func (l look) there(at string) bool {
	is, known := l[at]
	if known {
		return is
	}
	above := filepath.Dir(at)
	if is = above == at || l.there(above); is {
		_, err := os.Stat(at)
		is = !absent(err)
	}
	l[at] = is
	return is
}

// files lists the files of a place, in the order of their names.
func (p Place) files() ([]found, []Problem) {
	w := walk{p: p}
	switch {
	case p.Text != nil:
		w.text()
	case p.Kind == Skills:
		w.skills()
	default:
		if info, err := os.Stat(p.Dir); err == nil && info.Mode().IsRegular() {
			w.one(p.Dir)
		} else {
			w.tree(p.Dir, p.space, maxDepth)
			w.own()
		}
	}
	return w.out, w.bad
}

func (w *walk) text() {
	for name := range w.p.Text {
		dir, base := path.Split(name)
		switch w.p.Kind {
		case Skills:
			if base == skillFile {
				w.out = append(w.out, found{path: name, name: path.Base(dir)})
			}
		default:
			w.out = append(w.out, found{path: name, name: strings.TrimSuffix(base, path.Ext(base))})
		}
	}
	order.By(w.out, func(a, b found) int { return strings.Compare(a.path, b.path) })
}

const skillFile = "SKILL.md"

func (w *walk) skills() {
	if _, err := os.Lstat(filepath.Join(w.p.Dir, skillFile)); err == nil {
		w.out = append(w.out, found{path: filepath.Join(w.p.Dir, skillFile), name: filepath.Base(w.p.Dir), dir: w.p.Dir})
		return
	}
	real, err := filepath.EvalSymlinks(w.p.Dir)
	w.below(w.p.Dir, err == nil && real == w.p.Dir, maxDepth)
}

// below takes the skills in a folder. straight: no link leads to it.
func (w *walk) below(parent string, straight bool, depth int) {
	for _, e := range w.names(parent) {
		dir := filepath.Join(parent, e.Name())
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && e.Type() != fs.ModeSymlink || !w.room() {
			continue
		}
		file := filepath.Join(dir, skillFile)
		if info, err := os.Lstat(file); err == nil {
			w.out = append(w.out, found{file, e.Name(), dir, straight && e.IsDir() && info.Mode().IsRegular()})
		} else if _, err := os.Lstat(filepath.Join(dir, "skill.md")); err == nil {
			w.bad = append(w.bad, Problem{File: filepath.Join(dir, "skill.md"), Text: "it is not read: the file of a skill is named " + skillFile})
		} else if w.p.Deep && e.IsDir() && depth > 0 {
			w.below(dir, straight, depth-1)
		}
	}
}

// room counts an entry, and reports whether the place may have it.
func (w *walk) room() bool {
	if w.count++; w.count > MaxEntries {
		if !w.full {
			w.full = true
			w.bad = append(w.bad, Problem{File: w.p.Dir, Text: "it holds more than " + clip.Thousands(MaxEntries) + " " + string(w.p.Kind) + "s: the rest is not read"})
		}
		return false
	}
	return true
}

// tree takes every file with an ending, also deeper. A folder that is a link is
// not entered.
func (w *walk) tree(dir, space string, depth int) {
	for _, e := range w.names(dir) {
		name, at := e.Name(), filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(name, "."), e.IsDir() && w.p.flat:
		case e.IsDir() && depth > 0:
			w.tree(at, space+name+":", depth-1)
		case e.IsDir():
			w.bad = append(w.bad, Problem{File: at, Text: "it is too deep: folders of " + string(w.p.Kind) + "s go " + clip.Thousands(maxDepth) + " deep"})
		case w.ending(name) && w.room():
			w.out = append(w.out, found{path: at, name: space + strings.TrimSuffix(name, filepath.Ext(name)), dir: dir})
		}
	}
}

// own takes the name of a plugin off commands in a folder of that name: it stands
// before all of its commands, and people call them by it once.
func (w *walk) own() {
	if w.p.Plugin == "" || w.p.Kind != Commands {
		return
	}
	taken := map[string]bool{}
	for _, f := range w.out {
		taken[f.name] = true
	}
	for i, f := range w.out {
		if name, ok := strings.CutPrefix(f.name, w.p.Plugin+":"); ok && !taken[name] {
			w.out[i].name = name
		}
	}
}

func (w *walk) one(file string) {
	if w.ending(filepath.Base(file)) {
		w.out = append(w.out, named(file))
	}
}

// named is a file by itself.
func named(file string) found {
	name := filepath.Base(file)
	return found{path: file, name: strings.TrimSuffix(name, filepath.Ext(name)), dir: filepath.Dir(file)}
}

// endings are those that files of a kind have in their names, in lower case.
func endings(k Kind, of Dialect) []string {
	switch k {
	case Agents:
		return []string{agentEnding(of)}
	case Commands:
		return []string{".md", ".toml"}
	case Workflows:
		return []string{".js"}
	case Skills, Styles:
	}
	return []string{".md"}
}

// ending reports whether a file's name is one of the kind.
func (w *walk) ending(name string) bool {
	return slices.ContainsFunc(endings(w.p.Kind, w.p.Of), func(end string) bool { return strings.HasSuffix(strings.ToLower(name), end) })
}

// names lists a folder; none when there is none.
func (w *walk) names(dir string) []fs.DirEntry {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		if err != nil && !absent(err) {
			w.bad = append(w.bad, Problem{File: dir, Text: "it cannot be read: " + paths.Cause(err).Error()})
		}
		return nil
	}
	if why := w.p.allowed(dir); why != "" {
		w.bad = append(w.bad, Problem{File: dir, Text: "it is not read: " + why})
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		w.bad = append(w.bad, Problem{File: dir, Text: "it cannot be read: " + paths.Cause(err).Error()})
		return nil
	}
	defer d.Close()
	list, err := d.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		w.bad = append(w.bad, Problem{File: dir, Text: "it cannot be read: " + paths.Cause(err).Error()})
	}
	order.By(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// allowed says why a path, with its links followed, may not be read; "" is that it
// may.
func (p Place) allowed(at string) string {
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return "a link to nothing"
	}
	if real == at && paths.Within(p.Dir, at) {
		return ""
	}
	roots := p.Roots
	if len(roots) == 0 || !p.leads() {
		if dir, err := filepath.EvalSymlinks(p.Dir); err == nil {
			roots = append(slices.Clip(roots), dir)
		}
	}
	if !paths.WithinAny(roots, real) {
		return "a link leads out of the folders that it may come from"
	}
	if policy.HoldsSecrets(real) {
		return "it may hold secrets"
	}
	return ""
}

// leads reports whether the place's own folder is bound to its roots: that of a
// repository, whose links somebody else made.
func (p Place) leads() bool { return p.Trusted != nil }

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || err != nil && strings.Contains(err.Error(), "not a directory")
}

// read reads a file of the place. straight: it is known that no link leads away
// from there. Between that look and the reading somebody could put one; of a
// place that others write, content is compared all the same.
func (p Place) read(at string, straight bool) ([]byte, *Problem) {
	if p.Text != nil {
		return []byte(p.Text[at]), nil
	}
	if !straight {
		if why := p.allowed(at); why != "" {
			return nil, &Problem{File: at, Text: "it is not read: " + why}
		}
	}
	b, err := regular.Read(at, maxFile)
	switch {
	case errors.Is(err, regular.ErrLarge):
		return nil, &Problem{File: at, Text: "it is not read: it is over " + clip.Size(maxFile)}
	case errors.Is(err, regular.ErrKind):
		return nil, &Problem{File: at, Text: "it cannot be read: not a regular file"}
	case err != nil:
		return nil, &Problem{File: at, Text: "it cannot be read: " + paths.Cause(err).Error()}
	case clip.Binary(b):
		return nil, &Problem{File: at, Text: "it is not read: it is not text"}
	case p.Trusted != nil && !p.Trusted(at, b):
		return nil, &Problem{File: at, Text: "it is not read: nobody trusted this content (adze trust)", Untrusted: true}
	}
	return b, nil
}
