package app

import (
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/git/info"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// Face is the session as the terminal UI sees it.
func (r *Running) Face() *tui.Session {
	w, target := r.world, r.Target()
	cfg := w.Config()
	s := &tui.Session{
		Client: r.Session, ID: r.ID, Dir: Tilde(w.Paths.Dir, w.Paths.Home), Model: target.ID(), Window: target.Window,
		Mode: r.Mode(), After: r.After, Kept: r.Kept, UI: Look(cfg), Close: r.Close,
	}
	if i, ok := info.Find(w.Paths.Dir); ok {
		s.Branch = i.Branch
	}
	no := forbidden(w.process, r.spec, cfg, r.started)
	for _, m := range []policy.Mode{policy.Default, policy.AcceptEdits, policy.PlanMode, policy.Auto, policy.Bypass} {
		if m == policy.Auto && r.started != policy.Auto { // there is a classifier only where the session began with it
			continue
		}
		if _, bad := no[m]; !bad && (m != policy.Bypass || r.started == m) {
			s.Modes = append(s.Modes, m)
		}
	}
	return s
}

// Stored is where the session is kept, for people; "" when nothing is kept.
func (r *Running) Stored() string { return r.log.scratch() }

// Look are the settings of the terminal UI.
func Look(cfg *config.Config) tui.Settings {
	u := cfg.UI
	s := tui.Settings{
		Theme: u.Theme, Vim: u.EditorMode == "vim", ASCII: u.ASCII, Thinking: u.ShowThinking, Notify: u.Notify, TitleOff: !u.Title,
	}
	if l := cfg.StatusLine; l != nil {
		s.Status.Padding, s.Status.Every = l.Padding, time.Duration(l.RefreshInterval)*time.Second
	}
	return s
}

// Tilde is a path for people: "~/src/calc".
func Tilde(path, home string) string {
	if home == "" || path == home {
		return strings.Replace(path, home, "~", min(len(home), 1))
	}
	if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) && runtime.GOOS != "windows" {
		return filepath.Join("~", rel)
	}
	return path
}
