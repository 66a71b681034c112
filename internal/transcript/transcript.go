// Package transcript folds a log into what the model, the session and the
// screens need to know: the conversation, what is open, what was granted and
// what it cost. It is a pure function of the events. It never reads or writes
// anything, and it decides nothing: what of the conversation is sent is
// package window's affair.
package transcript

import (
	"iter"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/usage"
	"github.com/adze-agent/adze/internal/view"
)

// Interrupted is the text of the result that a call without one is given when
// its turn is over, because providers refuse a history without.
const Interrupted = "interrupted"

// State is a pure function of the events applied so far. It is a value: Apply
// returns a new one and never changes what it shares with earlier ones, so a
// State may be handed to other goroutines. Applying an event takes amortised
// constant time. What it holds on to grows with what can still be sent to the
// model and not with the log: texts of cleared results and stripped media are
// let go.
type State struct {
	Start string // the folder the session works in
	Root  string // of the repository
	Dir   string // where tools run now

	Seq  event.Seq // of the last durable event
	Time time.Time // of the last durable event

	Situation event.Situated // what the model knows of where it is

	Title       string
	First, Last string // the first and the newest prompt of a person
	Model       string
	Mode        policy.Mode

	Running string // the turn's ID, "" when idle
	Turn    Turn   // the running turn, else the last one
	Turns   int

	Queue   []event.InputQueued          // prompts that wait, in order
	Pending map[string]event.Asked       // open questions by call
	Started map[string]event.ToolStarted // running calls
	// Background are the tasks that run beside turns, by ID.
	Background map[string]event.TaskStarted
	// Since is when each of them began.
	Since map[string]time.Time `json:",omitempty"`
	// Past are tasks that ended, the newest last; at most maxPast.
	Past []Past `json:",omitempty"`
	// Agents are those that worked for the session, by the ID of their task; Mail is the
	// number of the newest prompt of each sender that came, so that none comes twice.
	Agents map[string]Agent `json:",omitempty"`
	Mail   map[string]int   `json:",omitempty"`
	// Outbox are the messages that were not settled, in order. Copied is up to which event
	// the log repeats that of another session: what is said there is not this session's.
	Outbox []Letter  `json:",omitempty"`
	Copied event.Seq `json:",omitempty"`
	Rules  []string  // granted for the session, in order
	Gone   []string  // tools that were taken away and did not come back, in order
	// Listed are the tools that the newest request listed; see event.Replied.
	Listed []llm.Spec `json:",omitempty"`
	// Loaded are the tools that the model loaded, as it was told of them, in order.
	Loaded []llm.Spec    `json:",omitempty"`
	Lasted time.Duration // of all turns that ended
	// Added and Removed are lines of files that calls changed, in all turns.
	Added, Removed int

	// List is what is to be done, of the session and of all that work for it. Tasks is how
	// it is shown; of a session whose list is that of another one, as its newest call left it.
	List    tasklist.List
	Tasks   []view.Task
	Quiet   int         // replies since the todo list was written
	Plan    string      // the newest that a person approved, or ""
	Goal    *Goal       `json:",omitempty"` // what the session works for, nil for nothing
	Trail   event.Trail // the newest rewinds; at most maxTrail
	Said    []Said      // prompts of people, in order; see maxSaid
	Changed []string    // files that calls changed, in the order of the first change; at most maxChanged
	Recent  []string    // files that the model saw last, the newest last; at most maxRecent
	// Rewinding is a rewind that has begun to put files back and did not end; nil: none.
	Rewinding *event.RewindBegan `json:",omitempty"`
	Failed    int                // compactions in a row that failed or brought nothing, in this process
	FailedAt  time.Time          // when the last of them did
	FailedBy  string             // why, "" when it brought nothing
	Records   []string           // files that hold what compactions took out, in order; at most maxRecords
	Noted     event.Seq          // up to which event the session's notes tell; 0: there are none that hold
	Warned    bool               // that the conversation will be compacted soon, since the last time it was
	Answered  time.Time          // when the newest reply came
	Cache     Cache
	Total     usage.Spent
	ByModel   map[string]usage.Spent
	Helpers   map[string]usage.Spent // of Total, what was no reply of the conversation, by what it was for
	ByTool    map[string]usage.Work

	// Exports are the variables that commands changed, in order. Lost are names
	// of those that were there before the session was resumed, and are not now.
	Exports []effect.Export
	Lost    []string

	// Extensions are what there is besides adze's own; Servers, by name, how MCP
	// servers are. Skills are those that were used, the newest last, each once; at
	// most maxSkills.
	Extensions event.Extended
	Servers    []event.ServerChanged
	Skills     []effect.Skill

	files trie[effect.File]
	talk  conversation
}

// An Agent is one that worked for the session: how it started last, its newest end, nil
// while it works, and what of its requests is counted here, by model.
type Agent struct {
	event.TaskStarted
	End     *event.TaskEnded       `json:",omitempty"`
	Told    event.TaskStatus       `json:",omitempty"` // how its end was told, before that is recorded; "" before
	Counted map[string]usage.Spent `json:",omitempty"`
}

// A Past is a task that has ended. At is when it began, zero where that is not known.
type Past struct {
	event.TaskStarted
	At  time.Time `json:",omitzero"`
	End event.TaskEnded
}

// A Letter is a message with its number.
type Letter struct {
	N event.Seq
	event.MessageSent
}

// A Said is a prompt of a person.
type Said struct {
	Seq  event.Seq
	ID   string
	Text string
	Gone event.Seq `json:",omitempty"` // the Rewound that took it out of the conversation; 0: none did
}

// Bounds of what a State keeps beside the conversation. Of prompts the first
// one stays, and the newest that together have so many bytes.
const (
	maxSaid    = 256 << 10
	maxSaids   = 2000
	maxChanged = 1000
	maxRecent  = 20
	maxRecords = 50
	maxTrail   = 256
	maxSkills  = 20
	maxPast    = 50
)

// A Turn is what is known about one turn.
type Turn struct {
	Seq     event.Seq // of its TurnStarted
	Spent   usage.Spent
	Denials []Denial
	// Unpriced is a model without a known price that was asked for something
	// beside replies.
	Unpriced string
	End      event.TurnEnded // zero while it runs
}

// A Denial is a call that policy or a person refused.
type Denial struct {
	Call, Tool string
	Input      []byte
	Reason     string
}

// Working are the tasks that run beside turns and end with the process: schedules do not.
func (s State) Working() map[string]event.TaskStarted {
	out := s.Background
	for id, t := range s.Background {
		if t.Schedule != nil {
			out = without(out, id)
		}
	}
	return out
}

// Messages is the conversation as it can be sent: roles alternate, and every
// call has its result in the message that follows. While calls still run they
// are given an Interrupted result here.
func (s State) Messages() []llm.Message {
	c := s.talk.closeRound(0)
	ms := make([]llm.Message, 0, c.done.len()+1)
	for _, es := range c.done.full.items {
		for i := range es {
			ms = append(ms, es[i].Message)
		}
	}
	for i := range c.done.last.items {
		ms = append(ms, c.done.last.items[i].Message)
	}
	if len(c.tail.items) > 0 {
		ms = append(ms, c.tailEntry().Message)
	}
	return ms
}

// Newest yields what Entries has from its end, without a copy of it.
func (s State) Newest() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		c := s.talk.closeRound(0)
		if len(c.tail.items) > 0 && !yield(c.tailEntry()) {
			return
		}
		for i := c.done.len() - 1; i >= 0; i-- {
			if !yield(c.done.at(i)) {
				return
			}
		}
	}
}

// Entries is Messages together with the event that each part came from.
func (s State) Entries() []Entry { return s.talk.entries() }

// Open lists the calls of the newest reply that have no result yet, in order.
func (s State) Open() []llm.ToolUse { return s.talk.open() }

// Deferred is the call that a hook put off and that the session goes on with, nil
// when there is none.
func (s State) Deferred() *llm.ToolUse {
	if open := s.talk.open(); s.Running == "" && s.Turn.End.Reason == event.ToolDeferred && len(open) > 0 {
		return &open[0]
	}
	return nil
}

// Gauge is what is known about the size of the conversation.
func (s State) Gauge() Gauge { return s.talk.gauge }

// Told are the names of tools that the model has read of in the conversation as
// it is, and that were not taken away since.
func (s State) Told() []string {
	var out []string
	for _, t := range s.talk.told {
		out = slices.DeleteFunc(append(out, t.Named...), func(name string) bool { return slices.Contains(t.Gone, name) })
	}
	return out
}

// Reworded is what the model has read in the conversation of tools that describe
// themselves in other words than the list does, as event.ToolsChanged has it, the newest
// of each last.
func (s State) Reworded() (out []string) {
	for _, t := range s.talk.told {
		out = append(out, t.Reworded...)
	}
	return out
}

// Cleared reports whether the result of this call was cleared.
func (s State) Cleared(call string) bool {
	_, ok := s.talk.cleared.get(call)
	return ok
}

// Whole reports whether every result is still in the conversation as it was.
func (s State) Whole() bool { return s.talk.cleared.n == 0 && s.talk.boundary == 0 && !s.talk.partial }

// Boundary is the newest event that began the conversation anew, or 0.
func (s State) Boundary() event.Seq { return s.talk.boundary }

// Stripped is the newest event that took media out of the conversation, or 0.
func (s State) Stripped() event.Seq { return s.talk.stripped }

// File is the state of a file when the model last saw it. path is resolved.
func (s State) File(path string) (effect.File, bool) { return s.files.get(path) }

// Files yields every file the model has seen, in no useful order.
func (s State) Files() iter.Seq2[string, effect.File] { return s.files.all() }
