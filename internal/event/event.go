// Package event is the one vocabulary for what happened in a session. The
// log stores it, front ends draw it, and the wire carries it unchanged.
package event

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
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

// Durable bodies.
type (
	// SessionStarted is the first event of a log.
	SessionStarted struct {
		ID      string `json:"id"`
		Schema  int    `json:"schema"`
		Version string `json:"version"` // of adze
		Dir     string `json:"dir"`     // where it was started
		Root    string `json:"root,omitempty"`
		Branch  string `json:"branch,omitempty"`
		Parent  string `json:"parent,omitempty"` // the session it was forked from
		At      Seq    `json:"at,omitempty"`     // how much of the parent it repeats
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
		Attached []Attached  `json:"attached,omitempty"`
		Steer    bool        `json:"steer,omitempty"`
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
		Attached []Attached  `json:"attached,omitempty"`
		Tokens   int         `json:"tokens,omitempty"` // the budget of the turn that it begins
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
		For    string    `json:"for"` // what it was made for: ForRuling, ForTitle, ForSummary
		Model  string    `json:"model"`
		Usage  llm.Usage `json:"usage"`
		Cost   float64   `json:"cost,omitempty"` // USD
		Priced bool      `json:"priced,omitempty"`
	}
	// Asked is an open question to a person.
	Asked struct {
		Call    string          `json:"call"`
		Tool    string          `json:"tool"`
		Input   json.RawMessage `json:"input,omitempty"`
		Title   string          `json:"title,omitempty"`
		Verdict policy.Verdict  `json:"verdict"`
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
	ToolsChanged struct {
		Added   []string `json:"added,omitempty"`
		Removed []string `json:"removed,omitempty"`
	}
	// Cleared and Stripped change the view that is sent, never the history.
	// Cleared replaces the results of these calls by one fixed line.
	Cleared struct {
		Calls []string `json:"calls"`
	}
	// Stripped removes images and documents up to this event.
	Stripped struct {
		Cause Cause  `json:"cause,omitempty"`
		Why   string `json:"why,omitempty"`
	}
	// Compacted is a boundary: what came before it stays in the log and is not
	// sent any more. The conversation goes on with Text, as if it began there.
	Compacted struct {
		Trigger Cause  `json:"trigger"`
		Text    string `json:"text,omitempty"`   // for the model
		Tokens  int    `json:"tokens,omitempty"` // estimated, of the conversation until then
		// Before and From keep a part of the conversation as it is: what came from
		// events before Before goes in front of Text, what came from From on goes
		// behind it. 0 keeps nothing.
		Before Seq `json:"before,omitempty"`
		From   Seq `json:"from,omitempty"`
		// Record is a file that holds what is not sent any more, "" without one.
		Record string `json:"record,omitempty"`
		Left   int    `json:"left,omitempty"` // tokens, estimated, of the next request with instructions and tools
		// Undo takes the boundary of that event back: the conversation is Messages.
		Undo     Seq           `json:"undo,omitempty"`
		Messages []llm.Message `json:"-"`
	}
	// CompactFailed says that the conversation is as it was, because no summary of
	// it could be had.
	CompactFailed struct {
		Trigger Cause  `json:"trigger"`
		Why     string `json:"why"`
		// Stops: it was one too many in a row, and it is not tried again by itself.
		Stops bool `json:"stops,omitempty"`
	}
	// Rewound says that a person went back to before an event. What came since
	// stays in the log.
	Rewound struct {
		To   Seq    `json:"to"`           // the prompt that was taken back, or the Rewound
		ID   string `json:"id,omitempty"` // of the prompt
		Text string `json:"text,omitempty"`
		// Undo: To is an earlier Rewound, which is taken back.
		Undo bool `json:"undo,omitempty"`
		// Conversation: it is again as it was then. Tasks, Seen, Dir, Last and
		// Tokens are what was so then; Messages is all of the conversation, when
		// the fold does not have it any more.
		Conversation bool          `json:"conversation,omitempty"`
		Messages     []llm.Message `json:"-"`
		Tasks        []view.Task   `json:"tasks,omitempty"`
		Seen         []effect.File `json:"seen,omitempty"`
		Dir          string        `json:"dir,omitempty"`
		Last         string        `json:"last,omitempty"` // the newest prompt
		Tokens       int           `json:"tokens,omitempty"`
		// Code: files were put back. Changes are what that did, Problems what it
		// could not do.
		Code     bool            `json:"code,omitempty"`
		Changes  []effect.Change `json:"changes,omitempty"`
		Problems []string        `json:"problems,omitempty"`
	}
	// TaskStarted says that something runs in the background: a call that said
	// so, or one that was moved there.
	TaskStarted struct {
		ID   string `json:"id"`
		Call string `json:"call,omitempty"` // that it came from
		Kind string `json:"kind"`           // what it is: "shell"
		Text string `json:"text,omitempty"` // the command, or what else it does
	}
	// TaskEnded says that it does not run any more.
	TaskEnded struct {
		ID     string        `json:"id"`
		Exit   int           `json:"exit,omitempty"`   // of a shell command
		Killed string        `json:"killed,omitempty"` // why it was ended, "" when it ended by itself
		Took   time.Duration `json:"took,omitempty"`
	}
	// Noted is something a person should know that changes nothing.
	Noted struct {
		Level string `json:"level"` // info, warning, error
		Text  string `json:"text"`
		About string `json:"about,omitempty"` // AboutWindow, or ""
	}
	// SettingsChanged says that settings files changed while the session ran:
	// what of them counts from now on, and what does not.
	SettingsChanged struct {
		Changes []SettingChange `json:"changes,omitempty"`
		// Untrusted are files of the project that want more than counts before
		// the folder is trusted as it is now.
		Untrusted []string `json:"untrusted,omitempty"`
		Problems  []string `json:"problems,omitempty"` // mistakes in the files, in words
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

// A FileChange is what happens to a file, for people.
type FileChange struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`              // "created", "changed", "removed", "mode"
	Added   int    `json:"added,omitempty"`   // lines
	Removed int    `json:"removed,omitempty"` // lines
	// Foreign: it was changed since by something that no call did.
	Foreign bool `json:"foreign,omitempty"`
}

// Live bodies.
type (
	// ReplyStarted says that the first chunk of a reply arrived.
	ReplyStarted struct {
		Model string        `json:"model"`
		First time.Duration `json:"first"`
		ID    string        `json:"id,omitempty"`   // the provider's, when it says so by now
		Usage llm.Usage     `json:"usage,omitzero"` // as far as the provider says by now
	}
	// TextDelta says S was added at byte At of the reply's text, so a reader
	// can tell it missed some.
	TextDelta struct {
		At int    `json:"at"`
		S  string `json:"s"`
	}
	ThinkingDelta struct {
		At int    `json:"at"`
		S  string `json:"s"`
	}
	ToolInputDelta struct {
		Call string `json:"call"`
		Name string `json:"name"`
		At   int    `json:"at"`
		S    string `json:"s"`
	}
	// PartDone is a finished part of the reply that still streams.
	PartDone struct {
		Part llm.Part
	}
	// Retracted tells readers to remove what the deltas since ReplyStarted said.
	Retracted struct {
		Why string `json:"why"`
	}
	// Waiting announces a pause before a request is sent again.
	Waiting struct {
		Attempt int           `json:"attempt"` // of the retry: 1, 2, …
		Max     int           `json:"max"`
		For     time.Duration `json:"for"`
		Status  int           `json:"status,omitempty"`
		Err     string        `json:"error"`
		Kind    string        `json:"kind"`
	}
	// ToolOutput is output of a running call.
	ToolOutput struct {
		Call string `json:"call"`
		S    string `json:"s"`
	}
	// RewindPlan is what a rewind would do to files.
	RewindPlan struct {
		ID    string       `json:"id"` // of the prompt
		Files []FileChange `json:"files,omitempty"`
		Lost  []string     `json:"lost,omitempty"` // what cannot be put back, in words
	}
	// Compacting says that a summary of the conversation is being written.
	Compacting struct {
		Trigger Cause `json:"trigger"`
	}
	// TaskOutput is output of a background task.
	TaskOutput struct {
		ID string `json:"id"`
		S  string `json:"s"`
	}
	// Queued lists the prompts that wait; it is sent whenever the queue changes.
	Queued struct {
		IDs   []string `json:"ids"`
		Texts []string `json:"texts"`
	}
)

// An Attached is what a prompt names with "@", as it was when it was sent.
type Attached struct {
	Name string `json:"name"` // as the prompt names it, without "@": "calc.go#L3-9"
	// About says what of it was attached ("7 lines"), or of one that was Refused
	// why nothing was.
	About   string        `json:"about"`
	Refused bool          `json:"refused,omitempty"`
	Text    string        `json:"text,omitempty"` // for the model, in a tag of its own
	Images  []llm.Image   `json:"images,omitempty"`
	Saw     []effect.File `json:"saw,omitempty"` // the files as the model knows them from here on
}

// A Situation is one part of the instructions that can differ from start to
// start.
type Situation struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// A SettingChange is a key with another value. Secrets in values are masked,
// and long values are left out with their size.
type SettingChange struct {
	Key string `json:"key"`
	// Old and New are JSON, null when unset. Of a list or a map, Added and
	// Removed say what differs instead.
	Old     json.RawMessage `json:"old,omitempty"`
	New     json.RawMessage `json:"new,omitempty"`
	Added   []string        `json:"added,omitempty"`
	Removed []string        `json:"removed,omitempty"`
	From    string          `json:"from,omitempty"`  // "file:line:column"
	Later   bool            `json:"later,omitempty"` // it counts from the next start only
}

// String says it on one line.
func (c SettingChange) String() string {
	var parts []string
	for _, x := range []struct {
		how  string
		list []string
	}{{"added ", c.Added}, {"removed ", c.Removed}} {
		if len(x.list) > 0 {
			parts = append(parts, x.how+strings.Join(x.list, ", "))
		}
	}
	if len(parts) == 0 {
		parts = []string{string(c.Old) + " → " + string(c.New)}
	}
	s := c.Key + ": " + strings.Join(parts, "; ")
	if c.From != "" {
		s += " (" + c.From + ")"
	}
	if c.Later {
		s += ", from the next start"
	}
	return s
}

// String says it in a sentence.
func (b Rewound) String() string {
	what := "the conversation"
	switch {
	case b.Code && b.Conversation:
		what = "the conversation and files"
	case b.Code:
		what = "files"
	}
	s := fmt.Sprintf("Went back in %s to before %q", what, b.Text)
	if b.Undo {
		s = fmt.Sprintf("Took the last rewind back in %s", what)
	}
	if b.Code {
		s += fmt.Sprintf(": %d changed on disk", len(b.Changes))
	}
	if n := len(b.Problems); n > 0 {
		s += fmt.Sprintf(", %d could not be", n)
	}
	return s + "."
}

// String says it in a sentence.
func (b Compacted) String() string {
	switch {
	case b.Undo > 0:
		return "The last compaction was taken back: the conversation is whole again."
	case b.Trigger == CausePlan || b.Trigger == CauseTool:
		return "The conversation goes on in a fresh context; what came before it is kept and not sent any more."
	}
	why := map[Cause]string{CauseFull: "the model's window was nearly full", CauseTooLong: "the provider refused it as too long", CauseAsked: "as asked"}[b.Trigger]
	return fmt.Sprintf("The conversation was compacted (%s): about %d tokens became %d. All of it is kept; /compact --undo brings it back.", why, b.Tokens, b.Left)
}

// String says it in a sentence.
func (b CompactFailed) String() string {
	s := "The conversation could not be compacted: " + b.Why + "."
	if b.Stops {
		s += " That was one time too many in a row: it is not tried again by itself in this session; /compact does."
	}
	return s
}

// Lines says it in lines: what counts, what does not, and what is wrong.
func (b SettingsChanged) Lines() (counts, waits, wrong []string) {
	for _, c := range b.Changes {
		counts = append(counts, c.String())
	}
	if len(b.Untrusted) > 0 {
		waits = []string{"what these files loosen does not count until the folder is trusted again (adze trust): " + strings.Join(b.Untrusted, ", ")}
	}
	return counts, waits, b.Problems
}

// What requests are made for that are no reply of the conversation.
const (
	ForRuling  = "ruling"     // a classifier's
	ForTitle   = "title"      // a name for the session
	ForSummary = "compaction" // the summary that takes the conversation's place
)

// AboutWindow is a warning that the conversation will be compacted soon.
const AboutWindow = "window"

// An End is how a turn ended.
type End string

// Ends of a turn.
const (
	Done        End = "done"
	Interrupted End = "interrupted"
	Failed      End = "failed"
	Stopped     End = "stopped" // a budget, a limit or a hook ended it
)

func (SessionStarted) body()  {}
func (Resumed) body()         {}
func (Situated) body()        {}
func (InputAccepted) body()   {}
func (InputQueued) body()     {}
func (InputRemoved) body()    {}
func (TurnStarted) body()     {}
func (Replied) body()         {}
func (Dropped) body()         {}
func (Spent) body()           {}
func (Asked) body()           {}
func (Answered) body()        {}
func (ToolStarted) body()     {}
func (ToolFinished) body()    {}
func (Ran) body()             {}
func (ModelChanged) body()    {}
func (ModeChanged) body()     {}
func (Titled) body()          {}
func (ToolsChanged) body()    {}
func (Cleared) body()         {}
func (Stripped) body()        {}
func (Compacted) body()       {}
func (Rewound) body()         {}
func (CompactFailed) body()   {}
func (TaskStarted) body()     {}
func (TaskEnded) body()       {}
func (Noted) body()           {}
func (TurnEnded) body()       {}
func (SettingsChanged) body() {}
func (Unknown) body()         {}

func (ReplyStarted) body()   {}
func (TextDelta) body()      {}
func (ThinkingDelta) body()  {}
func (ToolInputDelta) body() {}
func (PartDone) body()       {}
func (Retracted) body()      {}
func (Waiting) body()        {}
func (ToolOutput) body()     {}
func (RewindPlan) body()     {}
func (Compacting) body()     {}
func (TaskOutput) body()     {}
func (Queued) body()         {}

func (ReplyStarted) live()   {}
func (TextDelta) live()      {}
func (ThinkingDelta) live()  {}
func (ToolInputDelta) live() {}
func (PartDone) live()       {}
func (Retracted) live()      {}
func (Waiting) live()        {}
func (ToolOutput) live()     {}
func (RewindPlan) live()     {}
func (Compacting) live()     {}
func (TaskOutput) live()     {}
func (Queued) live()         {}
