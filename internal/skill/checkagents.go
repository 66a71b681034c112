package skill

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/order"
)

// CheckAgents looks for mistakes in definitions of agents: a file, or those in a folder. n is how many
// there are. A Problem that is Used is advice: the definition counts.
func CheckAgents(at string) (n int, out []Problem) {
	of := agentDialect(at + "/")
	all := []Dialect{of}
	if of == "" { // their names tell
		all = []Dialect{"", Copilot, Codex}
	}
	for _, of := range all {
		p := Place{Dir: at, Kind: Agents, Of: of}
		files, bad := p.files()
		out = append(out, bad...)
		for _, f := range files {
			if of == "" && strings.HasSuffix(strings.ToLower(f.path), agentEnding(Copilot)) {
				continue
			}
			text, bad := p.read(f.path, false)
			if bad != nil {
				out = append(out, *bad)
				continue
			}
			is, problems := checkAgent(p, f, text)
			if is {
				n++
			}
			for _, x := range problems {
				x.File = f.path
				out = append(out, x)
			}
		}
	}
	order.By(out, func(a, b Problem) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return n, out
}

// checkAgent looks at one file. is: it defines an agent, or is meant to.
func checkAgent(p Place, f found, text []byte) (is bool, out []Problem) {
	made, notes, bad := parseAgent(p, f, text)
	if bad != nil {
		return !bad.Used, []Problem{*bad}
	}
	a := made.(Agent)
	h, _, _, _ := agentHead(p.Of, f, text) // it was read just now
	say := func(key string, used bool, format string, args ...any) {
		out = append(out, Problem{Line: h.line[key], Text: fmt.Sprintf(format, args...), Used: used})
	}
	out = append(out, notes...)
	known := append([]string{"name"}, agentFields...)
	for _, key := range h.keys {
		if p.Of != "" || slices.Contains(known, key) {
			continue
		}
		if like := near.Hint(key, known); like != "" {
			say(key, false, "there is no field %q%s", clip.Line(clip.Visible(key), 60), like)
		} else {
			say(key, true, "there is no field %q; it does nothing", clip.Line(clip.Visible(key), 60))
		}
	}
	for key, list := range map[string][]string{"tools": a.Tools, "disallowedTools": a.Denied} {
		for _, entry := range list {
			name, _, _ := strings.Cut(entry, "(")
			if policy.Known(name) || name == "*" {
				continue
			}
			like := near.Hint(name, policy.Tools())
			say(key, like == "", "there is no tool %s%s", clip.Line(clip.Visible(name), 60), like)
		}
	}
	if a.Prompt == "" {
		say("name", true, "there are no instructions behind the fields: it has those of every session")
	}
	for _, why := range badServers(a.Servers) {
		say("mcpServers", false, "%s", why)
	}
	for _, why := range badHooks(a) {
		say("hooks", false, "%s", why)
	}
	return true, out
}

// badServers says what of mcpServers is neither the name of a server nor one.
func badServers(raw json.RawMessage) (out []string) {
	if raw == nil {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, x := range list {
		var name string
		var by map[string]json.RawMessage
		if json.Unmarshal(x, &name) == nil {
			continue
		}
		if json.Unmarshal(x, &by) != nil {
			out = append(out, "mcpServers holds something that is neither a name nor a server by its name")
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(by)) {
			var s struct{ Command, URL, Type string }
			if text := string(by[name]); text == "null" || text == "{}" {
				continue
			}
			if err := json.Unmarshal(by[name], &s); err != nil || s.Command == "" && s.URL == "" && s.Type != "sdk" {
				out = append(out, fmt.Sprintf("the MCP server %s has neither a command nor a url", clip.Line(clip.Visible(name), 60)))
			}
		}
	}
	return out
}

// badHooks says what of the hooks cannot be used.
func badHooks(a Agent) (out []string) {
	if a.Hooks == nil {
		return nil
	}
	var groups map[string][]json.RawMessage
	if json.Unmarshal(a.Hooks, &groups) != nil {
		return []string{"hooks: groups by event are expected"}
	}
	for _, e := range slices.Sorted(maps.Keys(groups)) {
		for _, g := range groups[e] {
			_, bad := hook.Parse(e, g, hook.Place{})
			for _, err := range bad {
				out = append(out, "hooks: "+clip.Line(clip.Visible(err.Error()), 300))
			}
		}
	}
	return out
}

// NewAgent is the text of a definition to fill in. Its comments name the fields.
func NewAgent(name, about string) string {
	if about = clip.Line(clip.Visible(about), MaxDescription); about == "" {
		about = "What it does, and when to use it. Models choose agents by this."
	}
	return "---\nname: " + name + "\ndescription: '" + strings.ReplaceAll(about, "'", "''") + `'
# Take away the # of a field to use it; adze agents check looks for mistakes.
# tools: Read, Glob, Grep          # only these; without it, all. mcp__SERVER is all of a server
# disallowedTools: Write, Edit     # without these
# model: inherit                   # a model, an alias, or small: the small one beside that of the session
# effort: medium                   # none, minimal, low, medium, high, xhigh, max, or a number of tokens
# permissionMode: plan             # never looser than that of the session
# maxTurns: 50                     # most requests
# skills: [name]                   # whose texts it has from the start
# memory: project                  # user, project or local: it keeps notes of its own
# mcpServers: [name]               # servers that are configured, or some of its own
# background: true                 # it works in the background, whatever the call says
# omitClaudeMd: true               # it reads no AGENTS.md and CLAUDE.md
# color: blue
---
You are …

1. What to do first, and how to see that it worked.
2. What to do then.

Report what you found or did, how you know, and what you did not check.
`
}

// A Draft is a file that is to be begun.
type Draft struct {
	Top   string // a folder out of which no link leads
	Below string // the file in it
	Text  string
}

// DraftOf is the file of a new skill or agent: of the scope project below root, else below the person's
// own folder.
func DraftOf(k Kind, scope, own, root, name, about string) (Draft, error) {
	below, text := filepath.Join("skills", name, skillFile), Template(name, about)
	if k == Agents {
		below, text = filepath.Join("agents", name+".md"), NewAgent(name, about)
	}
	switch scope {
	case "user":
		return Draft{own, below, text}, nil
	case "project":
		return Draft{root, filepath.Join(".adze", below), text}, nil
	}
	return Draft{}, fmt.Errorf("there is no scope %q: there are user and project", clip.Visible(scope))
}

// File is its path.
func (d Draft) File() string { return filepath.Join(d.Top, d.Below) }

// Begin writes it. A file that is there stays, and is an error (fs.ErrExist).
func (d Draft) Begin() error {
	r, err := os.OpenRoot(d.Top)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(d.Top, 0o700); err == nil {
			r, err = os.OpenRoot(d.Top)
		}
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.MkdirAll(filepath.Dir(d.Below), 0o755); err != nil {
		return err
	}
	return safe.Make(r, safe.File{Name: d.Below, Mode: 0o644, Text: []byte(d.Text)})
}
