package skill

import (
	"cmp"
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
	// Homes are folders of the home folder that are elsewhere, by their name there.
	Homes map[string]string
	Root  string // of the repository, or Dir
	Dir   string
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

// A spot is a folder in which a kind of thing stands.
type spot struct {
	// dir is below the folder of a project; "": a project has none.
	dir string
	// home is below the home folder; "" is the same as dir.
	home string
	of   Dialect
	// deep: folders in it are looked through as well, as far down as commands are.
	deep bool
	// space stands before the names, as people type them there.
	space string
	// flat: only files directly in it count.
	flat bool
}

// spots are the folders of a kind, those of adze first and the nearest to its own
// format next. Where other agents keep theirs is from their documentation, looked up
// in November 2026: learn.chatgpt.com (Codex, also for .codex/skills, which it has
// read before .agents/skills), geminicli.com, opencode.ai/docs (both spellings of
// its folders) and the README of charmbracelet/crush.
func spots(k Kind) []spot {
	switch k {
	case Skills:
		return []spot{
			{dir: ".adze/skills"}, {dir: ".claude/skills"}, {dir: ".agents/skills"},
			{dir: ".codex/skills", deep: true},
			{dir: ".opencode/skills", home: ".config/opencode/skills"}, {dir: ".opencode/skill", home: ".config/opencode/skill"},
			{dir: ".crush/skills", home: ".config/crush/skills"}, {home: ".config/agents/skills"},
		}
	case Commands:
		return []spot{
			{dir: ".adze/commands"}, {dir: ".claude/commands"}, {dir: ".gemini/commands"},
			{home: ".codex/prompts", of: Prompts, space: "prompts:", flat: true},
			{dir: ".opencode/commands", home: ".config/opencode/commands", of: OpenCode}, {dir: ".opencode/command", home: ".config/opencode/command", of: OpenCode},
			{dir: ".crush/commands", home: ".config/crush/commands", of: Prompts}, {home: ".crush/commands", of: Prompts},
		}
	case Agents:
		return []spot{
			{dir: ".adze/agents"}, {dir: ".claude/agents"},
			{dir: ".agents/agents", home: ".gemini/config/agents", of: Antigravity}, {dir: ".codex/agents", of: Codex}, {dir: ".github/agents", home: ".copilot/agents", of: Copilot},
			{dir: ".gemini/agents", of: Gemini, flat: true}, {dir: ".cursor/agents", of: Cursor}, {dir: ".factory/droids", of: Droid, flat: true},
		}
	case Styles:
		return []spot{{dir: ".adze/output-styles"}, {dir: ".claude/output-styles"}}
	case Workflows:
		return []spot{{dir: ".adze/workflows", flat: true}, {dir: ".claude/workflows", flat: true}}
	}
	return nil
}

// maxSpots is how many folders a kind has at most.
const maxSpots = 8

// A Stand is a folder below a project in which things of a kind stand, with slashes.
type Stand struct {
	Dir     string
	Endings []string // of the names of the files that count, in lower case
	Deep    bool     // its folders are looked through as well
}

// InProject are those of a kind.
func InProject(k Kind) (out []Stand) {
	for _, s := range spots(k) {
		if s.dir != "" {
			out = append(out, Stand{s.dir, endings(k, s.of), s.deep})
		}
	}
	return out
}

// Homes are the folders that variables of the environment put in the place of some
// below the home folder, for Ground.
func Homes(env func(string) string) map[string]string {
	out := map[string]string{}
	for _, v := range []struct{ name, of, below string }{{"CODEX_HOME", ".codex", ""}, {"GEMINI_CLI_HOME", ".gemini", ".gemini"}, {"XDG_CONFIG_HOME", ".config", ""}} {
		if dir := env(v.name); filepath.IsAbs(dir) {
			out[v.of] = filepath.Join(dir, v.below)
		}
	}
	return out
}

// Places are the places of these kinds, for Load: those of managed settings, of the
// project from the working folder up to its root, of added folders, and the
// person's own. Skills of a folder come before its commands.
func (g Ground) Places(kinds ...Kind) (out []Place) {
	managed := g.Managed
	for _, dir := range managed {
		for _, k := range kinds {
			name := filepath.Base(spots(k)[0].dir)
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
	roots := []string{g.Home, g.Config, g.Claude}
	for _, dir := range g.Homes {
		roots = append(roots, dir)
	}
	roots = slices.DeleteFunc(roots, func(s string) bool { return s == "" })
	slices.Sort(roots)
	for i := range maxSpots {
		for _, k := range kinds {
			if list := spots(k); i < len(list) {
				if p := list[i].place(g.personal(list[i]), "user", k); p.Dir != "" {
					p.Roots = roots
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// personal is the person's own folder of a spot, "" when there is none.
func (g Ground) personal(s spot) string {
	of, rest, _ := strings.Cut(cmp.Or(s.home, s.dir), "/")
	rest = filepath.FromSlash(rest)
	switch dir := g.Homes[of]; {
	case of == ".adze":
		return filepath.Join(g.Config, rest)
	case of == ".claude":
		if g.Claude == "" {
			return ""
		}
		return filepath.Join(g.Claude, rest)
	case g.Home == "":
		return ""
	case dir != "":
		return filepath.Join(dir, rest)
	}
	return filepath.Join(g.Home, of, rest)
}

// place is a spot at a folder.
func (s spot) place(dir, scope string, k Kind) Place {
	return Place{Dir: dir, Kind: k, Scope: scope, Of: s.of, Deep: s.deep, space: s.space, flat: s.flat}
}

func project(dir, scope, root string, trusted func(string, []byte) bool, kinds []Kind) (out []Place) {
	for i := range maxSpots {
		for _, k := range kinds {
			if list := spots(k); i < len(list) && list[i].dir != "" {
				p := list[i].place(filepath.Join(dir, filepath.FromSlash(list[i].dir)), scope, k)
				p.Roots, p.Trusted = []string{root}, trusted
				out = append(out, p)
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
