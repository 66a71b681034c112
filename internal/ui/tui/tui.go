// Package tui is the terminal UI: a client of a session that draws what the
// session says, and submits what a person wants. Model is a state machine
// without I/O: messages go in, effects and frames come out; Run gives it a
// terminal. It knows no tool and no provider, starts no process and reads no
// file: what it needs beside the session comes in through Host.
package tui

import (
	"context"
	"iter"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// clientName is how the session knows us.
const clientName = "terminal"

// A Client is what the UI needs of a session, wherever it runs.
type Client interface {
	Submit(ctx context.Context, o op.Op) error
	Follow(ctx context.Context, after event.Seq, d event.Detail) iter.Seq2[event.Event, error]
}

// A Start says which session to open.
type Start struct {
	Resume   string // an id, a title, or words
	Continue bool   // the newest of this folder
	Fork     bool   // go on in a copy
	Pick     bool   // ask which
	Fresh    bool   // a new one, whatever the command line said
	Model    string // provider/model of the session before, that a fresh one goes on with; "" for that of the settings
	Demo     bool   // on the script model that comes with adze
}

// ends is why the session that is open makes room for this one.
func (s Start) ends() hook.Ending {
	switch {
	case s.Fresh:
		return hook.EndClear
	case s.Resume != "":
		return hook.EndResume
	}
	return hook.EndOther
}

// A Session is one that is open.
type Session struct {
	Client
	ID  string
	Dir string // where it works, for people: "~/src/calc"
	// Cwd and Root are for programs, absolute: where it began to work, and the project.
	Cwd, Root string
	// Transcript is the file of what happened by now in the published form, which is kept
	// from the first time on that it is asked for; nil: there is none. It may wait for a disk.
	Transcript func() string
	Home       string // the person's, absolute; "" when it is not known
	Branch     string
	Model      string // provider/model
	Window     int    // of the model in tokens, 0 when unknown
	Room       int    // what of it a conversation may fill
	// Sizes are Window and Room of the model as it is now. nil: it stays.
	Sizes func() (window, room int)
	Mode  policy.Mode
	// After is the last event of an earlier run; what comes up to it is shown
	// as what was.
	After event.Seq
	// Was is what the session came to by then, and Past reads the events that
	// Follow was not asked for. Without them all of it is followed.
	Was  transcript.State
	Past Past
	Kept bool // it can be resumed
	// Prompt is sent at once.
	Prompt string
	UI     Settings
	// Modes are those that Shift+Tab goes through.
	Modes []policy.Mode
	// Close ends it; its hooks are told why.
	Close func(why hook.Ending) error
	// Effort is how hard the model thinks now, "" when nobody said. nil: nobody knows.
	Effort func() string
	// Aside asks the model a question that does not enter the conversation.
	Aside func(ctx context.Context, question string) (string, error)
	// Fills says what fills the model's window. nil: nobody knows.
	Fills func() view.Block
	// Memory lists the memory files that were read so far, and notes. nil: none.
	Memory func() []Choice
	// Rules are the permission rules and the mode in force. nil: nobody knows.
	Rules func() (policy.Rules, policy.Mode)
}

// Settings are those of ui.*, and the status line's.
type Settings struct {
	Theme    string
	Vim      bool
	ASCII    bool
	Thinking bool // show it unfolded
	// Fullscreen draws on the alternate screen, in the place of the terminal's
	// scrollback.
	Fullscreen bool
	Notify     string // auto, bell, off
	TitleOff   bool   // leave the terminal's title alone
	Status     StatusLine
	Keys       *keymap.Map // nil: the defaults
	KeysWrong  []string    // mistakes in keybindings.json, in words
}

// A StatusLine is a person's own command for the footer.
type StatusLine struct {
	Run     func(ctx context.Context, stdin []byte) (string, error) // nil: none
	Padding int
	Every   time.Duration // 0: on changes only
}

// A Choice is one line of a menu.
type Choice = ask.Choice

// An Asker answers questions, as every client.Client does.
type Asker interface {
	Ask(ctx context.Context, session string, q ask.Query) (ask.Reply, error)
}

// A Host is what the UI can have done outside of the session. A nil function
// takes what needs it out of the UI.
type Host struct {
	Version string
	Dir     string // where adze was started, for people
	NewID   func() string
	// Notes are what a person should know and no event says; nil has none.
	Notes <-chan string
	// Stale says that what Look reads beside the settings may be another; nil
	// never does.
	Stale <-chan struct{}
	// Open opens a session. It is called on a goroutine of its own, and takes
	// as long as it takes; the prompt box works meanwhile.
	Open func(ctx context.Context, s Start) (*Session, error)
	// Client answers what is asked about the sessions and the run.
	Client Asker
	// Look reads the settings of the UI anew, and keybindings.json.
	Look func(ctx context.Context) (Settings, error)
	// Save writes a setting of the person's own file.
	Save func(key string, value any) error
	// Theme finds a theme by its name; Themes lists them.
	Theme  func(name string, dark bool) (*draw.Theme, error)
	Themes func() []string
	// Past are earlier prompts; Remember adds one.
	Past     edit.Past
	Everyone edit.Past // earlier prompts of all projects
	Remember func(e history.Entry)
	// Keep keeps what is in the prompt box on disk, for the case that this
	// process is killed; Lost is what an earlier one in this folder left so (open is the session that is open), nil
	// when it left nothing.
	Keep func(session string, p edit.Prompt) error
	Lost func(ctx context.Context, open string) (*Lost, error)
	// Edit has the person edit a text in their editor. The terminal is free
	// while it runs.
	Edit func(ctx context.Context, text string) (string, error)
	// Image is the picture on the clipboard.
	Image func(ctx context.Context) (op.Image, error)
	// Picture is the picture in a file.
	Picture func(ctx context.Context, path string) (op.Image, error)
	// Browse opens a page in the person's browser.
	Browse func(ctx context.Context, address string) error
	// Copy puts text where it can be pasted from beside what the terminal does with
	// what it was sent, and says where that is; "" where nothing was to be done.
	Copy func(ctx context.Context, text string, sent bool) (where string, err error)
	// Memory lists the memory files that a line can be added to; Note adds it.
	Memory func() []Choice
	Note   func(file, line string) error
	// Open file in the person's editor; the terminal is free meanwhile.
	EditFile func(ctx context.Context, path string) error
	// ReadFile is the text of a file of at most 1 MB.
	ReadFile func(path string) (string, error)
	// Forget removes a rule from the settings file that it stands in.
	Forget func(ctx context.Context, r policy.Rule) error
	// Reports are commands that print something, by name.
	Reports map[string]Report
	// Hooks lists the hooks that are set, as Markdown.
	Hooks func(ctx context.Context) (string, error)
	// First reports whether this person starts adze for the first time.
	First func() bool
	// Keyless reports whether a session could not be opened because there is no
	// model: no key and no local server.
	Keyless func(error) bool
	// Unkeyed reports whether a session could not be opened because there is no key
	// for the model that was named.
	Unkeyed func(error) bool
	// Taken reports whether a session could not be opened because another
	// process has it open.
	Taken func(error) bool
	// Trust is what this folder brings that could run or steer, when nobody has
	// decided about it yet; nil is nothing.
	Trust func(ctx context.Context) (*Trust, error)
}

// ask asks about a session that is open, or about the run.
func (h Host) ask(ctx context.Context, s *Session, q ask.Query) (ask.Reply, error) {
	session := ""
	if s != nil {
		session = s.ID
	}
	return h.Client.Ask(ctx, session, q)
}

// dataOf is the Data of what answers a question about the run.
func dataOf[T any](ctx context.Context, h Host, q ask.Query) (v T, err error) {
	r, err := h.ask(ctx, nil, q)
	if err != nil {
		return v, err
	}
	return ask.Data[T](r)
}

// A Report is a slash command that the host answers with Markdown.
type Report struct {
	About string
	Args  string // a hint, such as "[file]"
	// Away reports whether it needs the terminal for itself; nil: never.
	Away func(args string) bool
	// Check says what is wrong with the arguments of one that needs the terminal,
	// before it gets it; nil: nothing can be.
	Check func(ctx context.Context, args string) error
	Looks bool // it may have changed settings of the UI
	// Choose lists what its argument can be; a person who gave none chooses. nil: nothing has to be given.
	Choose func(ctx context.Context) ([]Choice, error)
	Run    func(ctx context.Context, s *Session, args string) (string, error)
}

// Trust is a decision about what a folder brings.
type Trust struct {
	ask.Claims
	Grant func(ctx context.Context) error
	// Decline has it not asked again before it changes; nil cannot.
	Decline func(ctx context.Context) error
}

// A paper is what dialogs and items are drawn on.
type paper struct{ story.Paper }
