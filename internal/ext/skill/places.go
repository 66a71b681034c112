package skill

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/paths"
)

// A Ground is where a session is, as far as places depend on it. Paths are
// absolute and resolved.
type Ground struct {
	Managed []string // folders of this machine's administrator
	Config  string   // ~/.adze, wherever it is
	Home    string   // "" when there is none
	Claude  string   // ~/.claude where it is elsewhere; "": it is in Home
	Root    string   // of the repository, or Dir
	Dir     string
	// Trusted is Place.Trusted for what is in the repository. nil: nobody trusts it,
	// and nothing of it is read.
	Trusted func(path string, text []byte) bool
	// Added are further folders that a person works in.
	Added []Added
}

// An Added is one of them; Trusted as in Ground.
type Added struct {
	Dir     string
	Trusted func(path string, text []byte) bool
}

// inside are the folders of a project, or of the home folder, that hold a kind of
// thing, the nearest first.
func inside(k Kind) []string {
	switch k {
	case Skills:
		return []string{".adze/skills", ".claude/skills", ".agents/skills"}
	case Commands:
		return []string{".adze/commands", ".claude/commands", ".gemini/commands"}
	case Agents:
		return []string{".adze/agents", ".claude/agents"}
	case Styles:
		return []string{".adze/output-styles", ".claude/output-styles"}
	}
	return nil
}

// Places are the places of these kinds, for Load: those of managed settings, of the
// project from the working folder up to its root, of added folders, and the
// person's own. Skills of a folder come before its commands.
func (g Ground) Places(kinds ...Kind) (out []Place) {
	managed := g.Managed
	for _, dir := range managed {
		for _, k := range kinds {
			name := filepath.Base(inside(k)[0])
			for _, sub := range []string{name, filepath.Join(".claude", name)} {
				out = append(out, Place{Dir: filepath.Join(dir, sub), Kind: k, Scope: "managed", Roots: []string{dir}})
			}
		}
	}
	for dir := range upward(g.Dir, g.Root) {
		if g.Trusted == nil || dir == g.Home {
			continue // what is in the home folder is the person's own, below
		}
		out = append(out, project(dir, "project", g.Root, g.Trusted, kinds)...)
	}
	for _, a := range g.Added {
		if a.Trusted != nil && a.Dir != g.Home && !paths.Within(g.Root, a.Dir) {
			out = append(out, project(a.Dir, "added folder", a.Dir, a.Trusted, kinds)...)
		}
	}
	if g.Claude == "" && g.Home != "" {
		g.Claude = filepath.Join(g.Home, ".claude")
	}
	if g.Home == "" && g.Config == "" && g.Claude == "" {
		return out
	}
	for i := range 3 {
		for _, k := range kinds {
			list := inside(k)
			if i >= len(list) {
				continue
			}
			at := filepath.Join(g.Home, filepath.FromSlash(list[i]))
			of, rest, _ := strings.Cut(list[i], "/")
			switch {
			case of == ".adze":
				at = filepath.Join(g.Config, filepath.FromSlash(rest))
			case of == ".claude" && g.Claude != "":
				at = filepath.Join(g.Claude, filepath.FromSlash(rest))
			case of == ".claude" || g.Home == "":
				continue
			}
			out = append(out, Place{Dir: at, Kind: k, Scope: "user", Roots: slices.DeleteFunc([]string{g.Home, g.Config, g.Claude}, func(s string) bool { return s == "" })})
		}
	}
	return out
}

func project(dir, scope, root string, trusted func(string, []byte) bool, kinds []Kind) (out []Place) {
	for i := range 3 {
		for _, k := range kinds {
			if list := inside(k); i < len(list) {
				out = append(out, Place{Dir: filepath.Join(dir, filepath.FromSlash(list[i])), Kind: k, Scope: scope, Roots: []string{root}, Trusted: trusted})
			}
		}
	}
	return out
}

// upward are the folders from dir up to root, both among them.
func upward(dir, root string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !paths.Within(root, dir) {
			root = dir
		}
		for {
			if !yield(dir) || dir == root || dir == filepath.Dir(dir) {
				return
			}
			dir = filepath.Dir(dir)
		}
	}
}

// Folders are the folders of places on disk, to be watched, and those of what is
// in them: a skill's own.
func Folders(places []Place) (out []string) {
	for _, p := range places {
		if p.Text == nil {
			out = append(out, p.Dir)
		}
	}
	return out
}
