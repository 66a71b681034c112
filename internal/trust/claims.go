package trust

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// A Claim is one thing that a folder wants: what a person decides about. The
// text is clean and bounded.
type Claim struct {
	File string `json:"file"` // below the root
	Line int    `json:"line,omitempty"`
	What string `json:"what"`
	Text string `json:"text"`
}

// maxClaim bounds what a folder says of one thing that it wants, in characters:
// no file that counts has more. Who says yes has to see all of it.
const maxClaim = 2 << 20

// maxWhat bounds what a thing is called, in characters.
const maxWhat = 100

func claim(file string, line int, what, format string, args ...any) Claim {
	return Claim{clip.Visible(file), line, clip.Line(clip.Visible(what), maxWhat), clip.Line(clip.VisibleText(fmt.Sprintf(format, args...)), maxClaim)}
}

// Claims lists what the verdict's files want, by file.
func (v Verdict) Claims() []Claim {
	var out []Claim
	for _, f := range v.Files {
		switch f.Kind {
		case Settings: // together, below
		case Servers:
			out = append(out, serverClaims(f)...)
		case Hooks:
			out = append(out, hooksIn(f.Path, f.text)...)
		case Skill, Command, Agent, Style:
			out = append(out, matter(f)...)
		case SkillFile: // with its skill
		case Script:
			out = append(out, claim(f.Path, 0, "hook script", "%s", clip.Size(int64(len(f.text)))))
		}
	}
	out = append(append(out, v.besideClaims()...), v.settings()...)
	order.By(out, func(a, b Claim) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return out
}

// settings asks package config, with exactly the content that was seen.
func (v Verdict) settings() []Claim {
	seen := memory{}
	for _, f := range v.Files {
		if f.Kind == Settings {
			seen[filepath.Join(v.Folder.Root, filepath.FromSlash(f.Path))] = f.text
		}
	}
	if len(seen) == 0 {
		return nil
	}
	cfg, err := config.Load(config.Options{
		Files: seen, Home: v.Folder.Home, Folders: config.Folders{Config: filepath.Join(v.Folder.Root, "no such folder")},
		Dir: v.Folder.Dir, Root: v.Folder.Root, Sources: []string{string(config.Project), string(config.Local)},
	})
	if err != nil {
		return []Claim{claim("", 0, "settings", "cannot be read: %v", err)}
	}
	rel := func(file string) string {
		if r, err := filepath.Rel(v.Folder.Root, file); err == nil {
			return filepath.ToSlash(r)
		}
		return file
	}
	var out []Claim
	claimed := map[string]bool{}
	for _, c := range cfg.Claims {
		claimed[c.File] = true
		if c.Key == "hooks" {
			out = append(out, eachHook(rel(c.File), c)...)
			continue
		}
		out = append(out, claim(rel(c.File), c.Line, c.Key, "%s", c.Text))
	}
	for _, f := range cfg.Files {
		switch {
		case f.State == config.Broken:
			out = append(out, claim(rel(f.Path), 0, "settings", "a file with mistakes; it is not used"))
		case f.State != config.Missing && !claimed[f.Path]:
			out = append(out, claim(rel(f.Path), 0, "settings", "values that run and allow nothing"))
		}
	}
	return out
}

// eachHook has a claim for each hook of a settings file, with all that it says. Where one
// does not have the plain form of hooks, all stand there as they are written.
func eachHook(file string, c config.Claim) (out []Claim) {
	as := []Claim{claim(file, c.Line, c.Key, "%s", c.Text)}
	var events map[string][]map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Text), &events) != nil {
		return as
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		for _, group := range events[event] {
			var list []map[string]json.RawMessage
			var matcher string
			fields := 1
			if m, ok := group["matcher"]; ok {
				if fields++; json.Unmarshal(m, &matcher) != nil {
					return as
				}
			}
			if json.Unmarshal(group["hooks"], &list) != nil || len(group) != fields {
				return as
			}
			what := strings.TrimSpace("hook " + event + " " + matcher)
			for _, h := range list {
				text, ok := runs(h)
				if !ok || len(what) > maxWhat {
					return as
				}
				out = append(out, claim(file, c.Line, what, "%s", text))
			}
		}
	}
	if len(out) == 0 {
		return as
	}
	return out
}

// runs is a hook in words: its command, and what else is set of it. ok is false where a
// name may be read as another one.
func runs(h map[string]json.RawMessage) (text string, ok bool) {
	var parts []string
	var command, kind string
	for name := range h {
		for _, known := range []string{"command", "type"} {
			if name != known && strings.EqualFold(name, known) {
				return "", false
			}
		}
	}
	if json.Unmarshal(h["type"], &kind) == nil && kind == "command" && json.Unmarshal(h["command"], &command) == nil {
		if clip.Line(clip.VisibleText(command), maxClaim) != command { // a line of it would read otherwise
			command = string(h["command"])
		}
		parts = append(parts, "runs: "+command)
		delete(h, "command")
		delete(h, "type")
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		parts = append(parts, name+": "+string(h[name]))
	}
	return strings.Join(parts, "; "), true
}

// memory is config.Files over what was read.
type memory map[string][]byte

func (m memory) Read(path string, _ int64) ([]byte, error) {
	if b, ok := m[path]; ok {
		return b, nil
	}
	return nil, fs.ErrNotExist
}
func (memory) Names(string) ([]string, error) { return nil, nil }
func (memory) Owned(string) error             { return nil }

// serverClaims are the servers of .mcp.json; what cannot be read is shown as such.
func serverClaims(f File) []Claim {
	list, err := config.Entries(f.text, config.Origin{File: f.Path}, "mcpServers")
	if err != nil {
		return []Claim{claim(f.Path, 0, "MCP servers", "a file that cannot be read: %v", err)}
	}
	if len(list) == 0 {
		return []Claim{claim(f.Path, 0, "MCP servers", "none")}
	}
	out := make([]Claim, 0, len(list))
	for _, e := range list {
		text := servers.Server{Raw: e.JSON}.Describe()
		if e.Problem != "" {
			text = "cannot be used: " + e.Problem
		}
		out = append(out, claim(f.Path, e.Line, "MCP server "+e.Name, "%s", oneLine.Replace(strings.TrimSpace(text))))
	}
	return out
}

// hooksIn are the hooks in a file of another agent's, and what of them cannot be used;
// none when it is about other things.
func hooksIn(path string, text []byte) (out []Claim) {
	hooks, problems := hook.ParseFile(text, hook.Place{From: filepath.FromSlash(path)})
	for _, h := range hooks {
		out = append(out, claim(path, 0, strings.TrimSpace(fmt.Sprintf("hook %s %s", h.Event, h.Matcher)), "%s", strings.TrimSpace(h.Name()+" "+string(h.Handler.Input))))
	}
	for _, err := range problems {
		out = append(out, claim(path, 0, "hooks", "%v", err))
	}
	return out
}

// oneLine makes one line of how a server is described.
var oneLine = strings.NewReplacer("\n  argument: ", " ", "\n  ", ", ", "\n", "; ")

// running are fields of a frontmatter that run or allow something.
var running = []string{"allowed-tools", "hooks", "mcpServers", "permissionMode", "tools", "shell", "model", "memory", "initialPrompt"}

// Wants lists what the text of a skill, a command or an agent would run or
// allow, wherever it comes from; the first claim is about the thing itself.
func Wants(k Kind, path string, text []byte) []Claim {
	return matter(File{Path: path, Kind: k, text: text})
}

// matter shows a skill, a command, an agent or an output style, as it is read when
// it is used.
func matter(f File) []Claim {
	fields, runs, bad := skill.Matter(f.Path, f.text)
	word := func(key string) (s string) {
		_ = json.Unmarshal(fields[key], &s) // another kind of value is none
		return s
	}
	base := path.Base(f.Path)
	name := cmp.Or(word("name"), strings.TrimSuffix(base, path.Ext(base)))
	what := string(f.Kind) + " " + name
	text := word("description")
	if bad != nil {
		text = "it cannot be used: " + bad.Text
	}
	out := []Claim{claim(f.Path, 0, what, "%s", text)}
	for _, k := range running {
		if v, ok := fields[k]; ok {
			out = append(out, claim(f.Path, 0, what+": "+k, "%s", v))
		}
	}
	for i, r := range runs {
		if i == 20 {
			out = append(out, claim(f.Path, 0, what+": runs", "and more"))
			break
		}
		out = append(out, claim(f.Path, 0, what+": runs", "%s", r))
	}
	return out
}
