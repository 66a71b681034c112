package ask

import (
	"encoding/json"
	"time"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// Facts are a session as it is now: the Data of Status. Paths are absolute.
type Facts struct {
	ID      string        `json:"id"`
	Dir     string        `json:"dir"`            // where it began to work
	Root    string        `json:"root,omitempty"` // of the project
	Home    string        `json:"home,omitempty"` // the person's, "" when it is not known
	Branch  string        `json:"branch,omitempty"`
	Model   string        `json:"model"`            // provider/model
	Called  string        `json:"called,omitempty"` // the model as people read it, "" when that is not known
	Effort  string        `json:"effort,omitempty"` // how hard the model thinks, "" when nobody said
	Mode    policy.Mode   `json:"mode"`
	Modes   []policy.Mode `json:"modes,omitempty"`  // those that a person goes through
	Window  int           `json:"window,omitzero"`  // of the model in tokens, 0 when unknown
	Room    int           `json:"room,omitzero"`    // what of it a conversation may fill
	Earlier uint64        `json:"earlier,omitzero"` // the number of the last event of an earlier run
	Kept    bool          `json:"kept,omitzero"`    // it can be resumed
	Last    uint64        `json:"last"`             // the number of the newest event by now
	Version string        `json:"version"`          // of adze
	// Transcript is the file of what happened by now in the published form, for programs;
	// "" when there is none, or Status did not want it.
	Transcript string `json:"transcript,omitempty"`
}

// An OpenSession is a session that is open in a process, as it is now.
type OpenSession struct {
	Facts
	Title    string    `json:"title,omitempty"`    // or its first prompt
	Doing    Doing     `json:"state"`              // what it does
	Question string    `json:"question,omitempty"` // of Asking: what it is about
	Since    time.Time `json:"since"`              // when it was opened here
	Changed  time.Time `json:"changed,omitzero"`   // when its newest event happened, zero before the first
	Prompt   uint64    `json:"prompt"`             // the number of the event before its newest prompt
}

// Doing is what a session does.
type Doing string

// Values of Doing.
const (
	Idle    Doing = "idle"
	Working Doing = "working"
	Asking  Doing = "asking" // it waits for a person
)

// A SessionList is the sessions that can be gone on with: the Data of Sessions.
type SessionList struct {
	List   []Saved `json:"list"`
	Branch string  `json:"branch,omitempty"` // the one that is checked out here
}

// A Saved is a session that can be gone on with.
type Saved struct {
	Choice
	Title  string `json:"title,omitempty"` // as it can be changed; Name may be its first prompt
	Branch string `json:"branch,omitempty"`
	Parent string `json:"parent,omitempty"` // the session it is a copy of (a fork)
	// Elsewhere is the command that goes on with it, when it works in another
	// project; "" when it opens here.
	Elsewhere string `json:"elsewhere,omitempty"`
	// Holder says who has it open, "" where nobody has.
	Holder string `json:"holder,omitempty"`
}

// A RuleSet is what permissions rest on now: the Data of Rules.
type RuleSet struct {
	List []Rule      `json:"list"`
	Dirs []string    `json:"dirs"`
	Mode policy.Mode `json:"mode"`
	// Unsafe says why nothing is allowed without a question, "" where that is not so.
	Unsafe string `json:"unsafe,omitempty"`
}

// A Rule is a permission rule and where it stands.
type Rule struct {
	Effect policy.Effect `json:"effect"` // as "allow", "ask" or "deny"
	Text   string        `json:"text"`   // "Bash(go test *)"
	Scope  policy.Scope  `json:"scope"`
	Source string        `json:"source"`          // "file:line", "--allowed-tools", …
	Doubt  string        `json:"doubt,omitempty"` // why it may not do what was meant
}

// Claims are what a folder brings that could run or steer, when nobody has decided
// about it yet: the Data of Trust.
type Claims struct {
	Folder string   `json:"folder"`
	Sum    string   `json:"sum"`            // of all that it brings
	List   []string `json:"list,omitempty"` // what it brings, one a line
	// Changed is a diff of what was trusted and what there is now, "" where it
	// was not trusted before.
	Changed string `json:"changed,omitempty"`
	// Waiting are MCP servers of the person's that wait for a folder to be trusted which
	// brings nothing; each with what becomes of it until then.
	Waiting []string `json:"waiting,omitempty"`
	// Refused says why it cannot be trusted at all, "" when it can.
	Refused string `json:"refused,omitempty"`
}

// ServerDo is what can be done with an MCP server.
type ServerDo string

// Values of ServerDo. What a person has to do at a terminal is not among them: to sign
// in, and to approve of a server.
const (
	Enable    ServerDo = "enable" // until adze ends, as Disable
	Disable   ServerDo = "disable"
	Reconnect ServerDo = "reconnect"
	Logout    ServerDo = "logout"
)

// A Server is an MCP server as it is now. Of what only one of Name has (see Servers), Notes and Log are.
type Server struct {
	Name     string       `json:"name"`
	State    string       `json:"state"` // as in the event "server_changed"
	Why      string       `json:"why,omitempty"`
	Scope    string       `json:"scope"` // where it is configured: "user", "project", …
	Origin   string       `json:"origin"`
	Program  string       `json:"program"`           // or its URL
	Itself   string       `json:"itself,omitempty"`  // as it calls itself
	Version  string       `json:"version,omitempty"` // as it says
	Protocol string       `json:"protocol,omitempty"`
	Inside   bool         `json:"inside,omitzero"` // the program serves it that drives adze
	Tools    []ServerTool `json:"tools,omitempty"`
	Notes    []string     `json:"notes,omitempty"` // what of it is not as it said
	Log      []string     `json:"log,omitempty"`   // what it wrote last
}

// A ServerTool is a tool of a server.
type ServerTool struct {
	Name   string `json:"name"` // as the model and rules know it
	About  string `json:"about,omitempty"`
	Tokens int    `json:"tokens"` // of the window
}

// OfferKind is what of Offers is shown.
type OfferKind string

// Values of OfferKind.
const (
	Skills OfferKind = "skills" // and commands
	Agents OfferKind = "agents"
)

// A Definition is that of an agent.
type Definition struct {
	Name  string   `json:"name"`
	About string   `json:"about"`
	Model string   `json:"model,omitempty"` // "" is that of the session
	Tools []string `json:"tools,omitempty"` // none is all
	From  string   `json:"from"`
	Scope string   `json:"scope"`
	File  string   `json:"file,omitempty"` // "" where no file of a person's is it
	// Denied: a rule has no model start it. Person: no model is offered it.
	Denied bool `json:"denied,omitzero"`
	Person bool `json:"person,omitzero"`
}

// DefinitionDo is what is done with a definition.
type DefinitionDo string

// Values of DefinitionDo.
const (
	BeginDefinition DefinitionDo = "begin" // writes a file to fill in
	AllowDefinition DefinitionDo = "allow" // takes back what DenyDefinition did
	DenyDefinition  DefinitionDo = "deny"  // a rule of the person's settings has no model start it
)

// ServersChanged are the names of servers that came with Serve, and that went: its Data.
type ServersChanged struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

// A Model is one that can be used: Models has a list as Data.
type Model struct {
	ID       string   `json:"id"` // provider/model
	Provider string   `json:"provider"`
	Name     string   `json:"name"`               // for people
	Window   int      `json:"window,omitzero"`    // tokens, 0 when unknown
	Efforts  []string `json:"efforts,omitempty"`  // levels of effort that it takes
	Thinking string   `json:"thinking,omitempty"` // how it can be made to think: "adaptive" decides by itself how much
}

// A Filling is what fills the window of a session's model: the Data of Context. Tokens are
// estimated.
type Filling struct {
	Instructions []Piece `json:"instructions"`
	Tools        []Piece `json:"tools"`
	Talk         int     `json:"talk"`            // tokens of the conversation
	Window       int     `json:"window,omitzero"` // tokens, 0 when unknown
}

// A Piece is a named part of a Filling.
type Piece struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// SettingsNow are the settings that say something, and what the next request is made with.
// What is secret is masked.
type SettingsNow struct {
	List   []Setting `json:"list"`
	Model  string    `json:"model"`
	Effort string    `json:"effort,omitempty"` // "" is the model's own
}

// A Setting is one by its name in adze's own files.
type Setting struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Scope  string          `json:"scope"` // "user", "project", "flag", …
	Origin string          `json:"origin"`
}

// A HookSet is the hooks that count: the Data of Hooks.
type HookSet struct {
	List []Hook `json:"list"`
	Off  bool   `json:"off,omitzero"` // the settings have all of them off
}

// A Hook is one in a list.
type Hook struct {
	Event   string  `json:"event"`
	Matcher string  `json:"matcher,omitempty"`
	If      string  `json:"if,omitempty"`
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Timeout float64 `json:"timeout_seconds"`
	From    string  `json:"from"`
	Scope   string  `json:"scope"`
}

// Called is what a tool or a resource came to.
type Called struct {
	Text   string     `json:"text"`
	Images []op.Image `json:"images,omitempty"`
}

// A File is what was read of one.
type File struct {
	Text string `json:"text"`
	Path string `json:"path"`         // absolute
	Cut  bool   `json:"cut,omitzero"` // there is more
}

// A Written is the end of what a task in the background wrote.
type Written struct {
	Text  string `json:"text"`
	Total int64  `json:"total"`        // bytes that it wrote
	Cut   bool   `json:"cut,omitzero"` // there is more before
}

// A Task is work beside the turns of a session.
type Task struct {
	// ID names it for Output and for op.StopTask. A command or a monitor of an agent has the
	// agent's ID and a "/" before its own.
	ID     string `json:"id"`
	Kind   string `json:"kind"`             // as in the event "task_started"
	Name   string `json:"name,omitempty"`   // of an agent, "" for none
	What   string `json:"what"`             // the command, or what else it does
	Status string `json:"status"`           // TaskRuns, TaskAsks, or how it ended
	Why    string `json:"why,omitempty"`    // what it asks, or why it ended so
	Owner  string `json:"owner,omitempty"`  // the ID of the agent that it works for, "" for the session
	Output string `json:"output,omitempty"` // the file with all that it wrote, once it has ended
	// Started is zero where that is not known; Took is how long it ran by now, or until its
	// end, 0 where that is not known.
	Started time.Time     `json:"started,omitzero"`
	Took    time.Duration `json:"took,omitzero"`
	// Waits: a call of the owner waits for its end.
	Waits bool `json:"waits,omitzero"`
	// What follows is of agents. Session is the ID of an agent's own session; Run and Phase
	// are the workflow that it is of, by the ID of its task, and the part of that.
	Session string  `json:"session,omitempty"`
	Run     string  `json:"run,omitempty"`
	Phase   string  `json:"phase,omitempty"`
	Doing   string  `json:"doing,omitempty"`   // now, in a few words
	Summary string  `json:"summary,omitempty"` // what it works on, in a line of a model
	Model   string  `json:"model,omitempty"`
	Effort  string  `json:"effort,omitempty"`
	Calls   int     `json:"calls,omitzero"`
	Tokens  int     `json:"tokens,omitzero"`
	Cost    float64 `json:"cost,omitzero"` // US dollars
	// Worktree is a folder with work that an agent left, "" for none.
	Worktree string `json:"worktree,omitempty"`
}

// Values of Task.Status beside those of the event "task_ended".
const (
	TaskRuns  = "running"
	TaskAsks  = "asking" // it waits for a person's answer
	TaskEnded = "ended"  // of what has no other status: it came to its end, with the exit code of Why where that is not 0
)

// Runs reports whether it has not ended.
func (t Task) Runs() bool { return t.Status == TaskRuns || t.Status == TaskAsks }
