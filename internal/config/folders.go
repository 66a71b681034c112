package config

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Folders are where things of one person live.
type Folders struct {
	Config string // settings.json, AGENTS.md, agents, skills, keybindings
	State  string // projects, logs, trust, credentials fallback
	Cache  string // what may be lost
	// Claude is the person's folder of Claude Code where CLAUDE_CONFIG_DIR names it; "" leaves
	// it where it usually is: see ClaudeDir.
	Claude string
	// Further is where XDG_CONFIG_HOME leaves two folders of settings the other one, "" for
	// none. Of what is in it only settings.json counts, below that of Config.
	Further string
}

// What a person has in the folders of settings and of state; the first ones decide
// which of two folders it is.
var (
	ofConfig = []string{"settings.json", "AGENTS.md", "credentials.json", "keybindings.json", "skills", "agents", "commands", "rules", "output-styles", "themes", "agent-memory"}
	ofState  = []string{"trust.json", "projects"}
)

// FindFolders works out the folders. ADZE_HOME, when set, is all of them
// (with cache/ below it). Else an absolute XDG_CONFIG_HOME, XDG_STATE_HOME or
// XDG_CACHE_HOME moves its part to <variable>/adze; a folder that has nothing of a
// person's in it does not hide a ~/.adze that has, so setting a variable later never
// looks like a first start. Else everything is ~/.adze. Nothing is ever relative
// to where the process stands: what is there may be somebody else's.
func FindFolders(home string, env func(string) string, exists func(string) bool) (Folders, error) {
	claude := ""
	if c := env("CLAUDE_CONFIG_DIR"); filepath.IsAbs(c) {
		claude = filepath.Clean(c)
	}
	if h := env("ADZE_HOME"); h != "" {
		if !filepath.IsAbs(h) {
			return Folders{}, fmt.Errorf("ADZE_HOME is %q, which is not an absolute path", h)
		}
		h = filepath.Clean(h)
		return Folders{Config: h, State: h, Cache: filepath.Join(h, "cache"), Claude: claude}, nil
	}
	if !filepath.IsAbs(home) {
		return Folders{}, errNoHome
	}
	base := filepath.Join(home, ".adze")
	pick := func(name, own string, marks ...string) (chosen, other string) {
		x := env(name)
		if !filepath.IsAbs(x) { // the XDG specification: relative ones are invalid
			return own, ""
		}
		x = filepath.Join(x, "adze")
		if x == own {
			return own, ""
		}
		for _, mark := range append(marks, "") {
			switch {
			case exists(filepath.Join(x, mark)):
				return x, own
			case exists(filepath.Join(own, mark)):
				return own, x
			}
		}
		return x, own
	}
	f := Folders{Claude: claude}
	f.Config, f.Further = pick("XDG_CONFIG_HOME", base, ofConfig...)
	f.State, _ = pick("XDG_STATE_HOME", base, ofState...)
	f.Cache, _ = pick("XDG_CACHE_HOME", filepath.Join(base, "cache"))
	return f, nil
}

// ClaudeDir is the person's folder of Claude Code, whose settings, instructions, skills and the
// like are read: ~/.claude, or the one that CLAUDE_CONFIG_DIR names; "" without a home.
func (f Folders) ClaudeDir(home string) string {
	if f.Claude != "" || home == "" {
		return f.Claude
	}
	return filepath.Join(home, ".claude")
}

// ClaudeFile is .claude.json, which has MCP servers: in the home folder, or in the folder that
// CLAUDE_CONFIG_DIR names.
func (f Folders) ClaudeFile(home string) string {
	if f.Claude != "" {
		return filepath.Join(f.Claude, ".claude.json")
	}
	return filepath.Join(home, ".claude.json")
}

// Unused are files and folders of the person that do not count, because another folder
// is that of the settings.
func (f Folders) Unused(exists func(string) bool) (out []string) {
	for _, name := range ofConfig[1:] {
		if at := filepath.Join(f.Further, name); f.Further != "" && exists(at) {
			out = append(out, at)
		}
	}
	return out
}

// errNoHome says that nobody knows where this person's files are.
var errNoHome = errors.New("there is no home folder to keep adze's own files in: HOME is not usable, and the user database has none")

// ManagedDirs returns the folders of managed settings on a system: our own,
// and the one of the agent whose files are read too.
func ManagedDirs(goos string, env func(string) string) (own, cc string) {
	switch goos {
	case "darwin":
		return "/Library/Application Support/adze", "/Library/Application Support/ClaudeCode"
	case "windows":
		d := env("ProgramData")
		if d == "" {
			d = `C:\ProgramData`
		}
		return d + `\adze`, d + `\ClaudeCode`
	}
	return "/etc/adze", "/etc/claude-code"
}
