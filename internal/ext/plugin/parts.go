package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A document is an object that a manifest has inline, or in a file.
type document struct {
	file   string
	line   int // of its first line
	fields []member
}

// documents are the default file and what a field names or holds: objects and
// paths, alone or in a list.
func (r *reader) documents(field, standard string) (out []document) {
	seen := map[string]bool{}
	load := func(rel string, said func(format string, args ...any)) {
		if seen[rel] {
			return
		}
		seen[rel] = true
		b, err := r.read(rel)
		if err != nil {
			said("cannot be read: %v", err)
			r.unread(field, rel, err)
			return
		}
		fields, err := members(b, 1)
		if err != nil {
			said("%v", err)
			r.unread(field, rel, err)
			return
		}
		out = append(out, document{rel, 1, fields})
	}
	if standard != "" {
		if _, err := fs.Stat(r.fsys, standard); !errors.Is(err, fs.ErrNotExist) {
			load(standard, func(format string, args ...any) { r.problem(standard, 0, format, args...) })
		}
	}
	m, ok := r.field(field)
	if !ok {
		return out
	}
	for _, raw := range r.atMost(maxPaths, m, oneOrMore(m.raw)) {
		if s, isText := text(raw); isText {
			rel, err := r.local(s)
			if err != nil {
				r.wrong(m, "%q %v", clip.Line(s, 100), err)
				continue
			}
			load(rel, func(format string, args ...any) { r.problem(rel, 0, format, args...) })
			continue
		}
		if !isObject(raw) {
			r.wrong(m, "expected a path or an object, found %s", clip.Line(string(raw), 60))
			continue
		}
		file, line := r.place(m)
		fields, err := members(raw, max(line, 1))
		if err != nil {
			r.wrong(m, "%v", err)
			continue
		}
		if line == 0 {
			for i := range fields {
				fields[i].line = 0
			}
		}
		out = append(out, document{file, line, fields})
	}
	return out
}

// inside is the object below a name, or the document itself when it has none.
func (r *reader) inside(d document, name string) []member {
	i := slices.IndexFunc(d.fields, func(m member) bool { return m.name == name })
	if i < 0 {
		return d.fields
	}
	m := d.fields[i]
	list, err := members(m.raw, max(m.line, 1))
	if err != nil {
		r.problem(d.file, m.line, "%s: %v", name, err)
		return nil
	}
	if m.line == 0 {
		for i := range list {
			list[i].line = 0
		}
	}
	return list
}

// unread keeps that a file with hooks cannot be read.
func (r *reader) unread(field, file string, err error) {
	if field == "hooks" {
		r.p.Unread = append(r.p.Unread, fmt.Errorf("%s: %w", file, err))
	}
}

func (r *reader) hooks() {
	docs := r.documents("hooks", "hooks/hooks.json")
	for _, d := range docs {
		for _, event := range r.inside(d, "hooks") {
			if event.name == "description" || event.name == "$schema" {
				continue
			}
			groups, ok := elements(event.raw)
			if !ok {
				r.problem(d.file, event.line, "hooks of %s: expected a list", clip.Line(event.name, 60))
				continue
			}
			name := event.name
			if r.p.Format == Codex && name != "" { // preToolUse
				name = strings.ToUpper(name[:1]) + name[1:]
			}
			for _, g := range groups {
				if len(r.p.Hooks) == maxHooks {
					r.problem(d.file, event.line, "more than %d groups of hooks; the rest is left out", maxHooks)
					return
				}
				r.p.Hooks = append(r.p.Hooks, HookGroup{Event: name, JSON: compact(g), From: at(d.file, event.line)})
			}
		}
	}
}

func (r *reader) servers() {
	r.p.Servers = r.serverList("mcpServers", ".mcp.json")
	r.p.LSP = r.serverList("lspServers", ".lsp.json")
}

func (r *reader) serverList(field, file string) (out []Server) {
	for _, d := range r.documents(field, file) {
		for _, m := range r.inside(d, field) {
			switch {
			case m.name == "$schema":
				continue
			case !NameOK(m.name):
				r.problem(d.file, m.line, "%s: the name %q cannot be used", field, clip.Line(m.name, 60))
				continue
			case !isObject(m.raw):
				r.problem(d.file, m.line, "%s: %s: expected an object", field, m.name)
				continue
			case slices.ContainsFunc(out, func(s Server) bool { return s.Name == m.name }):
				r.problem(d.file, m.line, "%s: there are two of the name %s; the first counts", field, m.name)
				continue
			case len(out) == maxServers:
				r.problem(d.file, m.line, "%s: more than %d; the rest is left out", field, maxServers)
				return out
			}
			out = append(out, Server{m.name, compact(m.raw), at(d.file, m.line)})
		}
	}
	return out
}

// monitors come from monitors/monitors.json, or from the manifest.
func (r *reader) monitors() {
	type source struct {
		raw  json.RawMessage
		file string
		line int
	}
	var lists []source
	load := func(rel string) {
		b, err := r.read(rel)
		if err != nil {
			r.problem(rel, 0, "cannot be read: %v", err)
			return
		}
		if fields, err := members(b, 1); err == nil { // {"monitors": […]}
			i := slices.IndexFunc(fields, func(m member) bool { return m.name == "monitors" })
			if i < 0 {
				r.problem(rel, 0, "expected a list")
				return
			}
			lists = append(lists, source{fields[i].raw, rel, 0})
			return
		}
		lists = append(lists, source{b, rel, 0})
	}
	m, given := r.named("monitors")
	if s, isText := text(m.raw); given && isText {
		if rel, err := r.local(s); err != nil {
			r.wrong(m, "%q %v", clip.Line(s, 100), err)
		} else {
			load(rel)
		}
	} else if given {
		file, line := r.place(m)
		lists = append(lists, source{m.raw, file, line})
	} else if r.is("monitors/monitors.json", false) {
		load("monitors/monitors.json")
	}
	for _, l := range lists {
		list, ok := elements(l.raw)
		if !ok {
			r.problem(l.file, l.line, "monitors: expected a list")
			continue
		}
		for i, raw := range list {
			if len(r.p.Monitors) == maxWatch {
				r.problem(l.file, l.line, "more than %d monitors; the rest is left out", maxWatch)
				break
			}
			watch, err := r.monitor(raw)
			if err != nil {
				r.problem(l.file, l.line, "monitor %d: %v", i+1, err)
				continue
			}
			watch.From = at(l.file, l.line)
			r.p.Monitors = append(r.p.Monitors, watch)
		}
	}
}

func (r *reader) monitor(raw json.RawMessage) (Monitor, error) {
	var m struct{ Name, Command, Description, When string }
	if name, _ := twice(raw); name != "" {
		return Monitor{}, fmt.Errorf("the name %q comes twice", name)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return Monitor{}, errors.New("expected {\"name\": …, \"command\": …}")
	}
	skill, onSkill := strings.CutPrefix(m.When, "on-skill-invoke:")
	switch {
	case !NameOK(m.Name):
		return Monitor{}, fmt.Errorf("the name %q cannot be used", clip.Line(m.Name, 60))
	case strings.TrimSpace(m.Command) == "":
		return Monitor{}, errors.New("\"command\" is missing")
	case len(m.Command) > maxValue:
		return Monitor{}, errors.New("the command is too long")
	case m.When != "" && m.When != "always" && (!onSkill || skill == ""):
		return Monitor{}, fmt.Errorf("when: expected \"always\" or \"on-skill-invoke:SKILL\", found %q", clip.Line(m.When, 60))
	case slices.ContainsFunc(r.p.Monitors, func(o Monitor) bool { return o.Name == m.Name }):
		return Monitor{}, fmt.Errorf("there are two of the name %s", m.Name)
	}
	return Monitor{Name: m.Name, Command: m.Command, About: clip.Line(clip.Visible(m.Description), maxWords), Skill: clip.Line(clip.Visible(skill), 200)}, nil
}

// settings takes what allows nothing. In a manifest of Gemini's the field has
// another meaning, see options.
func (r *reader) settings() {
	if r.p.Format == Gemini {
		return
	}
	for _, d := range r.documents("settings", "settings.json") {
		for _, m := range d.fields {
			r.setting(d.file, m)
		}
	}
}

func (r *reader) setting(file string, m member) {
	wrong := func(want string) { r.problem(file, m.line, "%s: expected %s", m.name, want) }
	switch m.name {
	case "$schema":
	case "agent":
		s, ok := text(m.raw)
		if !ok {
			wrong("a name")
			return
		}
		r.p.Agent = clip.Line(clip.Visible(s), 200)
	case "statusLine":
		var s struct{ Type, Command string }
		if json.Unmarshal(m.raw, &s) != nil || s.Type != "command" || s.Command == "" {
			wrong(`{"type": "command", "command": …}`)
			return
		}
		r.p.StatusLine = compact(m.raw)
	case "permissions":
		list, err := members(m.raw, max(m.line, 1))
		if err != nil {
			r.problem(file, m.line, "permissions: %v", err)
			return
		}
		for _, k := range list {
			switch k.name {
			case "deny":
				r.p.Deny = r.rules(file, k)
			case "ask":
				r.p.Ask = r.rules(file, k)
			default:
				r.problem(file, k.line, "permissions.%s is not used: a plugin may only forbid, or have people asked", clip.Line(k.name, 60))
			}
		}
	default:
		r.problem(file, m.line, "the setting %s is not used: a plugin may set agent, statusLine, permissions.deny and permissions.ask", clip.Line(m.name, 60))
	}
}

func (r *reader) rules(file string, m member) (out []string) {
	list, ok := elements(m.raw)
	if !ok {
		r.problem(file, m.line, "permissions.%s: expected a list", m.name)
		return nil
	}
	if len(list) > maxRules {
		r.problem(file, m.line, "permissions.%s: more than %d rules; the rest is left out", m.name, maxRules)
		list = list[:maxRules]
	}
	for _, raw := range list {
		s, ok := text(raw)
		if !ok || len(s) > maxValue {
			r.problem(file, m.line, "permissions.%s: expected a rule, found %s", m.name, clip.Line(string(raw), 60))
			continue
		}
		out = append(out, s)
	}
	return out
}

// programs are the files in bin.
func (r *reader) programs() {
	if !r.is("bin", true) {
		return
	}
	list, err := fs.ReadDir(r.fsys, "bin")
	if err != nil {
		r.problem("bin", 0, "cannot be read: %v", paths.Cause(err))
		return
	}
	for _, e := range list {
		info, err := fs.Stat(r.fsys, "bin/"+e.Name())
		if err != nil || !info.Mode().IsRegular() {
			r.problem("bin/"+e.Name(), 0, "is no regular file")
			continue
		}
		if len(r.p.Programs) == maxBin {
			r.problem("bin", 0, "more than %d programs; the folder is not used", maxBin)
			r.p.Programs = nil
			return
		}
		r.p.Programs = append(r.p.Programs, e.Name())
	}
	if len(r.p.Programs) > 0 {
		r.p.Bin = "bin"
	}
}

func (r *reader) dependencies() {
	m, ok := r.field("dependencies")
	if !ok {
		return
	}
	list, isList := elements(m.raw)
	if !isList {
		r.wrong(m, "expected a list")
		return
	}
	for _, raw := range r.atMost(maxDepends, m, list) {
		var d struct{ Name, Version, Marketplace string }
		if s, isText := text(raw); isText {
			d.Name, d.Marketplace, _ = strings.Cut(s, "@")
		} else if json.Unmarshal(raw, &d) != nil {
			r.wrong(m, "expected a name or {\"name\": …, \"version\": …}, found %s", clip.Line(string(raw), 60))
			continue
		}
		if !NameOK(d.Name) || d.Marketplace != "" && !NameOK(d.Marketplace) {
			r.wrong(m, "the name %q cannot be used", clip.Line(d.Name, 60))
			continue
		}
		if _, err := ParseRange(d.Version); err != nil {
			r.wrong(m, "%s: %v", d.Name, err)
			d.Version = "" // the name still counts
		}
		r.p.Depends = append(r.p.Depends, Dependency{Name: d.Name, Market: d.Marketplace, Range: d.Version})
	}
}
