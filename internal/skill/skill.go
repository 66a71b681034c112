package skill

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
)

// Bounds.
const (
	maxBody        = 100_000 // characters of a skill's text
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
	// Workflows are scripts (package workflow), which people can call as they call commands.
	Workflows Kind = "workflow"
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
	// Of is whose format commands have.
	Of Dialect
	// Deep: folders of it that are no skills are looked through as well.
	Deep bool

	space string // stands before every name
	flat  bool   // only files directly in it count
}

// A Problem is something that cannot be used, or not as it was meant.
type Problem struct {
	File string
	Line int // from 1; 0 is the whole file
	Text string
	// Used: the thing works all the same, or is none that anybody misses.
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
	Workflow   bool   // a script, see Script
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
	of    Dialect
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
	Thinking   int    // tokens that it may think in the place of Effort; 0 leaves it to that
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
	NoModel    bool   // models are not told of it, and start none
	NoMemory   bool   // it reads no memory files
	// Observers are the agents that watch over its work, at most MaxObservers, and ToObservers
	// is what they are told with each look.
	Observers   []string
	ToObservers string
	Window      int // tokens from which on its conversation is compacted, as if its model had no more; 0: those of the model
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
	As string // its name all the same, "" when it has none
}

func (t Thing) origin() string {
	if t.File == "" || t.File == t.From {
		return t.From
	}
	return fmt.Sprintf("%s (%s)", t.From, t.File)
}
