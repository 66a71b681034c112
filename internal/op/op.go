// Package op is the one vocabulary for what a client may ask of a session.
// What comes of an op arrives as events; an op carries no results.
package op

import (
	"encoding/json"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
)

// An Op is one request. The session accepts it or refuses it.
//
//sumtype:decl
type Op interface{ op() }

type (
	// Prompt is what a person says. While a turn runs it is queued and given
	// to the model after the current step. ID is the client's name for it
	// ("" lets the session choose) and must be unique in the session, which takes no
	// prompt twice.
	Prompt struct {
		ID     string  `json:"id,omitempty"`
		Text   string  `json:"text,omitempty"`
		Images []Image `json:"images,omitempty"`
		// ImagesAt is the byte of Text that each image stands before, in rising order.
		// Images without one stand before the text.
		ImagesAt []int `json:"imagesAt,omitempty"`
		// Typed is what of Text a person typed. Everything else came from elsewhere (a
		// pipe, a program, a definition) and asks for nothing in a person's name; so
		// does all of it when nothing is said.
		Typed Span `json:"typed,omitzero"`
		// From is who sends it where that is no person and no program that drives adze; it is
		// told apart from theirs. nil is one of these.
		From *Sender `json:"from,omitempty"`
		// Tokens, when positive, is the turn's token budget ("+500k").
		Tokens int `json:"tokens,omitempty"`
		// Later: it does not join a turn that runs, and begins one of its own
		// when that is over.
		Later bool `json:"later,omitempty"`
		// Command: Text is a slash command that the session's extensions bring, with
		// its arguments. The model reads what the command says.
		Command bool `json:"command,omitempty"`
		// Verbatim: nothing that Text names with "@" is read.
		Verbatim bool `json:"verbatim,omitempty"`
		// With are texts that the client sends beside Text; no person typed them.
		With []Text `json:"with,omitempty"`
		// Quiet: it is part of the conversation, and nothing is asked of a model for its
		// sake. A turn that runs reads its Text after the current step.
		Quiet bool `json:"quiet,omitzero"`
		// Rests: it begins no turn. It joins the one that runs, or the next that begins.
		Rests bool `json:"rests,omitzero"`
	}
	// Notify tells the model something that happened meanwhile (a background
	// command ended), after the current step.
	Notify struct {
		Text string `json:"text,omitempty"`
		// Wake, when not empty, has a turn begin for it while nothing runs, and says why,
		// for people. Only so many in a row do: see the session. "" waits for the next prompt.
		Wake string `json:"wake,omitempty"`
	}
	// Shell runs a command of the person's own, now, without a question. The
	// model reads what it printed with the next prompt. ID is the client's name
	// for it, unique in the session. Interrupt ends it when no turn runs.
	Shell struct {
		ID      string `json:"id,omitempty"`
		Command string `json:"command,omitempty"`
	}
	// Unqueue takes back a queued prompt that the model has not seen.
	Unqueue struct {
		ID string `json:"id,omitempty"`
	}
	// Interrupt stops the running turn.
	Interrupt struct{}
	// Attach says that a person is at this client, who can be asked. Until one
	// is, what needs a person is refused.
	Attach struct {
		Client string `json:"client,omitempty"`
	}
	// Detach says that nobody is there any more. With the last one, open
	// questions are answered with no.
	Detach struct {
		Client string `json:"client,omitempty"`
	}
	// Answer settles an open question. The first answer wins. The tool that
	// asked is handed it, and the log keeps it.
	Answer struct {
		Call  string `json:"call,omitempty"`
		Allow bool   `json:"allow,omitempty"`
		By    string `json:"by,omitempty"` // which client
		// Comment goes to the model: what to do instead, or what to mind.
		Comment string `json:"comment,omitempty"`
		// Exact, of a no, says that the model reads Comment as it is, and
		// nothing else.
		Exact bool `json:"exact,omitempty"`
		// Rules hold from now on for the session ("Bash(go test *)"). Keep says
		// which settings file they are saved in, too; then none means those that
		// the question suggests.
		Rules []string `json:"rules,omitempty"`
		Keep  Keep     `json:"keep,omitempty"`
		// Changes are of the rules that the session was granted, made before Rules are
		// added. They end with the process.
		Changes []RuleChange `json:"changes,omitempty"`
		// Folders are changes of the further folders that may be worked in.
		Folders []FolderChange `json:"folders,omitempty"`
		// Input, when not empty, are the arguments as the person rewrote them.
		// The call is planned and judged again with them.
		Input json.RawMessage `json:"input,omitempty"`
		// Mode, when not empty, is the permission mode that begins with the
		// answer. The approval of a plan leaves plan mode with it.
		Mode policy.Mode `json:"mode,omitempty"`
		// Choices answers view.Questions: the chosen labels, per question.
		Choices [][]string `json:"choices,omitempty"`
		// Values answers view.Form: a JSON object with a member for each field that
		// has a value.
		Values json.RawMessage `json:"values,omitempty"`
		// Dismissed, of a no, says that the question was closed without a decision.
		Dismissed bool `json:"dismissed,omitempty"`
		// Stop, of a no, interrupts the turn in the same step: no request follows.
		Stop bool `json:"stop,omitempty"`
	}
	// Revoke takes rules back that the session was given, of one effect: they hold no
	// longer, and not when it is resumed either. Those of settings stay.
	Revoke struct {
		Rules  []string      `json:"rules,omitempty"`
		Effect policy.Effect `json:"effect,omitempty"`
	}
	// SetModel changes the model from the next step on.
	SetModel struct {
		Name string `json:"name,omitempty"`
	}
	// SetEffort changes how hard the model thinks, from the next step on:
	// Tokens, when positive, is a budget that wins over Level. Without both it
	// is again what the settings say.
	SetEffort struct {
		Level  string `json:"level,omitempty"`
		Tokens int    `json:"tokens,omitempty"`
	}
	// SetMode changes the permission mode from the next call on.
	SetMode struct {
		Mode string `json:"mode,omitempty"`
	}
	// Background moves a running call to the background; its result says so
	// and the call's work goes on as a task.
	Background struct {
		Call string `json:"call,omitempty"`
	}
	// StopTask ends a background task.
	StopTask struct {
		ID string `json:"id,omitempty"`
	}
	// Rewind goes back to before a prompt, while no turn runs: the conversation,
	// the files that calls changed, or both.
	Rewind struct {
		To string `json:"to,omitempty"` // the prompt's ID
		// Undo takes the newest rewind back instead.
		Undo         bool `json:"undo,omitempty"`
		Conversation bool `json:"conversation,omitempty"`
		Code         bool `json:"code,omitempty"`
		// Preview changes nothing and says, as an event, what Code would do.
		Preview bool `json:"preview,omitempty"`
	}
	// Compact replaces the conversation, or a part of it, by a summary: now, or
	// before the next request of the turn that runs.
	Compact struct {
		Focus string `json:"focus,omitempty"` // what the summary is to mind most
		// From and UpTo name a prompt, by its ID or by a number (1 is the newest):
		// only what came from that one on is replaced, or only what came before it.
		// At most one of them is set.
		From string `json:"from,omitempty"`
		UpTo string `json:"up_to,omitempty"`
		// Undo takes the newest compaction back instead, while no turn runs.
		Undo bool `json:"undo,omitempty"`
	}
	// Goal sets the condition that the session works for until it is so, or changes how
	// it goes with the one that is set. A turn begins with a new one.
	Goal struct {
		// Do is what becomes of the goal that is set; "" sets another one.
		Do GoalDo `json:"do,omitempty"`
		// Condition is what is to be so, in at most MaxGoal characters.
		Condition string `json:"condition,omitempty"`
		// Typed: a person typed the condition. Else it asks for nothing in a person's name.
		Typed bool `json:"typed,omitempty"`
		// Turns, Tokens and USD, when positive, bound what is done for it.
		Turns  int     `json:"turns,omitempty"`
		Tokens int     `json:"tokens,omitempty"`
		USD    float64 `json:"usd,omitempty"`
	}
	// Rename titles the session.
	Rename struct {
		Title string `json:"title,omitempty"`
	}
)

// A Sender is an agent, or another session, that sends a prompt. What it says is
// evidence, and asks for nothing in a person's name.
type Sender struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// N numbers what it sends to a session, in rising order. What has come already does not
	// come a second time, and neither does what has a smaller number. 0 has no number.
	N int `json:"n,omitempty"`
	// As says of a message who sent it, in words that the model reads with it ("the agent
	// finder (a1)"). "": it is none.
	As string `json:"as,omitempty"`
	// End: it says how the sender's work ended.
	End bool `json:"end,omitempty"`
	// Task: the sender is a task beside the turns, and this is its notice.
	Task bool `json:"task,omitempty"`
	// Mode is the permission mode of the receiver that begins with a message, by which its plan is
	// approved; "" is none.
	Mode policy.Mode `json:"mode,omitempty"`
	// Status, of the end of an agent, is how that ended: as of the event "task_ended".
	Status string `json:"status,omitempty"`
	// Why, of a notice, says for people what it tells, "the agent a1 has ended".
	Why string `json:"why,omitempty"`
}

// Notice reports whether a prompt of this sender, nil for a person, is the notice of a task.
// Such prompts wait while nothing goes on after a turn that did not come to its end.
func (s *Sender) Notice() bool { return s != nil && (s.Task || s.End) }

// A Span is a part of a text, in bytes. The zero Span is nothing of it.
type Span struct {
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
}

// All is the whole of a text.
func All(text string) Span { return Span{To: len(text)} }

// Behind is the same part when n more bytes stand before the text.
func (s Span) Behind(n int) Span {
	if s == (Span{}) {
		return s
	}
	return Span{s.From + n, s.To + n}
}

// Cut is the part of text, and what stands before and behind it. A Span that is none
// of text is nothing of it.
func (s Span) Cut(text string) (before, part, behind string) {
	if s.From < 0 || s.To > len(text) || s.From > s.To {
		return text, "", ""
	}
	return text[:s.From], text[s.From:s.To], text[s.To:]
}

// A RuleChange changes the rules that a session was granted; those of settings are
// none of its.
type RuleChange struct {
	Kind   ChangeKind    `json:"kind"`
	Effect policy.Effect `json:"effect"` // of the rules
	Rules  []string      `json:"rules"`
}

// A FolderChange adds folders that count as the session's own does, or takes those
// back that were added for the session. ForSession is until the process ends.
type FolderChange struct {
	Dirs   []string `json:"dirs"` // a relative one counts from the session's folder
	Remove bool     `json:"remove,omitempty"`
	Keep   Keep     `json:"keep,omitempty"` // of what is added
}

// A ChangeKind is what becomes of rules.
type ChangeKind string

// Kinds of changes.
const (
	AddRules     ChangeKind = "add"
	ReplaceRules ChangeKind = "replace" // all with the effect are these
	RemoveRules  ChangeKind = "remove"
)

// Keep says how long the rules of an answer hold.
type Keep string

// Values of Keep.
const (
	ForSession Keep = ""        // no longer than the session
	ForLocal   Keep = "local"   // this folder, on this machine
	ForProject Keep = "project" // this folder, for everybody who works on it
	ForUser    Keep = "user"    // everywhere on this machine
)

// A Text is one that stands beside a prompt, such as a document's.
type Text struct {
	Name string `json:"name,omitempty"` // for people
	Text string `json:"text,omitempty"` // as the model reads it
}

// An Image is a picture in a prompt.
type Image = llm.Image

func (Prompt) op()     {}
func (Notify) op()     {}
func (Shell) op()      {}
func (Unqueue) op()    {}
func (Interrupt) op()  {}
func (Attach) op()     {}
func (Detach) op()     {}
func (Answer) op()     {}
func (SetModel) op()   {}
func (SetEffort) op()  {}
func (SetMode) op()    {}
func (Background) op() {}
func (StopTask) op()   {}
func (Rewind) op()     {}
func (Compact) op()    {}
func (Goal) op()       {}
func (Rename) op()     {}
func (Revoke) op()     {}
