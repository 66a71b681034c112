// Package tui is the terminal UI: a client of a session that draws what the
// session says, and submits what a person wants. Model is a state machine
// without I/O: messages go in, effects and frames come out; Run gives it a
// terminal. It knows no tool and no provider, starts no process and reads no
// file: what it needs beside the session comes in through Host.
package tui

import (
	"context"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// clientName is how the session knows us.
const clientName = "terminal"

// A Start says which session to open.
type Start struct {
	Resume   string // an id, a title, or words
	Continue bool   // the newest of this folder
	Fork     bool   // go on in a copy
	Pick     bool   // ask which
	Fresh    bool   // a new one, whatever the command line said
	Model    string // provider/model of the session before, that a fresh one goes on with; "" for that of the settings
	Demo     bool   // on the script model that comes with adze
	// Agent, with an ID, is an agent of the session, which is shown at once.
	Agent ask.Task
}

// A Session is one that is open. Facts are as they were when it was opened, but for
// what the model's change has asked for anew.
type Session struct {
	ask.Facts
	// After is the last event of what is shown as the past, 0 without one.
	After event.Seq
	// Was is what the session came to by then, where that is at hand: it is shown from
	// its newest events on at once. Else all of it is followed from the beginning.
	Was transcript.State
	// Agent, with an ID, is shown at once. The session is there when a person goes back.
	Agent ask.Task
	// Prompt is sent at once.
	Prompt string
	UI     Settings
	// Elsewhere says that the session lives in another process, which goes on when this
	// one ends. No other session can be opened in its place.
	Elsewhere bool
}

// where is the folder that the session works in, for people: "~/src/calc".
func (s *Session) where() string { return paths.Tilde(s.Dir, s.Home) }

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

// A Host is what the UI has beside its sessions. A nil function takes what needs it out
// of the UI.
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
	// End ends a session that Open opened, because another one is opened or, with nil,
	// for another reason. nil: sessions go on when they are left.
	End func(session string, next *Start) error
	// Client has the sessions, and answers what is asked about them and about the run.
	Client client.Client
	// Reports are slash commands that are answered in text, by name.
	Reports map[string]Report
	Looks
	Prompts
	Tools
}

// Looks is how the UI looks to this person.
type Looks struct {
	// Look reads the settings of the UI anew, and keybindings.json.
	Look func(ctx context.Context) (Settings, error)
	// Theme finds a theme by its name; Themes lists them.
	Theme  func(name string, dark bool) (*draw.Theme, error)
	Themes func() []string
	// First reports whether this person starts adze for the first time.
	First func() bool
}

// Prompts are what was typed before.
type Prompts struct {
	// Past are earlier prompts; Remember adds one.
	Past     edit.Past
	Everyone edit.Past // earlier prompts of all projects
	Remember func(e history.Entry)
	// Keep keeps what is in the prompt box on disk, for the case that this
	// process is killed; Lost is what an earlier one in this folder left so, nil when it
	// left nothing. open is the session that is open.
	Keep func(session string, p edit.Prompt) error
	Lost func(ctx context.Context, open string) (*Lost, error)
}

// Tools are those of the person's machine.
type Tools struct {
	// Edit has the person edit a text in their editor, EditFile a file. The terminal is
	// free while it runs.
	Edit     func(ctx context.Context, text string) (string, error)
	EditFile func(ctx context.Context, path string) error
	// ReadFile is the text of a file of at most 1 MB.
	ReadFile func(path string) (string, error)
	// Image is the picture on the clipboard, Picture the one in a file.
	Image   func(ctx context.Context) (op.Image, error)
	Picture func(ctx context.Context, path string) (op.Image, error)
	// Browse opens a page in the person's browser.
	Browse func(ctx context.Context, address string) error
	// Copy puts text where it can be pasted from beside what the terminal does with
	// what it was sent, and says where that is; "" where nothing was to be done.
	Copy func(ctx context.Context, text string, sent bool) (where string, err error)
}

// leave tells a session that nobody is here any more, and ends it where it is ours to end.
func (h Host) leave(ctx context.Context, s *Session, next *Start) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer stop()
	_ = h.Client.Submit(ctx, s.ID, op.Detach{Client: clientName})
	if h.End != nil {
		_ = h.End(s.ID, next)
	}
}

// leaveTime bounds how long a session is told that it is left.
const leaveTime = 2 * time.Second

// now are the facts of a session as they are now.
func (h Host) now(ctx context.Context, s *Session) (ask.Facts, error) {
	r, err := h.ask(ctx, s, ask.Status{})
	if err != nil {
		return ask.Facts{}, err
	}
	return ask.Data[ask.Facts](r)
}

// keep changes something beside the sessions. What a person chose is kept also when they
// leave at once.
func (h Host) keep(ctx context.Context, q ask.Query) error {
	_, err := h.ask(context.WithoutCancel(ctx), nil, q)
	return err
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

// A Report is a slash command that is answered with Markdown: see ask.Slash.
type Report struct {
	About string
	Args  string // a hint, such as "[file]"
	Looks bool   // it may have changed settings of the UI
	// Picks says that something has to be given: a person who gave nothing chooses, of
	// what ask.Pick lists.
	Picks bool
	// Here reports whether it needs this terminal for itself, where Run does it; nil: never.
	Here func(args string) bool
	// Check says what is wrong with the arguments, before Run gets the terminal; nil:
	// nothing can be.
	Check func(ctx context.Context, args string) error
	Run   func(ctx context.Context, args string) (string, error)
}
