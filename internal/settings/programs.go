package settings

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/runs"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Programs are the files of the session's folders by which something runs
// unconfined: the settings themselves, programs of hooks, of the status line and of
// the key helper, there or not, and where links of the person's lead. What a program finds by itself (the rules of make, the scripts of
// package.json, imports) is not seen.
func Programs(cfg *config.Config, p Paths, dirs []string) (out []policy.Steer) {
	found := p.Runs(dirs)
	line := func(command, what string) { found.Line(command, what+" of the settings") }
	for _, g := range cfg.HookGroups() {
		hooks, _ := hook.Parse(g.Event, g.JSON, hook.Place{})
		for _, h := range hooks {
			switch {
			case h.Type != hook.Command:
			case len(h.Args) > 0:
				argv := append([]string{h.Command}, h.Args...)
				for i, w := range argv {
					argv[i] = strings.ReplaceAll(w, "${CLAUDE_PROJECT_DIR}", p.Root)
				}
				found.Command(argv, "a hook of the settings")
			default:
				line(h.Command, "a hook")
			}
		}
	}
	if cfg.StatusLine != nil {
		line(cfg.StatusLine.Command, "the status line")
	}
	line(cfg.APIKeyHelper, "the key helper")
	return append(found.Found, leading(cfg, p, dirs)...)
}

// Runs finds what commands run of some folders, which are resolved.
func (p Paths) Runs(dirs []string) runs.Finder {
	return runs.Finder{Dir: p.Dir, Root: p.Root, Home: p.Home, Dirs: dirs}
}

// ProgramsOf are the files of the folder that a server runs: runs.Finder.Programs.
func (p Paths) ProgramsOf(s servers.Server) []servers.Program {
	found := p.Runs([]string{p.Root})
	return found.Programs(s)
}

// leading are the files of the session's folders that count as something of the
// person's: settings given by their path, and where links in the home folder lead
// that a login or adze follows, as in a repository of dotfiles.
func leading(cfg *config.Config, p Paths, dirs []string) (out []policy.Steer) {
	inside := func(at, why string) {
		if to, err := os.Readlink(at); err == nil { // also one that leads to nothing yet
			at = paths.Absolute(filepath.Dir(at), p.Home, to)
		}
		real, err := place.Resolve(at)
		if err == nil && paths.WithinAny(dirs, real) && !slices.Contains(dirs, real) {
			out = append(out, policy.Steer{Path: real, Why: why})
		}
	}
	const own = "it is one of adze's settings files"
	if cfg.Given != "" {
		inside(cfg.Given, own)
	}
	for _, f := range cfg.Files {
		if real, err := place.Resolve(f.Path); err == nil && (real != f.Path || f.Scope == config.User) { // the others are known by their names
			inside(f.Path, own)
		}
	}
	if p.Home == "" {
		return out
	}
	home := filepath.Clean(p.Home)
	there, seen := namesIn(home), map[string]kind{home: real}
	for _, at := range policy.HomePlaces(home) {
		first, _, _ := strings.Cut(strings.TrimPrefix(at[len(home):], string(filepath.Separator)), string(filepath.Separator))
		if there != nil && !there[strings.ToLower(first)] {
			continue
		}
		if look(seen, at) == link {
			inside(at, "a link leads there from "+at)
		}
	}
	return out
}

// maxNames is how many names of a folder are looked at to save looks at single ones.
const maxNames = 2000

// namesIn are the names in a folder, in lower case; nil when they cannot be read, or
// are too many.
func namesIn(dir string) map[string]bool {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.Readdirnames(maxNames)
	if err != nil && !errors.Is(err, io.EOF) || len(names) == maxNames {
		return nil
	}
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[strings.ToLower(name)] = true
	}
	return out
}

// A kind is what is at a path.
type kind int

const (
	absent kind = iota
	real        // and no part of the path is a link
	link        // or a part of the path is one
)

// look says what is at a path below one that is seen. Each part is looked at once,
// and nothing is below what is not there: most homes have few of these places and
// few links, and this is much cheaper than resolving every path.
func look(seen map[string]kind, at string) kind {
	if k, ok := seen[at]; ok {
		return k
	}
	k := look(seen, filepath.Dir(at))
	if k == real {
		switch info, err := os.Lstat(at); {
		case err != nil:
			k = absent
		case info.Mode()&os.ModeSymlink != 0:
			k = link
		}
	}
	seen[at] = k
	return k
}
