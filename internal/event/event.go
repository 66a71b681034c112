// Package event is the one vocabulary for what happened in a session. The
// log stores it, front ends draw it, and the wire carries it unchanged.
package event

import (
	"encoding/json"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/schedule"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/view"
)

// A Seq numbers a session's durable events 1, 2, 3, … without gaps.
type Seq uint64

// An Event is one thing that happened.
type Event struct {
	Seq  Seq // of the event; for a Live body, of the last durable event before it
	Time time.Time
	Body Body
}

// A Body is one kind of happening.
//
//sumtype:decl
type Body interface{ body() }

// A Live body is shown while it happens and never stored: a durable body that
// follows repeats everything it said.
type Live interface {
	Body
	live()
}

// Schema is the version of the stored form, written in the first line of a log.
const Schema = 1

// Durable bodies; those that change the conversation stand in boundary.go.
type (
	// SessionStarted is the first event of a log.
	SessionStarted struct {
		ID      string `json:"id"`
		Schema  int    `json:"schema"`
		Version string `json:"version"` // of adze
		Dir     string `json:"dir"`     // where it was started
		Root    string `json:"root,omitempty"`
		Branch  string `json:"branch,omitempty"`
		Parent  string `json:"parent,omitempty"` // the session it is a copy of (a fork)
		At      Seq    `json:"at,omitempty"`     // how much of the parent it repeats; with Child, how much comes before it and is only there
		Child   *Child `json:"child,omitempty"`  // for whom it works; nil: for a person
	}
	// Resumed says that a process took up the log again.
	Resumed struct {
		Version string `json:"version"`
		Dir     string `json:"dir"`
		Torn    int64  `json:"torn,omitempty"` // bytes of a torn last line that were set aside
	}
	// Situated is what the model was told of where it is (environment, memory):
	// the first one stands in the instructions for as long as the session
	// lasts, so that a provider's cache stays good; each later one says what
	// was different by then, which the model was told beside its newest input.
	Situated struct {
		Parts []Situation `json:"parts"`
	}
	// InputAccepted is a prompt that will be given to the model. Steer is true
	// when it joined a running turn.
	InputAccepted struct {
		ID       string      `json:"id"`
		Text     string      `json:"text"`
		Images   []llm.Image `json:"images,omitempty"`
		ImagesAt []int       `json:"imagesAt,omitempty"` // as in op.Prompt
		Typed    op.Span     `json:"typed,omitzero"`     // what of Text a person typed
		From     *op.Sender  `json:"from,omitempty"`     // as in op.Prompt
		Attached []Attached  `json:"attached,omitempty"`
		Steer    bool        `json:"steer,omitempty"`
		// Read, when not empty, is what the model reads in the place of Text: what a
		// slash command says. Skill is what it brings for the turn.
		Read  string        `json:"read,omitempty"`
		Skill *effect.Skill `json:"skill,omitempty"`
		// Changed is what the commands of that skill changed on disk, nil for nothing.
		Changed *effect.Changed `json:"changed,omitempty"`
		// Hidden input comes from the loop itself (resume where you stopped).
		Hidden bool `json:"hidden,omitempty"`
	}
	// InputQueued is a prompt that arrived. It is durable but no part of the
	// conversation until an InputAccepted with its ID follows,
	// and never when an InputRemoved does.
	InputQueued struct {
		ID       string      `json:"id"`
		Text     string      `json:"text"`
		Images   []llm.Image `json:"images,omitempty"`
		ImagesAt []int       `json:"imagesAt,omitempty"` // as in op.Prompt
		Typed    op.Span     `json:"typed,omitzero"`     // what of Text a person typed
		From     *op.Sender  `json:"from,omitempty"`     // as in op.Prompt
		Attached []Attached  `json:"attached,omitempty"`
		Tokens   int         `json:"tokens,omitempty"`  // the budget of the turn that it begins
		Later    bool        `json:"later,omitempty"`   // it joins no turn that runs
		Command  bool        `json:"command,omitempty"` // Text is a slash command with its arguments
		Rests    bool        `json:"rests,omitempty"`   // it begins no turn
	}
	// InputRemoved takes back a queued prompt: a person did, or a hook refused
	// it.
	InputRemoved struct {
		ID  string `json:"id"`
		Why string `json:"why,omitempty"` // of a refusal
	}
	TurnStarted struct {
		ID    string      `json:"id"`
		Model string      `json:"model"`
		Wish  string      `json:"wish,omitempty"` // the name of the session's model, where that is not Model
		Mode  policy.Mode `json:"mode"`
	}
	// Replied is one finished reply of the model.
	Replied struct {
		Message  llm.Message   `json:"message"`
		Stop     llm.Stop      `json:"stop"`
		Usage    llm.Usage     `json:"usage"`
		Model    string        `json:"model"` // provider/model that answered
		ID       string        `json:"id,omitempty"`
		Cost     float64       `json:"cost,omitempty"` // USD
		Priced   bool          `json:"priced,omitempty"`
		First    time.Duration `json:"first,omitempty"` // time to the first chunk
		Took     time.Duration `json:"took,omitempty"`
		Attempts int           `json:"attempts,omitempty"`
		// Tools are those that the request listed, in order, when they are others than
		// in the request before: of adze's own only the names, so that a later run lists
		// them in the same order, and those of servers whole.
		Tools []llm.Spec `json:"tools,omitempty"`
	}
	// Dropped notes a partial reply that was discarded, with the calls of it
	// that had started; their results are not part of the conversation. What
	// it cost, if known, counts all the same.
	Dropped struct {
		Reason string    `json:"reason"`
		Calls  []string  `json:"calls,omitempty"`
		Model  string    `json:"model,omitempty"`
		Usage  llm.Usage `json:"usage,omitzero"`
		Cost   float64   `json:"cost,omitempty"`
		Priced bool      `json:"priced,omitempty"`
	}
	// Spent is a request to a model that is no reply of the conversation.
	Spent struct {
		For    string    `json:"for"` // what it was made for: ForRuling and the like
		Model  string    `json:"model"`
		Usage  llm.Usage `json:"usage"`
		Cost   float64   `json:"cost,omitempty"` // USD
		Priced bool      `json:"priced,omitempty"`
		Agent  string    `json:"agent,omitempty"` // the ID of the agent that made it, "" for none
	}
	// Asked is an open question to a person.
	Asked struct {
		Call    string          `json:"call"`
		Tool    string          `json:"tool"`
		Input   json.RawMessage `json:"input,omitempty"`
		Title   string          `json:"title,omitempty"`
		Verdict policy.Verdict  `json:"verdict"`
		About   string          `json:"about,omitempty"` // AboutCost: whether the turn goes on; then there is no call
		Agent   *Agent          `json:"agent,omitempty"` // that asks; nil: the session itself
		View    view.Block      `json:"-"`
	}
	// Answered settles a question.
	Answered struct {
		op.Answer    // without By
		By        By `json:"by"`
	}
	ToolStarted struct {
		Call  string          `json:"call"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input,omitempty"`
		Title string          `json:"title,omitempty"`
		// Fold, when set, is what the call looks at: see tool.Plan.
		Fold string `json:"fold,omitempty"`
		// Shell: it runs a command, which can be moved to the background.
		Shell bool `json:"shell,omitempty"`
	}
	// ToolFinished is the result of a call. It also comes without a
	// ToolStarted, for a call that was refused. ToolStarted and ToolFinished
	// may come before the Replied that holds their call, because tools start
	// while the reply still streams; without that Replied they are no part of
	// the conversation.
	ToolFinished struct {
		Call    string         `json:"call"`
		Name    string         `json:"name"`
		Text    string         `json:"text"`
		Images  []llm.Image    `json:"images,omitempty"`
		View    view.Block     `json:"-"`
		IsErr   bool           `json:"is_error,omitempty"`
		Verdict policy.Verdict `json:"verdict"`
		// Denied is true when policy or a person refused the call.
		Denied bool            `json:"denied,omitempty"`
		Input  json.RawMessage `json:"input,omitempty"` // of a denied call
		Took   time.Duration   `json:"took,omitempty"`
		// Effects are what the call changed besides.
		Effects []effect.Effect `json:"-"`
		Spill   string          `json:"spill,omitempty"` // the file that holds the whole result
		Data    Data            `json:"-"`
	}
	// Ran is a command that a person ran by themselves. It is part of the
	// conversation as Text, with the next prompt; no turn begins.
	Ran struct {
		ID      string        `json:"id"` // as in ToolOutput, while it ran
		Command string        `json:"command"`
		Text    string        `json:"text"` // for the model
		View    view.Block    `json:"-"`
		IsErr   bool          `json:"is_error,omitempty"`
		Took    time.Duration `json:"took,omitempty"`
		Dir     string        `json:"dir,omitempty"` // where commands run from now on
	}
	ModelChanged struct {
		Model string `json:"model"`
		Wish  string `json:"wish,omitempty"` // as in TurnStarted
		Cause Cause  `json:"cause,omitempty"`
		Why   string `json:"why,omitempty"`
	}
	ModeChanged struct {
		Mode  policy.Mode `json:"mode"`
		Cause Cause       `json:"cause,omitempty"`
		Why   string      `json:"why,omitempty"`
	}
	Titled struct {
		Title string `json:"title"`
		By    string `json:"by,omitempty"`
	}
	// ToolsChanged says that the model has other tools from the next request on.
	// A request goes on listing what was removed, because providers keep what
	// stays the same; a call of it gets an error.
	// Named are those that it is told of by name only, with Text, and can load;
	// Reworded those of which Text says that they describe themselves in other words
	// than the list does, each with a short hash of its words.
	ToolsChanged struct {
		Added    []string `json:"added,omitempty"`
		Removed  []string `json:"removed,omitempty"`
		Named    []string `json:"named,omitempty"`
		Reworded []string `json:"reworded,omitempty"`
		Text     string   `json:"text,omitempty"` // for the model
	}
	// Extended says what there is besides adze's own from now on. It is whole
	// each time.
	Extended struct {
		Commands []Offer `json:"commands,omitempty"` // slash commands
		Skills   []Offer `json:"skills,omitempty"`   // that the model can use
		Agents   []Offer `json:"agents,omitempty"`
		Plugins  []Offer `json:"plugins,omitempty"`
		Styles   []Offer `json:"styles,omitempty"` // of output, adze's own among them
		Style    string  `json:"style,omitempty"`  // the one in force

		PluginErrors []PluginError `json:"plugin_errors,omitempty"`
	}
	// ServerChanged says how an MCP server is now.
	ServerChanged struct {
		Name  string      `json:"name"`
		State ServerState `json:"state"`
		Why   string      `json:"why,omitempty"`
		From  string      `json:"from,omitempty"` // who configured it, for people
		Tools int         `json:"tools,omitempty"`
	}
	// TaskStarted says that something runs in the background: a call that said
	// so, or one that was moved there. It comes once more of a task whose call waited for
	// it and does not any more.
	TaskStarted struct {
		ID   string `json:"id"`
		Call string `json:"call,omitempty"` // that it came from
		Kind string `json:"kind"`           // what it is: TaskShell and the like
		Text string `json:"text,omitempty"` // the command, or what else it does
		// Agent is who does it, Model what it asks, and Waits says that the call waits for
		// its end; of TaskAgent.
		// Session is the ID of its own session, and After the last event there before it
		// began, or went on.
		Agent   *Agent `json:"agent,omitempty"`
		Session string `json:"session,omitempty"`
		After   Seq    `json:"after,omitempty"`
		Model   string `json:"model,omitempty"`
		Effort  string `json:"effort,omitempty"` // how hard it thinks, "" as the model does
		Waits   bool   `json:"waits,omitempty"`
		// N says which start of the task this is, from 1; its end is told with the same number
		// (op.Sender), once. Of TaskAgent; the others start once.
		N int `json:"n,omitempty"`
		// Run and Phase are the workflow that an agent is of, by the ID of its task, and the
		// part of that.
		Run   string `json:"run,omitempty"`
		Phase string `json:"phase,omitempty"`
		// Worktree is where an agent works that has one of its own.
		Worktree *Worktree `json:"worktree,omitempty"`
		// Schedule is what comes by itself, and when; of TaskSchedule, which goes on in the
		// session's next process.
		Schedule *schedule.Entry `json:"schedule,omitempty"`
	}
	// TaskEnded says that it does not run any more.
	TaskEnded struct {
		ID     string        `json:"id"`
		Exit   int           `json:"exit,omitempty"`   // of a shell command
		Killed string        `json:"killed,omitempty"` // why it was ended, "" when it ended by itself
		Took   time.Duration `json:"took,omitempty"`
		Output string        `json:"output,omitempty"` // the file with all that it wrote
		// Status is how an agent ended, "" of a command. Text is what it came to, or what it
		// was blocked by; Tally what it did since it started or went on.
		Status TaskStatus `json:"status,omitempty"`
		Text   string     `json:"text,omitempty"`
		Tally  Tally      `json:"tally,omitzero"`
		// Did are its calls in that time, and those of its own agents, oldest first; Left is
		// how many others there were. Doubt is why what it did looks suspicious, "" where it
		// does not or nobody looked.
		Did   []Deed `json:"did,omitempty"`
		Left  int    `json:"left,omitempty"`
		Doubt string `json:"doubt,omitempty"`
		// Worktree is what an agent left, with work in it; nil where that is nothing.
		Worktree *Worktree `json:"worktree,omitempty"`
	}
	// TodoChanged says what changed on the list of what is to be done, which a session
	// has in common with the agents that work for it: tasks as they are now, those that
	// are gone with the status deleted. Order, when not empty, names all of them anew.
	TodoChanged struct {
		Tasks []tasklist.Task `json:"tasks"`
		Order []string        `json:"order,omitempty"`
		By    string          `json:"by,omitempty"` // the agent that changed it, "" is the session itself
	}
	// MessageSent is what the session has to say to an agent or to another session. It is on
	// disk before it is delivered; its number in the log is that of the message (op.Sender).
	MessageSent struct {
		To      string  `json:"to"`             // the ID of the receiver's session
		Name    string  `json:"name,omitempty"` // of the receiver, for people
		Text    string  `json:"text"`
		Summary string  `json:"summary,omitempty"` // of Text, for people
		Typed   op.Span `json:"typed,omitzero"`    // what of Text a person typed
		Call    string  `json:"call,omitempty"`    // that sends it
		Input   string  `json:"input,omitempty"`   // the ID of the prompt that it came in, of a person
		// Mode is the permission mode that begins with it, of an approved plan; "" is none.
		Mode policy.Mode `json:"mode,omitempty"`
		Idle bool        `json:"idle,omitempty"` // the session wants to be told when the receiver has nothing more to do
	}
	// MessageSettled says what became of a message: the receiver has it, or it was returned.
	MessageSettled struct {
		N   Seq      `json:"n"` // of its MessageSent
		How Delivery `json:"how"`
		Why string   `json:"why,omitempty"` // of one that was returned
	}
	// FilesChanged says what changed on disk while no call ran, and something that calls had
	// left running may have done it, or anybody else meanwhile.
	FilesChanged struct {
		Changed effect.Changed `json:"changed"`
	}
	// Noted is something a person should know that changes nothing.
	Noted struct {
		Level string `json:"level"` // info, warning, error
		Text  string `json:"text"`
		About string `json:"about,omitempty"` // AboutWindow, AboutCost, AboutHook, AboutGoal, or ""
		// Input is the ID of a prompt that was a message for somebody else, of which Text says
		// what became; "" for none.
		Input string `json:"input,omitempty"`
	}
	TurnEnded struct {
		ID     string          `json:"id"`
		How    End             `json:"how"`
		Reason string          `json:"reason"` // a reason to end of loop.md
		Err    string          `json:"error,omitempty"`
		Hint   string          `json:"hint,omitempty"`
		Kind   string          `json:"kind,omitempty"` // of the error: "auth", "network", …
		Status int             `json:"status,omitempty"`
		Steps  int             `json:"steps,omitempty"`
		Took   time.Duration   `json:"took,omitempty"`
		API    time.Duration   `json:"api,omitempty"` // of it spent waiting for the model
		Answer json.RawMessage `json:"answer,omitempty"`
		// Final is the turn's answer, when a call gave it and not a reply.
		Final string `json:"final,omitempty"`
	}
	// Unknown keeps a body written by a newer version, byte for byte.
	Unknown struct {
		Type string
		Raw  []byte // the whole line without its newline
	}
)

// Kinds of tasks.
const (
	TaskShell    = "shell"    // a command
	TaskAgent    = "agent"    // a session that works for this one
	TaskWorkflow = "workflow" // a script that starts agents
	TaskMonitor  = "monitor"  // what tells of each line, frame or change that it waits for
	TaskSchedule = "schedule" // a prompt that comes by itself
)

// A TaskStatus is how an agent ended.
type TaskStatus string

// Statuses of agents that ended.
const (
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskStopped   TaskStatus = "stopped" // by a person, by another agent, or with the session
	TaskBudget    TaskStatus = "budget"  // a bound on money, tokens or requests was reached
	TaskBlocked   TaskStatus = "blocked" // what it asked, nobody was there to answer
	TaskLost      TaskStatus = "lost"    // the process ended, and nothing of it can be taken up
)

// A Delivery is what became of a message.
type Delivery string

// What can become of a message.
const (
	MessageBegins   Delivery = "read"     // the receiver begins a turn with it
	MessageQueued   Delivery = "queued"   // a turn of the receiver runs, which reads it after its step
	MessageResumes  Delivery = "resumed"  // the receiver had ended, and goes on with it
	MessageReturned Delivery = "returned" // it was not delivered, and will not be
)

// A Tally is what an agent has done: its requests with their usage, and its calls.
type Tally struct {
	Requests int            `json:"requests,omitempty"`
	Calls    int            `json:"calls,omitempty"`
	ByTool   map[string]int `json:"by_tool,omitempty"` // calls, by the tool's name
	Added    int            `json:"added,omitempty"`   // lines
	Removed  int            `json:"removed,omitempty"` // lines
	Usage    llm.Usage      `json:"usage,omitzero"`
	Cost     float64        `json:"cost,omitempty"` // USD, of requests with a known price
	Models   []string       `json:"models,omitempty"`
}

// An Agent is who works or asks where that is not the session itself.
type Agent struct {
	ID    string `json:"id"`              // of its task; the beginning is "a"
	Type  string `json:"type,omitempty"`  // the name of its definition
	Name  string `json:"name,omitempty"`  // that it was given
	Plans bool   `json:"plans,omitempty"` // it only plans until whoever started it approves its plan
	Color string `json:"color,omitempty"`
}

// A Worktree is a checkout of the repository that an agent has to itself.
type Worktree struct {
	Path   string `json:"path"`             // absolute
	Branch string `json:"branch,omitempty"` // "" where it is not git's
	// Work says what was left in it, "" while somebody works there.
	Work string `json:"work,omitempty"`
}

// A Child says for whom a session works that another one started.
type Child struct {
	Of    string `json:"of"`             // the ID of the session that started it
	Call  string `json:"call,omitempty"` // the call there that it came from
	Depth int    `json:"depth"`          // 1 for a child of a person's session
	Agent
}

// An Attached is what a prompt names with "@", as it was when it was sent.
type Attached struct {
	Name string `json:"name"` // as the prompt names it, without "@": "calc.go#L3-9"
	// About says what of it was attached ("7 lines"), or of one that was Refused
	// why nothing was.
	About   string `json:"about"`
	Refused bool   `json:"refused,omitempty"`
	// Asks, of one that was Refused in an InputQueued, says that a person is asked
	// about it when the prompt's turn comes.
	Asks   bool          `json:"asks,omitempty"`
	Text   string        `json:"text,omitempty"` // for the model, in a tag of its own
	Images []llm.Image   `json:"images,omitempty"`
	Saw    []effect.File `json:"saw,omitempty"` // the files as the model knows them from here on
}

// Data makes a result as programs read it (tool.Result.Data), as JSON; nil: there is
// its text alone. The log does not have it.
type Data func() json.RawMessage

// Equal holds for all of them: what they make is no part of what an event says.
func (Data) Equal(Data) bool { return true }

// A Situation is one part of the instructions that can differ from start to
// start.
type Situation struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// What requests are made for that are no reply of the conversation.
const (
	ForRuling  = "ruling"     // a classifier's
	ForTitle   = "title"      // a name for the session
	ForSummary = "compaction" // the summary that takes the conversation's place
	ForNotes   = "notes"      // the session's notes
	ForMemory  = "memory"     // what is remembered of a project
	ForSkill   = "skill"      // a skill that an agent of its own does
	ForHook    = "hook"       // a question of a hook to a model
	ForAside   = "aside"      // a question that a person asked on the side
	ForGoal    = "goal"       // whether the goal is reached
	ForNext    = "suggestion" // of the next prompt
	// ForProgress is a line about what an agent does.
	ForProgress = "progress"
	// ForObserver is a look of an observer.
	ForObserver = "observer"
	ForAgent    = "agent" // a request of an agent, or of what works for it
	// ForSampling is an answer that an MCP server asked for.
	ForSampling = "sampling"
)

// A ServerState is how an MCP server is. A log of a newer version may hold others.
type ServerState string

// States of an MCP server.
const (
	ServerDisabled   ServerState = "disabled"
	ServerPending    ServerState = "pending" // nobody has approved it
	ServerConnecting ServerState = "connecting"
	ServerConnected  ServerState = "connected"
	ServerNeedsAuth  ServerState = "needs-auth"
	ServerFailed     ServerState = "failed"
	ServerClosed     ServerState = "closed"
)

// An Offer is one thing of an Extended.
type Offer struct {
	Name  string `json:"name"`
	Args  string `json:"args,omitempty"` // a hint for what follows the name
	About string `json:"about,omitempty"`
	From  string `json:"from,omitempty"` // who brought it, for people
	Path  string `json:"path,omitempty"` // of a plugin: its folder

	Version string `json:"version,omitempty"` // of a plugin, as it says
}

// A PluginError is why a plugin, or a part of one, is not used.
type PluginError struct {
	// Plugin is NAME@MARKETPLACE, the name of one from a folder that was given, or
	// "inline[N]" for the Nth of these folders where it has no name.
	Plugin string `json:"plugin"`
	Kind   string `json:"type"` // path-not-found, manifest-validation-error, hook-load-failed or generic-error
	Text   string `json:"message"`
	Path   string `json:"path,omitempty"` // of a folder that was given and is no plugin
}

// AboutWindow is a warning that the conversation will be compacted soon.
const AboutWindow = "window"

// AboutCost is a warning that the session costs as much as the person wanted to
// be told of.
const AboutCost = "cost"

// AboutHook is what a hook has people told.
const AboutHook = "hook"

// AboutGoal tells people how a goal goes that takes long.
const AboutGoal = "goal"

// An End is how a turn ended.
type End string

// Ends of a turn.
const (
	Done        End = "done"
	Interrupted End = "interrupted"
	Failed      End = "failed"
	Stopped     End = "stopped" // a budget, a limit or a hook ended it
)

func (SessionStarted) body() {}
func (Resumed) body()        {}
func (Situated) body()       {}
func (InputAccepted) body()  {}
func (InputQueued) body()    {}
func (InputRemoved) body()   {}
func (TurnStarted) body()    {}
func (Replied) body()        {}
func (Dropped) body()        {}
func (Spent) body()          {}
func (Asked) body()          {}
func (Answered) body()       {}
func (ToolStarted) body()    {}
func (ToolFinished) body()   {}
func (Ran) body()            {}
func (ModelChanged) body()   {}
func (ModeChanged) body()    {}
func (Titled) body()         {}
func (ToolsChanged) body()   {}
func (Extended) body()       {}
func (ServerChanged) body()  {}
func (TaskStarted) body()    {}
func (TaskEnded) body()      {}
func (TodoChanged) body()    {}
func (MessageSent) body()    {}
func (MessageSettled) body() {}
func (FilesChanged) body()   {}
func (Noted) body()          {}
func (TurnEnded) body()      {}
func (Unknown) body()        {}
