package market

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/trust"
)

// An Item is one thing that a plugin brings, as people are shown it before they
// agree. Its text is clean, and whole for what runs.
type Item struct {
	Kind string `json:"kind"` // hook, MCP server, monitor, program, code, permission, skill …
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	// Runs: it runs something, or allows something.
	Runs bool `json:"runs"`
	raw  string
}

// A Change is an item that is new, gone or other than before.
type Change struct {
	How string `json:"how"` // added, removed or changed
	Item
	Was string `json:"was,omitempty"` // the text before
}

// Asks reports whether a person has to agree to it.
func (c Change) Asks() bool { return c.Runs && c.How != "removed" }

// maxMatter bounds how many skills, commands and agents are read.
const maxMatter = 2000

// brings lists what a plugin in a folder brings: what runs first.
func brings(p plugin.Plugin, dir string, all sums) []Item {
	var out []Item
	add := func(kind, name, text, raw string, runs bool) {
		out = append(out, Item{kind, clip.Visible(name), clip.VisibleText(text), runs, cmp.Or(raw, text)})
	}
	for _, g := range p.Hooks {
		for _, h := range hooksOf(g) {
			add("hook", h.name, h.text, h.raw, true)
		}
	}
	for _, s := range p.Servers {
		add("MCP server", s.Name, serverText(s.JSON), string(s.JSON), true)
	}
	for _, m := range p.Monitors {
		text := "runs as long as a session: " + m.Command
		if m.Skill != "" {
			text = "runs from the first use of the skill " + m.Skill + " on: " + m.Command
		}
		add("monitor", m.Name, text, "", true)
	}
	for _, name := range p.Programs {
		add("program", name, "on the PATH of commands", all.Files[p.Bin+"/"+name], true)
	}
	if len(p.StatusLine) > 0 {
		var s struct{ Command string }
		_ = json.Unmarshal(p.StatusLine, &s) // it was read before
		add("status line", "statusLine", "runs "+s.Command, string(p.StatusLine), true)
	}
	if p.Agent != "" {
		add("setting", "agent", "sessions start with the agent "+p.Agent, "", true)
	}
	out = append(out, matters(p, dir, all)...)
	if names, size := code(p, dir, all); len(names) > 0 {
		add("code", "files", fmt.Sprintf("%s, %s, which the above may run", clip.Count(len(names), "file"), clip.Size(size)), strings.Join(codeLines(p, dir, all), "\n"), true)
	}
	for _, s := range p.LSP {
		add("LSP server", s.Name, serverText(s.JSON)+" (has no effect yet)", string(s.JSON), false)
	}
	for kind, list := range map[string][]string{"output style": p.Styles, "theme": p.Themes, "text for every session": p.Context} {
		for _, f := range list {
			if sum, ok := all.Files[f]; ok {
				add(kind, f, "", sum, false)
				continue
			}
			for file, sum := range all.Files { // of a folder, each by its own name
				if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(f, "/")+"/"); ok {
					add(kind, strings.TrimSuffix(rest, ".md"), "", sum, false)
				}
			}
		}
	}
	for _, t := range p.Palettes {
		add("theme", t.Name, "", string(t.JSON), false)
	}
	for kind, list := range map[string][]string{"deny": p.Deny, "ask": p.Ask} {
		for _, r := range list {
			add("rule", kind+" "+r, "", "", false)
		}
	}
	for _, o := range p.Options {
		text := o.About
		if o.Secret {
			text = strings.TrimSpace("secret. " + text)
		}
		add("option", o.Key, text, "", false)
	}
	for _, d := range p.Depends {
		add("needs", strings.TrimSuffix(d.Name+"@"+d.Market, "@"), d.Range, "", false)
	}
	order.By(out, func(a, b Item) int {
		if a.Runs != b.Runs {
			if a.Runs {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out
}

type named struct{ name, text, raw string }

// hooksOf are the handlers of a group, in full.
func hooksOf(g plugin.HookGroup) (out []named) {
	var group struct {
		Matcher string
		Hooks   []json.RawMessage
	}
	name := g.Event
	if json.Unmarshal(g.JSON, &group) != nil || len(group.Hooks) == 0 {
		return []named{{name, "cannot be read: " + string(g.JSON), string(g.JSON)}}
	}
	if group.Matcher != "" {
		name += " " + group.Matcher
	}
	for _, raw := range group.Hooks {
		var h struct {
			Type, Command, URL, Server, Tool, Prompt string
			Args, AllowedEnvVars                     []string
			Headers, Input                           json.RawMessage
			If                                       string
		}
		text := ""
		switch err := json.Unmarshal(raw, &h); {
		case err != nil:
			text = "cannot be read: " + string(raw)
		case h.Type == "command":
			text = "runs " + strings.Join(append([]string{h.Command}, h.Args...), " ")
		case h.Type == "http":
			text = "sends to " + h.URL
			if len(h.Headers) > 0 {
				text += " with the headers " + string(h.Headers)
			}
			if len(h.AllowedEnvVars) > 0 {
				text += ", in which your variables " + strings.Join(h.AllowedEnvVars, ", ") + " may stand"
			}
		case h.Type == "mcp_tool":
			text = "calls the tool " + h.Tool + " of the MCP server " + h.Server
			if len(h.Input) > 0 {
				text += " with " + string(h.Input)
			}
		default:
			text = "asks a model: " + h.Prompt
		}
		if h.If != "" {
			text += " (if " + h.If + ")"
		}
		out = append(out, named{name, text, g.Event + " " + group.Matcher + " " + string(raw)})
	}
	return out
}

// serverText is what a server's configuration does, in words.
func serverText(raw json.RawMessage) string {
	var s struct {
		Command, URL, HeadersHelper, Cwd string
		Args                             []string
		Env, Headers                     json.RawMessage
	}
	if json.Unmarshal(raw, &s) != nil {
		return "cannot be read: " + string(raw)
	}
	text := "connects to " + s.URL
	if s.Command != "" {
		text = "runs " + strings.Join(append([]string{s.Command}, s.Args...), " ")
	}
	if s.Cwd != "" {
		text += " in " + s.Cwd
	}
	if len(s.Env) > 0 {
		text += " with the variables " + string(s.Env)
	}
	if len(s.Headers) > 0 {
		text += " with the headers " + string(s.Headers)
	}
	if s.HeadersHelper != "" {
		text += "; runs for its headers: " + s.HeadersHelper
	}
	return text
}

// matters lists skills, commands and agents, and what each of them runs or
// allows.
func matters(p plugin.Plugin, dir string, all sums) (out []Item) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	n, seen := 0, map[string]bool{} // a file that two places lead to is one
	for _, list := range []struct {
		kind   trust.Kind
		places []string
	}{{trust.Skill, p.Skills}, {trust.Command, p.Commands}, {trust.Agent, p.Agents}} {
		for _, place := range list.places {
			_ = fs.WalkDir(root.FS(), place, func(file string, d fs.DirEntry, err error) error { // what cannot be read brings nothing
				if err != nil || d.IsDir() || !isMatter(list.kind, file) || seen[string(list.kind)+file] {
					return nil
				}
				seen[string(list.kind)+file] = true
				if n++; n > maxMatter {
					return fs.SkipAll
				}
				f, _, err := openRegular(root, file)
				if err != nil {
					return nil
				}
				defer f.Close()
				h := &head{max: 1 << 20}
				if _, err := f.WriteTo(h); err != nil {
					return nil
				}
				for i, c := range trust.Wants(list.kind, file, h.Bytes()) {
					kind, name, raw := "permission", c.What, c.Text
					if i == 0 {
						kind = string(list.kind)
						name = strings.TrimPrefix(name, kind+" ")
					}
					if strings.HasSuffix(c.Text, "…") || c.Text == "and more" { // not all of it is there
						raw = all.Files[file]
					}
					out = append(out, Item{kind, name + " (" + clip.Visible(file) + ")", c.Text, i > 0, raw})
				}
				return nil
			})
		}
	}
	if n > maxMatter {
		out = append(out, Item{"skill", "and more", fmt.Sprintf("only the first %d files are looked at", maxMatter), true, all.Sum})
	}
	return out
}

func isMatter(k trust.Kind, name string) bool {
	if k == trust.Skill {
		return path.Base(name) == "SKILL.md"
	}
	return strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".toml")
}

// code are the files that could be run, or be part of what is: all but texts,
// pictures and what was read as configuration.
func code(p plugin.Plugin, dir string, all sums) (names []string, size int64) {
	read := map[string]bool{p.Manifest: true, "hooks/hooks.json": true, ".mcp.json": true, ".lsp.json": true, "settings.json": true, "monitors/monitors.json": true, "marketplace.json": true, ".claude-plugin/marketplace.json": true}
	for name, sum := range all.Files {
		base := path.Base(name)
		switch strings.ToLower(path.Ext(base)) {
		case ".md", ".mdx", ".txt", ".rst", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".pdf":
			if !all.Runs[name] {
				continue
			}
		case ".toml":
			if slices.ContainsFunc(p.Commands, func(c string) bool { return strings.HasPrefix(name, c+"/") }) {
				continue
			}
		case ".json":
			if slices.ContainsFunc(p.Themes, func(c string) bool { return name == c || strings.HasPrefix(name, c+"/") }) {
				continue
			}
		case "":
			if up := strings.ToUpper(base); !all.Runs[name] && (strings.HasPrefix(up, "LICENSE") || strings.HasPrefix(up, "NOTICE") || strings.HasPrefix(up, "COPYING")) {
				continue
			}
		}
		if read[name] || strings.HasPrefix(base, ".git") || strings.HasPrefix(sum, "-> ") || p.Bin != "" && strings.HasPrefix(name, p.Bin+"/") {
			continue
		}
		names = append(names, name)
		if info, err := os.Lstat(dir + "/" + name); err == nil {
			size += info.Size()
		}
	}
	slices.Sort(names)
	return names, size
}

// changes compares what a plugin brings with what is installed.
func (s *Store) changes(old Installed, next plugin.Plugin, dir string, all sums, now []Item) (out []Change) {
	var was []Item
	var oldCode []string
	if p, err := s.summary(old); err == nil {
		if before, err := sumOf(p.Root); err == nil {
			was, oldCode = brings(p, p.Root, before), codeLines(p, p.Root, before)
		}
	}
	nowCode := codeLines(next, dir, all)
	// Several things may have one name (hooks of an event): what is the same is
	// taken out first, and the rest is told pairwise.
	same := func(a, b Item) bool { return a.Kind == b.Kind && a.Name == b.Name }
	left := slices.Clone(was)
	var fresh []Item
	for _, n := range now {
		if i := slices.IndexFunc(left, func(o Item) bool { return same(o, n) && o.raw == n.raw && o.Runs == n.Runs }); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		fresh = append(fresh, n)
	}
	for _, n := range fresh {
		c := Change{How: "added", Item: n}
		if i := slices.IndexFunc(left, func(o Item) bool { return same(o, n) }); i >= 0 {
			c.How, c.Was = "changed", left[i].Text
			if c.Was == c.Text && slices.Contains([]string{"hook", "MCP server", "status line"}, n.Kind) { // the words leave out what changed
				c.Text, c.Was = clip.VisibleText(n.raw), clip.VisibleText(left[i].raw)
			}
			left = slices.Delete(left, i, i+1)
		}
		if n.Kind == "code" {
			c.Text += ": " + changedFiles(oldCode, nowCode)
			c.Was = ""
		}
		out = append(out, c)
	}
	for _, o := range left {
		out = append(out, Change{How: "removed", Item: o})
	}
	return out
}

// codeLines are the files of code with what makes them what they are.
func codeLines(p plugin.Plugin, dir string, all sums) (out []string) {
	names, _ := code(p, dir, all)
	for _, n := range names {
		out = append(out, fmt.Sprintf("%s\x00%s %v", n, all.Files[n], all.Runs[n]))
	}
	return out
}

// changedFiles names files that differ: both lists are of codeLines.
func changedFiles(was, now []string) string {
	signs := map[string]string{}
	for _, l := range was {
		if !slices.Contains(now, l) {
			name, _, _ := strings.Cut(l, "\x00")
			signs[name] = "-"
		}
	}
	for _, l := range now {
		if slices.Contains(was, l) {
			continue
		}
		name, _, _ := strings.Cut(l, "\x00")
		if signs[name] == "-" {
			signs[name] = "~"
		} else {
			signs[name] = "+"
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(signs)) {
		list = append(list, signs[name]+name)
	}
	more := ""
	if len(list) > 40 {
		more = fmt.Sprintf(" and %d more", len(list)-40)
		list = list[:40]
	}
	return clip.Visible(strings.Join(list, " ")) + more
}
