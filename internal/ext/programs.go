package ext

import (
	"errors"
	"slices"

	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
)

// sameProgram reports whether two servers run the same files.
func sameProgram(a, b servers.Server) bool {
	return a.Transport == b.Transport && a.Command == b.Command && slices.Equal(a.Args, b.Args) && a.HeadersHelper == b.HeadersHelper
}

// fresh reports programs of a server that changed since they were looked at: what is
// configured is looked at anew then, so that a person is asked where that is needed.
func (f *Folder) fresh(s servers.Server) error {
	now := s
	now.Programs = f.conf.Live.Paths.ProgramsOf(s)
	if now.Hash() == s.Hash() {
		return nil
	}
	f.Refresh()
	return errors.New("what it runs is not what it was when adze looked at it; it is looked at again")
}

// Programs are the files of these folders by which extensions run something
// unconfined: the programs of MCP servers, what gets their headers, and plugins in
// folders that a start names. Commands must not change them.
func (f *Folder) Programs(dirs []string) []policy.Steer {
	f.ready()
	f.mu.Lock()
	wanted, plugs := slices.Concat(f.wanted, f.lent), f.plugs
	f.mu.Unlock()
	runs := f.conf.Live.Paths.Runs(dirs)
	for _, s := range wanted {
		what := "the MCP server " + s.Name
		if s.Approval == servers.Approved && !s.Answered { // nothing asks again when it changes
			all := f.conf.Live.Paths.Runs(dirs)
			all.Server(s, what)
			runs.Found = append(runs.Found, all.Protected(what)...)
			continue
		}
		if s.Transport == servers.Stdio {
			runs.Command(append([]string{s.Command}, s.Args...), what)
		}
		runs.Line(s.HeadersHelper, what)
	}
	for _, dir := range f.conf.PluginDirs {
		runs.Folder(dir, "a plugin")
	}
	if line, _ := f.StatusLine(); line != nil {
		runs.Line(line.Command, "the status line of a plugin")
	}
	if plugs != nil {
		for _, h := range extension.Hooks(slices.Concat(plugs.hooks, plugs.folder)...).All() {
			if h.Type != hook.Command {
				continue
			}
			what := "a hook of a plugin"
			if h.Dialect != "" && h.Scope != "plugin" {
				what = "a hook of " + h.From
			}
			if len(h.Args) > 0 {
				runs.Command(append([]string{h.Handler.Command}, h.Args...), what)
			} else {
				runs.Line(h.Handler.Command, what)
			}
		}
	}
	return runs.Found
}
