package session

import (
	"context"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/tool"
)

// Config is what a session needs from outside, by what it is for.
type Config struct {
	Record
	Turns
	Hands
	Permissions
	Surroundings
	// Hooks are a person's programs; nil has none.
	Hooks Hooks
	// Fresh, when set, has what settings say count before a prompt is looked at, and
	// before each call starts.
	Fresh func()
	Now   func() time.Time
}

// Record is what a session keeps, and where.
type Record struct {
	Log store.Log
	// Keeper keeps snapshots of what the log comes to, so that its beginning is
	// not read again; nil keeps none.
	Keeper store.Keeper
	// Begin is recorded when the log is empty, Again when it is not.
	Begin event.SessionStarted
	Again event.Resumed
	// Base is the conversation that this session is a fork of; the log goes on behind it.
	// nil: it begins with nothing.
	Base func(ctx context.Context) (Base, error)
}

// Turns is what all turns of a session have in common, and what they may cost.
type Turns struct {
	Loop   *agent.Loop  // of all turns
	Target agent.Target // the model
	// Resolve finds a model by name, for op.SetModel. It is called by the
	// goroutine that submits, because a key may take seconds to come. nil
	// refuses.
	Resolve func(ctx context.Context, name string) (agent.Target, error)
	Budget  agent.Budget // of each turn
	// Judge judges goals; nil: no goal can be set, and one that is set is not pursued.
	Judge Judge
	// WarnUSD is what the session may cost before a person is told, once; 0 says
	// nothing.
	WarnUSD float64
	// AskDear: a turn during which a person is told so waits before its next
	// request until they say that it shall go on.
	AskDear bool
	// Ending is called when a turn has come to its end by itself, before that is recorded. It
	// is waited for. nil is fine.
	Ending func(ctx context.Context)
}

// Hands are what a session can do beside talking to its model.
type Hands struct {
	Tools tool.Set // that the model has
	// DeferAbove is how many tokens of descriptions of tools a model with this window
	// is told at once; of more, those that may be are told by name. nil is any number.
	DeferAbove func(window int) int
	// MoreTools: tools may come while the session runs, or in a later run of it. ToolSearch is listed
	// from the first request then, so that tools which arrive later do not change the cached prefix.
	MoreTools bool
	// Tasks are what runs in the background; nil has none. What becomes of
	// them is told with Session.Report.
	Tasks Tasks
	// EndTasks ends what runs in the background, when the session ends; nil ends nothing.
	EndTasks func()
	// Shell runs a command of the person's own, and says what came of it;
	// progress shows its output while it runs. nil refuses op.Shell.
	Shell func(ctx context.Context, c Command, progress func(string)) event.Ran
	// Files are what calls changed on disk; nil refuses to take that back.
	Files Files
	// Attach reads what a prompt names with "@". It is called by the goroutine
	// that submits. nil attaches nothing.
	Attach func(ctx context.Context, n Naming) []event.Attached
	// Commands are the slash commands of extensions; nil has none.
	Commands Commands
	// Post sends what a prompt says to somebody else, whom it names. told is what became of it,
	// for people; "": it is a prompt for this session. It is called by the goroutine that submits.
	// nil sends nothing.
	Post func(ctx context.Context, p op.Prompt) (told string, err error)
}

// Permissions are what decides on calls beside hooks.
type Permissions struct {
	Rules policy.Rules
	Mode  policy.Mode
	// Forbidden are modes that cannot be switched to, and why.
	Forbidden map[policy.Mode]string
	// Keep saves rules that a person gave for a tool: in a settings file, or
	// for when the session is resumed. It may be called by several goroutines.
	// nil saves nothing.
	Keep func(ctx context.Context, tool string, where op.Keep, rules []string) error
	// Revoke takes back what Keep saved for when the session is resumed. nil has
	// nothing to take back.
	Revoke func(ctx context.Context, rules []string) error
	// Folders makes changes of the further folders that an answer holds, as Keep
	// does; nil can make none.
	Folders func(ctx context.Context, list []op.FolderChange) error
	// Auto rules on questions in the mode auto; nil leaves them to a person.
	Auto *auto.Classifier
	// Facts are what of a call's input Auto may look at, by tool.
	Facts auto.Facts
	// Steers lists what the rules protect besides what is known by its name, as
	// it is now. It is called before decisions on calls that write, by any
	// goroutine, and waited for. nil lists nothing.
	Steers func() []policy.Steer
	// Above puts a question to whoever can be asked where this session was started from.
	// The error is ErrNobody, or ctx has ended. nil: this session is nobody's child.
	Above func(ctx context.Context, q event.Asked) (op.Answer, error)
	// Still looks once more at a call that was allowed, when it is to start: as
	// Session.Still of the session in whose stead this one works. nil: the rules and
	// the mode of this session do.
	Still func(q agent.Question, v agent.Verdict) (agent.Verdict, error)
}

// Surroundings are what the model is told of where it works.
type Surroundings struct {
	// Situation is what the instructions say of where the session is.
	// Resituate puts into words how it differs from what the model knows; it is
	// told that with the next prompt. nil tells nothing.
	Situation event.Situated
	Resituate func(was, now event.Situated) string
	// Pending, while some of Situation is not known yet, puts what was told of that last
	// in its place; Situate ends that. nil: all is known.
	Pending func(was, now event.Situated) event.Situated
	// Remind is what the model is told when it was told of one mode and another
	// one is on, and at the start of each turn; "" is nothing.
	Remind func(told, now policy.Mode) string
}
