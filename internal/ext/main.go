package ext

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/order"
)

// An Agent is a definition that a session can begin as.
type Agent = skill.Agent

// agentWait bounds how long a start waits for the definition that it names.
const agentWait = 30 * time.Second

// Main is the definition that sessions begin as: the one of this name, or, with "",
// the one that an active plugin names; nil is none. note says why a plugin's does
// not count.
func (f *Folder) Main(name string) (a *Agent, note string, err error) {
	by := ""
	if name == "" && (len(f.conf.PluginDirs) > 0 || len(f.conf.Live.Config().EnabledPlugins) > 0) {
		for _, p := range f.plugins().list {
			if p.Agent != "" {
				name, by = p.Agent, p.Name
			}
		}
	}
	if name == "" {
		return nil, "", nil
	}
	s := f.opened()
	if s == nil {
		return nil, "", nil
	}
	list, _ := s.Contributions(agentWait)
	lib := extension.Library(list...)
	for _, n := range []string{by + ":" + name, name} {
		if d, ok := lib.Agent(n); ok {
			a, err := f.settled(d)
			return a, "", err
		}
	}
	shown := clip.Line(clip.Visible(name), 100)
	if by != "" {
		return nil, fmt.Sprintf("the plugin %s has sessions begin as the agent %s, which there is not", by, shown), nil
	}
	return nil, "", &hint.Mistake{Why: lib.NoAgent(name), What: "adze agents list shows those there are"}
}

// Agent is the definition of a name among those that models of the session can start agents by; "" is the
// usual one.
func (x *Session) Agent(name string) (*Agent, error) {
	lib := x.desk.Library()
	d, ok := lib.Agent(cmp.Or(name, "general-purpose"))
	switch {
	case !ok:
		return nil, errors.New(lib.NoAgent(name))
	case d.NoModel:
		return nil, fmt.Errorf("the agent %s is for people only (disable-model-invocation): adze --agent %s begins a session as it", d.Name, hint.Shell(d.Name))
	}
	return x.conf.Folder.settled(d)
}

// settled is a definition with what its text names.
func (f *Folder) settled(a Agent) (*Agent, error) {
	a, err := skills.WithManual(a, f.conf.Manual)
	if err != nil {
		return nil, fmt.Errorf("the manual for the agent %s: %w", a.Name, err)
	}
	return &a, nil
}

// Workflows are what the session knows of workflows.
func (x *Session) Workflows() *skills.Desk { return x.desk }

// Definitions are those of the session, the person's before those of adze.
func (x *Session) Definitions() []Agent {
	list := slices.Clone(x.desk.Library().Agents())
	order.By(list, func(a, b Agent) int {
		switch {
		case a.BuiltIn == b.BuiltIn:
			return 0
		case b.BuiltIn:
			return -1
		}
		return 1
	})
	return list
}

// BeginAgent writes a definition to fill in, of the scope user or project, and returns its path.
func BeginAgent(p settings.Paths, scope, name string) (file string, err error) {
	if why := skill.BadName(name); why != "" {
		return "", fmt.Errorf("the name %q %s: it is a-z, 0-9 and -", clip.Line(clip.Visible(name), 80), why)
	}
	d, err := skill.DraftOf(skill.Agents, scope, p.Folders.Config, p.Root, name, "")
	if err != nil {
		return "", err
	}
	if err := d.Begin(); errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("there is an agent %s already: %s", name, d.File())
	} else if err != nil {
		return "", fmt.Errorf("begin %s: %w", d.File(), err)
	}
	return d.File(), nil
}

// Agents are the definitions that models of the session can start agents by.
func (x *Session) Agents() []Agent {
	return slices.DeleteFunc(x.Definitions(), func(a Agent) bool { return a.NoModel })
}

// serve has the MCP servers that an agent's definition holds there beside those that
// are configured. Names alone mean servers that are configured anyway.
func (f *Folder) serve(a Agent) (bad []string) {
	list, _, bad := f.agentServers(a)
	if len(list) == 0 {
		return bad
	}
	f.mu.Lock()
	f.mains, f.served = list, make(chan struct{})
	f.waiting = append(f.waiting, f.served)
	f.mu.Unlock()
	f.Refresh()
	return bad
}

// agentServers are the servers that a definition holds, and the names of those that it means: an object by name, or a list
// of names and of such objects. --strict-mcp-config leaves only those of --agents.
func (f *Folder) agentServers(a Agent) (out []servers.Given, names, bad []string) {
	if a.Servers == nil || f.conf.Strict && a.Scope != "flag" {
		return nil, nil, nil
	}
	from := config.Origin{Scope: config.Flag, File: a.File, From: "the agent " + a.Name}
	if !slices.Contains([]string{"flag", "project", "local"}, a.Scope) {
		from.Scope = config.User
	}
	add := func(raw json.RawMessage) bool {
		var by map[string]json.RawMessage
		if json.Unmarshal(raw, &by) != nil {
			return false
		}
		for name, def := range by {
			if string(def) == "null" || string(def) == "{}" {
				names = append(names, name)
				continue
			}
			out = append(out, servers.Given{Name: name, JSON: def, Origin: from, Repo: slices.Contains([]string{"project", "local", "added folder"}, a.Scope)})
		}
		return true
	}
	var list []json.RawMessage
	if add(a.Servers) {
		list = nil
	} else if err := json.Unmarshal(a.Servers, &list); err != nil {
		bad = append(bad, from.From+": mcpServers is neither an object nor a list")
	}
	for _, x := range list {
		var name string
		switch {
		case json.Unmarshal(x, &name) == nil:
			names = append(names, name)
		case !add(x):
			bad = append(bad, from.From+": mcpServers holds something that is neither a name nor a server")
		}
	}
	order.By(out, func(a, b servers.Given) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(names)
	return out, names, bad
}

// AgentMemory is the folder in which a definition keeps its own notes, "" when it
// has none. Where another agent keeps them already, they are there.
func AgentMemory(p settings.Paths, a Agent) string {
	name := strings.TrimLeft(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:/\`, r) {
			return '-'
		}
		return r
	}, a.Name), ".")
	own, theirs := "", ""
	switch a.Memory {
	case "user":
		own, theirs = filepath.Join(p.Folders.Config, "agent-memory"), filepath.Join(p.ClaudeDir(p.Home), "agent-memory")
	case "project":
		own, theirs = filepath.Join(p.Root, ".adze", "agent-memory"), filepath.Join(p.Root, ".claude", "agent-memory")
	case "local":
		own, theirs = filepath.Join(p.Root, ".adze", "agent-memory-local"), filepath.Join(p.Root, ".claude", "agent-memory-local")
	}
	if own == "" || name == "" {
		return ""
	}
	if _, err := regular.Read(filepath.Join(theirs, name, "MEMORY.md"), maxContext); err == nil {
		return filepath.Join(theirs, name)
	}
	return filepath.Join(own, name)
}

// preloaded are the texts of the skills that a definition names. What they would run
// is not run: it stands there as it is written. bad says which cannot be had.
func preloaded(lib skill.Library, a Agent, v skill.Use) (out []prompt.Note, bad []string) {
	for _, name := range a.Skills {
		s, ok := lib.Find(name)
		if !ok {
			if plugin, _, has := strings.Cut(a.Name, ":"); has {
				s, ok = lib.Find(plugin + ":" + name)
			}
		}
		if !ok {
			bad = append(bad, fmt.Sprintf("the agent %s names the skill %s, which there is not", a.Name, clip.Line(clip.Visible(name), 100)))
			continue
		}
		body, err := s.Body()
		if err != nil {
			bad = append(bad, fmt.Sprintf("the agent %s: the skill %s: %v", a.Name, s.Name, err))
			continue
		}
		var b strings.Builder
		for _, p := range s.Expand(body, v) {
			switch p := p.(type) {
			case skill.Words:
				b.WriteString(string(p))
			case skill.File:
				b.WriteString("@" + string(p))
			case skill.Run:
				b.WriteString("`" + string(p) + "`")
			}
		}
		text := "# The skill " + s.Name + "\n"
		if s.Dir != "" && !s.Command {
			text += "Its files are in " + s.Dir + ".\n"
		}
		out = append(out, prompt.Note{Name: "skill " + s.Name, Text: text + "\n" + strings.TrimSpace(b.String()), Lent: true})
	}
	return out, bad
}

// mainHooks are the hooks of the agent that the session is.
func (x *Session) mainHooks() (c extension.Contribution, bad []string) {
	a := x.conf.Main
	if a == nil {
		return c, nil
	}
	c.From = extension.Origin{Kind: extension.FromAgent, Name: a.Name, Where: a.From}
	at := hook.Place{From: c.From.String(), Scope: a.Scope}
	c.Hooks, bad = x.parse(a.Hooks, at)
	if x.conf.Parent != "" {
		asAgent(c.Hooks)
	}
	return c, bad
}
