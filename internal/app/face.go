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
func (a *App) Face() *tui.Session {
	st := a.State()
	s := &tui.Session{
		Client: a.Session, ID: a.ID, Dir: Tilde(a.Paths.Dir, a.Paths.Home), Model: a.Target.ID(), Window: a.Target.Window,
		Mode: a.Mode, After: a.After, Kept: a.Kept, UI: Look(a.Config), Close: a.Close,
	}
	if st.Model != "" {
		s.Model = st.Model
	}
	if i, ok := info.Find(a.Paths.Dir); ok {
		s.Branch = i.Branch
	}
	no := forbidden(a.live.o, a.Config, a.live.started)
	for _, m := range []policy.Mode{policy.Default, policy.AcceptEdits, policy.PlanMode, policy.Auto, policy.Bypass} {
		if m == policy.Auto && a.Mode != policy.Auto { // there is a classifier only where the session began with it
			continue
		}
		if _, bad := no[m]; !bad && (m != policy.Bypass || a.live.started == m) {
			s.Modes = append(s.Modes, m)
		}
	}
	return s
}

// Stored is where the session is kept, for people; "" when nothing is kept.
func (a *App) Stored() string { return a.log.scratch() }

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
