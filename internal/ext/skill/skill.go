// Package skill reads what people wrote down for a model to use by name: skills
// (a folder with SKILL.md), commands (one file), definitions of agents, and output
// styles. It finds them in the places it is given, reads regular files there and
// nothing else, bounds what it reads, and says in a line what it cannot use. It
// runs nothing, asks nobody and decides nothing: whether a place may be looked at
// is the business of who names it.
//
// Facts about the formats are from agentskills.io (specification and the guide for
// clients) and from the public documentation of the agents whose files these are.
package skill

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Bounds.
const (
	MaxBody        = 100_000 // characters of a skill's text
	MaxDescription = 1024    // characters (agentskills.io)
	MaxEntries     = 1000    // files and folders of one place
	maxFile        = 1 << 20 // bytes; a larger file is not read
	maxHead        = 64 << 10
	maxDepth       = 6 // of folders of commands
	maxNames       = 20_000
	maxProblems    = 200
)

// A Kind is what a file defines.
type Kind string

// Kinds.
const (
	Skills   Kind = "skill"
	Commands Kind = "command"
	Agents   Kind = "agent"
	Styles   Kind = "output style"
)

// A Place is a folder, or one file, where things of a kind are.
type Place struct {
	Dir  string // absolute; of skills also one that holds SKILL.md itself
	Kind Kind
	// From is who brings it, in words for people: "the plugin fmt@market". ""
	// says the file alone.
	From string
	// Scope is what the place is of, for lists: managed, project, user, plugin …
	Scope string
	// Roots are resolved folders that links may lead into besides Dir itself.
	Roots []string
	// Plugin, when set, stands before every name, with a colon.
	Plugin string
	// Root and Data are the folders of that plugin.
	Root, Data string
	// BuiltIn things are adze's own: they need no permission, and the model is
	// always told of them in full.
	BuiltIn bool
	// Text, when not nil, are the files, by their path below Dir, with slashes:
	// nothing is read from disk.
	Text map[string]string
	// Trusted reports whether a file may be used: its content must be what a person
	// agreed to. It is asked for each file when it is read, also when the skill is
	// used. nil trusts all.
	Trusted func(path string, text []byte) bool
}

// A Problem is something that cannot be used, or not as it was meant.
type Problem struct {
	File string
	Line int // from 1; 0 is the whole file
	Text string
	// Used: the thing works all the same.
	Used bool
	// Untrusted: its content is not what a person agreed to.
	Untrusted bool
}

// String is one line for people.
func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at += ":" + strconv.Itoa(p.Line)
	}
	if at == "" {
		return p.Text
	}
	return at + ": " + p.Text
}

// A Thing is what all kinds have in common.
type Thing struct {
	Name        string // as it is called, with namespace and plugin
	Description string // what the model and people read; one line
	File        string // "" for what came as JSON
	From        string // who brings it, for people: never empty
	Scope       string
	BuiltIn     bool
}

// A Skill is a skill or a command.
type Skill struct {
	Thing
	Command    bool   // of one file
	When       string // when to use it; the model reads it behind the description
	Hint       string // for the arguments
	Arguments  []string
	NoModel    bool // the model is not offered it, and cannot use it
	NoPerson   bool // it is not among the slash commands
	Allowed    []string
	Denied     []string // rules, in the syntax of settings
	Model      string   // "" keeps what answers
	Effort     string
	Fork       bool // it runs in an agent of its own
	Agent      string
	Background bool
	Paths      []string // globs: it appears when such a file is touched; none is always
	Shell      string
	Hooks      json.RawMessage // as in settings; nil has none
	License    string
	Compatible string
	Metadata   map[string]string
	Dir        string // of the skill's own files
	Root, Data string // of its plugin, "" without

	place Place
	path  string // of the file: on disk, or in the place's Text
	toml  bool
	sum   [sha256.Size]byte // of the content when it was loaded
	held  bool              // only that content may be used
}

// An Agent is a definition of an agent.
type Agent struct {
	Thing
	Prompt     string
	Tools      []string // nil: all of them
	Denied     []string // tools that it does not have
	Model      string   // "" or a name; "inherit" is ""
	Effort     string
	Mode       string // of permissions, "" is its parent's
	MaxTurns   int    // 0: no bound of its own
	Skills     []string
	Servers    json.RawMessage // names and definitions of MCP servers
	Hooks      json.RawMessage
	Memory     string // user, project or local
	Background bool
	Isolation  string // "" or worktree
	Color      string
	Initial    string // a first prompt, before the one it is given
}

// A Style is an output style.
type Style struct {
	Thing
	Text string
	// Keep adds it to what instructions say about work on code; otherwise it
	// stands in the place of that.
	Keep bool
}

// A Hidden is something that another one of the same name takes the place of.
type Hidden struct {
	Kind Kind
	Thing
	By string // who brings the other one
}

// A Library is what was found. It does not change.
type Library struct {
	skills []Skill
	agents []Agent
	styles []Style
	hidden []Hidden
}

// Skills are the skills and commands, by name.
func (l Library) Skills() []Skill { return l.skills[:len(l.skills):len(l.skills)] }

// Agents are the definitions of agents, by name.
func (l Library) Agents() []Agent { return l.agents[:len(l.agents):len(l.agents)] }

// Styles are the output styles, by name.
func (l Library) Styles() []Style { return l.styles[:len(l.styles):len(l.styles)] }

// Hidden are the things that a nearer one of the same name hides.
func (l Library) Hidden() []Hidden { return l.hidden[:len(l.hidden):len(l.hidden)] }

// Find finds a skill or a command by its name.
func (l Library) Find(name string) (Skill, bool) {
	return find(l.skills, func(s *Skill) *Thing { return &s.Thing }, name)
}

// Agent finds a definition by its name.
func (l Library) Agent(name string) (Agent, bool) {
	return find(l.agents, func(a *Agent) *Thing { return &a.Thing }, name)
}

// Style finds an output style by its name; case does not count.
func (l Library) Style(name string) (Style, bool) {
	for _, s := range l.styles {
		if strings.EqualFold(s.Name, name) {
			return s, true
		}
	}
	return Style{}, false
}

func find[T any](list []T, thing func(*T) *Thing, name string) (T, bool) {
	for i := range list {
		if thing(&list[i]).Name == name {
			return list[i], true
		}
	}
	var none T
	return none, false
}

// Same reports whether two libraries say the same.
func (l Library) Same(m Library) bool {
	same := func(a, b Skill) bool {
		return a.sum == b.sum && a.Name == b.Name && a.File == b.File && a.From == b.From
	}
	return slices.EqualFunc(l.skills, m.skills, same) && reflect.DeepEqual(l.agents, m.agents) && reflect.DeepEqual(l.styles, m.styles) && slices.Equal(l.hidden, m.hidden)
}

// Held is the library whose skills can be used as they were read, and not as their
// files may say by now.
func (l Library) Held() Library {
	out := l
	out.skills = slices.Clone(l.skills)
	for i := range out.skills {
		out.skills[i].held = true
	}
	return out
}

// Changed are the files of skills and commands that one of two libraries has alone, or
// with another content, sorted. Those of plugins and adze's own are not among them.
func (l Library) Changed(m Library) (files []string) {
	sums := func(l Library) map[string][sha256.Size]byte {
		out := map[string][sha256.Size]byte{}
		for _, s := range l.skills {
			if s.File != "" && !s.BuiltIn && s.place.Plugin == "" {
				out[s.File] = s.sum
			}
		}
		return out
	}
	was, now := sums(l), sums(m)
	for file, sum := range now {
		if old, had := was[file]; !had || old != sum {
			files = append(files, file)
		}
	}
	for file := range was {
		if _, has := now[file]; !has {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

// Without is the library in which these names of skills are taken, by whom they
// are mapped to.
func (l Library) Without(taken map[string]string) Library {
	out := l
	out.skills, out.hidden = nil, l.Hidden()
	for _, s := range l.skills {
		if by, ok := taken[s.Name]; ok {
			out.hidden = append(out.hidden, Hidden{kindOf(s), s.Thing, by})
			continue
		}
		out.skills = append(out.skills, s)
	}
	return out
}

func kindOf(s Skill) Kind {
	if s.Command {
		return Commands
	}
	return Skills
}

func (t Thing) origin() string {
	if t.File == "" || t.File == t.From {
		return t.From
	}
	return fmt.Sprintf("%s (%s)", t.From, t.File)
}
