package ext

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/memory"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
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

// Reconfigures asks hooks about settings that would count from now on, and reports
// whether they are not to. What an administrator changed, nobody refuses.
func (f *Folder) Reconfigures(was, now *config.Config) (refused bool) {
	list, managed := reconfigured(was, now)
	for _, in := range list {
		why := f.refuses(in)
		if why == nil {
			continue
		}
		refused = true
		text := fmt.Sprintf("the change of %s does not count: %s", in.Path, why.words)
		if managed {
			text = why.by + " refuses a change of settings, which counts all the same, because an administrator's changed"
		}
		why.session.report(event.Noted{Level: "warning", Text: clip.Visible(text)})
	}
	return refused && !managed
}

// A refusal is a hook's, of a change.
type refusal struct {
	session   *Session // whose hook it is
	by, words string
}

// refuses asks the hooks of every root about a change, until one does not want it; nil
// is that nobody minds. A child has the hooks of its root.
func (f *Folder) refuses(in hook.ConfigInput) *refusal {
	for _, x := range f.trees() {
		if !x.gate.Hooked(hook.ConfigChange) {
			continue
		}
		if a, over := x.gate.Asked(in); a.Block && !over {
			by := "the hook " + clip.Line(a.By, 80)
			return &refusal{x, by, by + " refused it: " + a.Reason}
		}
	}
	return nil
}

// reconfigured are the files of settings that differ, as hooks are asked about them.
// managed: an administrator's is among them.
func reconfigured(was, now *config.Config) (list []hook.ConfigInput, managed bool) {
	sources := map[config.Scope]string{config.Managed: "policy_settings", config.User: "user_settings", config.Project: "project_settings", config.Local: "local_settings"}
	for _, f := range now.Files {
		old := slices.IndexFunc(was.Files, func(o config.File) bool { return o.Path == f.Path })
		source, ok := sources[f.Scope]
		if !ok || old < 0 && f.Sum == "" || old >= 0 && was.Files[old].Sum == f.Sum {
			continue
		}
		list = append(list, hook.ConfigInput{Source: source, Path: f.Path})
		managed = managed || f.Scope == config.Managed
	}
	return list, managed
}

// maxRelearned bounds how many changed files of skills hooks are asked about at once.
const maxRelearned = 50

// relearns asks hooks about skills that would count from now on, file by file, and
// reports whether they are not to.
func (f *Folder) relearns(was, now skill.Library) (refused bool) {
	hooked := slices.DeleteFunc(f.trees(), func(x *Session) bool { return !x.gate.Hooked(hook.ConfigChange) })
	if len(hooked) == 0 {
		return false
	}
	files := was.Changed(now)
	if n := len(files) - maxRelearned; n > 0 {
		files = files[:maxRelearned]
		for _, x := range hooked {
			x.report(event.Noted{Level: "warning", Text: fmt.Sprintf("%d more files of skills changed than hooks of ConfigChange are asked about", n)})
		}
	}
	for _, file := range files {
		if why := f.refuses(hook.ConfigInput{Source: "skills", Path: file}); why != nil {
			refused = true
			why.session.report(event.Noted{Level: "warning", Text: clip.Visible(fmt.Sprintf("the change of %s does not count: %s", file, why.words))})
		}
	}
	return refused
}

// widened tells hooks which folders are worked in now besides those of before; nil
// is before the start, whose folders only flags name anew.
func (x *Session) widened(was, now *config.Config) {
	if now == nil || x.s == nil || !x.gate.Hooked(hook.DirectoryAdded) {
		return
	}
	var list []hook.Input
	for _, d := range now.Permissions.Dirs {
		in := hook.DirInput{Dir: d.Text, Source: "settings"}
		if d.Origin.Scope == config.Flag {
			in.Source = "flag"
		}
		if p := x.conf.Folder.conf.Live.Paths; !filepath.IsAbs(in.Dir) {
			in.Dir = paths.Absolute(cmp.Or(d.Root, p.Dir), p.Home, in.Dir)
		}
		known := was == nil && in.Source != "flag" || was != nil && slices.ContainsFunc(was.Permissions.Dirs, func(o config.Rule) bool { return o.Text == d.Text })
		if !known {
			list = append(list, in)
		}
	}
	x.gate.Hears(list...)
}
