// Package fleet is what a person's session and all that work for it have in common: a
// Tree of agents. It reserves before it starts anything, follows what each agent does,
// tells whoever started it, and ends it. What an agent costs, its session tells that of
// whoever started it by itself. An agent is a session; the log of each says what
// it did, and the log of the session that started it says that it started and how it
// ended. So nothing of a tree has to be kept elsewhere: a later process finds its agents
// in the logs.
//
// Where sessions run is not known here: a Host starts and reaches them. Its methods pass
// no paths of files and no values of this process, so that a Host can be remote.
//
// An agent that has done its work is closed. Its log is all that is left of it, and with
// that it goes on when somebody has more to say to it (Tree.Send). It is open as long as
// agents of its own work.
package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool/spawn"
	"github.com/adze-agent/adze/internal/transcript"
)

// A Host runs sessions. Its methods may be called by several goroutines.
type Host interface {
	// Submit and Follow are as in client.Client.
	Submit(ctx context.Context, session string, o op.Op) error
	Follow(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error]
	// Begin starts the session of an agent, or opens the one that it had.
	Begin(ctx context.Context, o Order) (Begun, error)
	// Report records in a session what became of its agents, as session.Session.Report.
	Report(session string, b event.Body) error
	// Summarize puts into a line what an agent does whose session this is, where the session of
	// that started it is to have such lines. before is the last one, which told up to after. The
	// line is "" for none, and tells up to through. It ends with ctx.
	Summarize(ctx context.Context, of, session, before string, after event.Seq) (line string, through event.Seq)
	// Review looks at what an agent did that a session started for a task and that has ended.
	// doubt says what is suspicious, "" for nothing. It ends with ctx.
	Review(ctx context.Context, session, task string, end event.TaskEnded) (doubt string)
	// ChangeList makes a change of the list of what is to be done that a session and its
	// agents have in common, as session.Session.ChangeList. That session is the root.
	ChangeList(ctx context.Context, root string, c Change) (Outcome, error)
	// End interrupts what a session does and closes it. Its log stays. left is the worktree
	// that it had to itself, where work is in it; one without goes.
	End(session string) (left *event.Worktree, err error)
	// Look says how a session is, if it is open.
	Look(session string) (Look, bool)
}

// A Look is how a session is.
type Look struct {
	Seq    event.Seq           // of its newest event
	Title  string              // or its first prompt, "" for none
	Turns  bool                // a turn runs
	Asks   bool                // a question is open
	Waits  int                 // prompts that wait
	Mode   policy.Mode         // of permissions
	Outbox []transcript.Letter // messages of its own that were not settled
	Mail   map[string]int      // as in transcript.State
}

// Peer is the session as others see it.
func (l Look) Peer(id, dir string) Peer {
	p := Peer{ID: id, Title: l.Title, Dir: dir, Doing: "idle", Turns: l.Turns || l.Waits > 0, Last: l.Seq}
	switch {
	case l.Asks:
		p.Doing = "asking"
	case p.Turns:
		p.Doing = "working"
	}
	return p
}

// Neighbours are the sessions of the same person that have trees of their own, in this
// process or another one. Their methods may be called by several goroutines.
type Neighbours interface {
	// Open lists those that are open in a process, and this tree's root.
	Open(ctx context.Context) ([]Peer, error)
	// Closed is the one that a word names and that cannot be reached.
	Closed(ctx context.Context, word string) (p Peer, ok bool)
	// Submit and Follow are as in client.Client. The error of Submit is ErrUnsure where
	// nobody knows whether the session took the op.
	Submit(ctx context.Context, session string, o op.Op) error
	Follow(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error]
}

// ErrUnsure says that a session may have taken an op.
var ErrUnsure = errors.New("the connection broke: whether it arrived is not known")

// A Peer is a session of the same person.
type Peer struct {
	ID, Title, Dir string
	Doing          string    // idle, working, or asking a person
	Turns          bool      // a turn runs, or a prompt waits; of one that is not open here: it is open in a process that does not answer
	Last           event.Seq // the newest event
}

// Label is how a session is called.
func (p Peer) Label() string {
	if p.Title == "" {
		return p.ID
	}
	return fmt.Sprintf("%q (%s)", clip.Line(clip.Clean(p.Title), 60), p.ID)
}

// An Order is what an agent is to be.
type Order struct {
	Of     string // the ID of the session that starts it
	Call   string // the call of that session that wants it, "" for none
	Type   string // the name of its definition, "" for the usual agent
	Name   string // that it is known by in the tree, "" for none
	Depth  int    // filled in by the tree: 1 for an agent of a person's session
	Model  string // "" is the one of the definition, or of the session that starts it
	Effort llm.Effort
	Turns  int             // requests that bound its work, 0 for those of the definition
	USD    float64         // that its work may cost, 0 for any amount that the tree may
	Schema json.RawMessage // of a structured answer, nil for none
	// Run is the workflow that it is of, by the ID of its task, and Phase the part of that; ""
	// for none. What a workflow starts counts among its own, waits for room, and may be
	// asked the same as others at the same time.
	Run, Phase string
	// Typed: a person typed its prompt.
	Typed bool
	// Fork: it begins with the conversation of the session that starts it.
	Fork bool
	// Mode is the permission mode that it begins in, where that is stricter than the one of the
	// session that starts it; "" is that one. In plan mode its plan has to be approved.
	Mode policy.Mode
	// Worktree: it works in a worktree of its own, also where its definition does not say so.
	Worktree bool
	// Resume is what Begin returned of it before, where it is to go on; the others but Of
	// and Call do not count then.
	Resume *Begun
}

// IsFork reports whether an agent began with the conversation of the session that started it.
func IsFork(a event.Agent) bool { return a.Type == spawn.Fork }

// Begun is a session that a Host began.
type Begun struct {
	Session string // its ID
	Agent   event.Agent
	Model   string    // provider/model
	Effort  string    // how hard it thinks, "" as the model does
	After   event.Seq // the last event before
	// Worktree is where it works, nil where that is where the session works that started it.
	Worktree *event.Worktree
}

// Bounds are what a tree may have. No text of an agent, a skill or a file can raise them.
type Bounds struct {
	Depth   int // how deep agents may start others
	Alive   int // at once
	Spawned int // in the life of the root session
}

// Usual are the bounds where no setting says something else.
var Usual = Bounds{Depth: 3, Alive: 20, Spawned: 200}

// MaxAlive is the largest number that a setting can allow at once.
const MaxAlive = 64

// A Refused says why an agent is not started. It is for the model.
type Refused struct {
	Why  string
	full bool // until another agent ends
}

func (r *Refused) Error() string { return r.Why }

func refused(format string, args ...any) error { return &Refused{Why: fmt.Sprintf(format, args...)} }

// A Member is an agent of the tree, as it is now.
type Member struct {
	event.Agent
	Order  Order
	Begun  Begun
	Title  string           // what it does, in a few words
	Status event.TaskStatus // "" while it works
	Text   string           // what it came to, once it has ended
	Doubt  string           // why what it did looks suspicious, "" where it does not
	End    event.TurnEnded  // how its newest turn ended, once it has ended
	Said   string           // what it works on, in a line of a model; "" for none
	Doing  string           // what it does now, in a few words; "" while it thinks
	Asks   string           // the question that it waits for an answer to, "" for none
	Tally  event.Tally      // since it started or went on
	Began  time.Time
	Active time.Time // when something of it was heard last
	Waits  bool      // the call that started it waits for its end
	Ends   int       // how often it has come to an end
	// Left is the worktree that it had to itself, where it left work in it; nil else.
	Left *event.Worktree
}

// left says where the work is that an agent left in a worktree of its own, "" for none.
func (m Member) left() string {
	if m.Left == nil {
		return ""
	}
	where := "the worktree " + m.Left.Path
	if m.Left.Branch != "" {
		where += " (branch " + m.Left.Branch + ")"
	}
	return fmt.Sprintf("Its work is in %s: %s. Nothing of it is in the files of this session", where, m.Left.Work)
}

// Works reports whether it has not ended.
func (m Member) Works() bool { return m.Status == "" }
