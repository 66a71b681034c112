package ext

import (
	"slices"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext/hook"
	"github.com/adze-agent/adze/internal/memory"
)

// Loaded tells hooks of memory files that were read, each once. It is called once
// when the session begins.
func (x *Session) Loaded(files []memory.File) {
	if !x.gate.Hooked(hook.InstructionsLoaded) {
		return
	}
	types := map[memory.Scope]string{memory.Managed: "Managed", memory.User: "User", memory.Project: "Project", memory.Local: "Local"}
	x.mu.Lock()
	later := x.loaded != nil
	if !later {
		x.loaded = map[string]bool{}
	}
	var list []hook.Input
	for _, f := range files {
		if x.loaded[f.Path] {
			continue
		}
		x.loaded[f.Path] = true
		in := hook.InstructionsInput{Path: f.Path, Type: types[f.Scope], Reason: "session_start", Globs: f.Globs, Parent: f.From}
		switch {
		case f.From != "":
			in.Reason = "include"
		case len(f.Globs) > 0:
			in.Reason = "path_glob_match"
		case later:
			in.Reason = "nested_traversal"
		}
		list = append(list, in)
	}
	x.mu.Unlock()
	x.gate.Hears(list...)
}

// reconfigured tells hooks which files of settings are others now.
func (x *Session) reconfigured(was, now *config.Config) {
	if was == nil || !x.gate.Hooked(hook.ConfigChange) {
		return
	}
	sources := map[config.Scope]string{config.Managed: "policy_settings", config.User: "user_settings", config.Project: "project_settings", config.Local: "local_settings"}
	var list []hook.Input
	for _, f := range now.Files {
		old := slices.IndexFunc(was.Files, func(o config.File) bool { return o.Path == f.Path })
		if source, ok := sources[f.Scope]; ok && (old < 0 && f.Sum != "" || old >= 0 && was.Files[old].Sum != f.Sum) {
			list = append(list, hook.ConfigInput{Source: source, Path: f.Path})
		}
	}
	x.gate.Hears(list...)
}
