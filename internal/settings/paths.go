// Package settings finds the folders of a run, and loads, watches and writes
// the settings that count there: which files are read, which of them are
// trusted, what became of them while adze runs, and which rules they make. It
// knows no session.
package settings

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/adze-agent/adze/internal/agenda"
	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/trust"
)

// An Environment is what surrounds a run, as far as settings depend on it.
type Environment struct {
	Dir  string // where to work: absolute
	Home string // absolute, "" when there is none
	Env  func(string) string
	// Note is told what a person should know and no event says; nil: nobody.
	Note func(string)
}

// Notef tells a person something, where somebody listens.
func (e Environment) Notef(format string, args ...any) {
	if e.Note != nil {
		e.Note(fmt.Sprintf(format, args...))
	}
}

// Real is the folder with every link followed. There may be several paths to one.
func (e Environment) Real() (string, error) {
	dir, err := place.Resolve(e.Dir)
	if err != nil {
		return "", fmt.Errorf("work in %s: %w", e.Dir, err)
	}
	return dir, nil
}

// Paths are the folders of a run: absolute, resolved.
type Paths struct {
	Dir  string // where the session works
	Root string // the repository's, or Dir
	// Around is Root where file tools may read it as Dir: not a home folder in git.
	Around string
	Home   string
	// HomeNamed is Home as the environment names it: absolute, not resolved.
	HomeNamed string
	// FoldCase: names in Dir that differ in case alone lead to the same file.
	FoldCase bool
	// Secrets are files and folders that variables name as holding secrets, as they are
	// written and resolved.
	Secrets []string
	config.Folders
}

// Load finds the folders and loads the settings.
func Load(e Environment, s Sources) (Paths, *config.Config, error) {
	p, cfg, _, err := loadAll(e, s)
	return p, cfg, err
}

func loadAll(e Environment, s Sources) (Paths, *config.Config, trust.Verdict, error) {
	p, err := findPaths(e)
	if err != nil {
		return p, nil, trust.Verdict{}, err
	}
	cfg, seen, err := loadConfig(e, s, p)
	return p, cfg, seen, err
}

func findPaths(e Environment) (Paths, error) {
	var out Paths
	dir, err := e.Real()
	if err != nil {
		return out, err
	}
	out.Dir, out.Home, out.HomeNamed = dir, e.Home, e.Home
	if h, err := place.Resolve(e.Home); err == nil && e.Home != "" {
		out.Home = h
	}
	out.FoldCase = place.FoldsCase(dir)
	out.Root = cmp.Or(conf.Root(dir), dir)
	out.Around = around(out, e)
	if e.Env != nil {
		out.Secrets = namedSecrets(out, e.Env)
	}
	if out.Folders, err = config.FindFolders(out.Home, e.Env, exists); err != nil {
		return out, &hint.Mistake{Why: err.Error(), What: "set HOME, or set ADZE_HOME to an absolute path: HOME=/home/me adze …"}
	}
	return out, nil
}

// around is the repository around the folder, "" for one that a home folder lies in: of that,
// not all is the project's.
func around(p Paths, e Environment) string {
	homes := []string{p.Home, e.Home}
	if e.Env != nil {
		if home, err := place.Resolve(e.Env("HOME")); err == nil && e.Env("HOME") != "" {
			homes = append(homes, home)
		}
	}
	for _, home := range homes {
		if home == "" || policy.Within(p.Root, home, p.FoldCase) {
			return ""
		}
	}
	return p.Root
}

// Trust is the record of trusted folders.
func (p Paths) Trust() trust.Store {
	return trust.Store{Path: filepath.Join(p.State, "trust.json"), Now: time.Now}
}

// Schedules are those of this run's folder. trusted reports whether the folder is.
func (p Paths) Schedules(trusted func() bool) *agenda.Folder {
	return &agenda.Folder{Root: p.Root, Record: filepath.Join(p.State, "schedules.json"), Trusted: trusted, Now: time.Now}
}

// TrustFolder is this run's folder as trust sees it.
func (p Paths) TrustFolder() trust.Folder {
	return trust.Folder{Root: p.Root, Dir: p.Dir, Home: p.Home}
}

// lastGood keeps copies of settings that could be read, beside the state.
func (p Paths) lastGood() *confedit.Good {
	return &confedit.Good{Dir: filepath.Join(p.State, "last-good")}
}

// File is the settings file of a scope: user, project or local. ok is false
// for any other.
func (p Paths) File(scope string) (t confedit.Target, ok bool) {
	switch scope {
	case "user":
		return confedit.Target{Path: filepath.Join(p.Folders.Config, "settings.json")}, true
	case "project":
		return confedit.Target{Path: filepath.Join(p.Root, ".adze", "settings.json"), Root: p.Root, Mode: 0o644}, true
	case "local":
		return confedit.Target{Path: filepath.Join(p.Root, ".adze", "settings.local.json"), Root: p.Root}, true
	}
	return confedit.Target{}, false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// KeepsClaude is what a person's own AGENTS.md begins with, so that ~/.claude/CLAUDE.md
// is read as before: without it, it would be read no longer where this file is.
func (p Paths) KeepsClaude() string {
	claude := filepath.Join(p.ClaudeDir(p.Home), "CLAUDE.md")
	if info, err := os.Stat(claude); p.Home == "" || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return "@" + paths.Tilde(claude, p.Home) + "\n"
}

// A Standing is a schedule of a folder.
type Standing = agenda.Standing
