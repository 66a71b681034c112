// Package story is the conversation of a session as people see it: a fold of
// events into items, and how each is drawn as lines. The terminal UI, print
// mode at a terminal and the HTML export show the same items through it. It
// knows no terminal, and no tool by its name.
package story

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

// maxTail bounds what is kept of the output of a running call, in bytes.
const maxTail = 16 << 10

// A Kind is what an item shows.
type Kind uint8

// The kinds.
const (
	Said    Kind = iota // by the person
	Spoke               // by the model
	Thought             // by the model, folded
	Called              // one call, or several that only look at things
	Noted               // by adze
)

// An Item is one thing of the conversation, as a screen shows it. It changes
// until it is done.
type Item struct {
	Kind  Kind
	Done  bool
	At    time.Time
	Text  string
	Level string           // of noted: info, warning, error, quiet
	Hint  string           // of noted
	Shape view.Block       // of noted: shown in place of Text
	Steer bool             // of said: it joined a running turn
	Pics  int              // of said: images
	names []event.Attached // of said: what it names
	ID    string           // of said
	Typed bool             // of said, or of a report: it stands on the screen as it was typed
	Seq   event.Seq        // of said, and of what tells of a rewind
	Files map[string]bool  // of said: what changed on disk until the next one
	went  event.Trail      // of noted: it tells of a rewind
	Back  event.Seq        // the rewind that took it back, 0 without
	took  time.Duration
	Calls []*Call

	Figures []Figure // its pictures
	Drawing int      // pictures that are being made ready

	Stream *draw.Stream // of spoke, while it streams on a screen
	Begun  bool         // something of it was printed
	heard  int          // bytes that deltas brought
	gap    bool         // some deltas are missing
}

// A Call is one call of a tool.
type Call struct {
	ID, name string
	Title    string
	fold     string // see event.ToolStarted
	shell    bool   // likewise
	input    json.RawMessage
	at       time.Time // when it started
	started  bool
	asked    bool // a person is asked about it now
	relayed  bool // an agent asks, not the session's turn
	tail     []byte
	View     view.Block // of the result, or before that what a person was shown
	text     string     // for the model; shown when there is no view
	Ended    bool
	Wrong    bool
	denied   bool
	off      bool   // a hook put it off: it waits for the session to go on
	why      string // of a denial
	comment  string // what the person said with the answer
	took     time.Duration
	own      bool   // the person's, not the model's
	moot     bool   // it was asked about, and ended before an answer
	aside    bool   // asked about though no call was: what a running one turned out to do
	task     string // the background task that it became
}

// A Figure is a picture of the conversation: as lines, and where the terminal
// shows images, as what it is sent for them.
type Figure struct {
	Lines []draw.Line
	Seq   []byte
}

// A Story is the conversation so far. It is a fold of events; live events make
// it appear while it happens, durable ones alone give the same in the end.
type Story struct {
	Items []*Item
	Reply int  // the first item of the reply that is being made
	live  bool // that reply came as deltas
	began bool // the beginning of a reply was heard in this turn
	doubt bool // that reply broke off: what it said stays only if no other comes
	ByID  map[string]*Call
	// Printed is how many items were handed to the terminal's scrollback. They
	// do not change any more.
	Printed int
	running bool
	id      string // of the session, "" where its beginning was not seen
}

func New() *Story { return &Story{ByID: map[string]*Call{}} }

func (s *Story) Add(it *Item) *Item {
	s.Items = append(s.Items, it)
	return it
}

func (s *Story) Note(at time.Time, level, text, hint string) {
	s.Add(&Item{Kind: Noted, Done: true, At: at, Level: level, Text: text, Hint: hint})
}

// Ready reports whether item i can be printed for good.
func (s *Story) Ready(i int) bool {
	it := s.Items[i]
	if it.Drawing > 0 || s.doubt && s.live && i >= s.Reply && it.Kind != Noted {
		return false
	}
	if it.Kind != Called {
		return it.Done
	}
	for _, c := range it.Calls {
		if !c.Ended {
			return false
		}
	}
	if !it.folds() || !s.running {
		return true
	}
	// More may join while nothing else has come.
	if i+1 >= len(s.Items) {
		return false
	}
	next := s.Items[i+1]
	return next.Kind != Called || next.Calls[0].started || next.Calls[0].Ended
}

// Drawing reports whether pictures are being made ready for what was not printed yet.
func (s *Story) Drawing() bool {
	return slices.ContainsFunc(s.Items[s.Printed:], func(it *Item) bool { return it.Drawing > 0 })
}

// Own is a command of the person's own that runs, nil without.
func (s *Story) Own() *Call {
	for _, it := range s.Items[s.Printed:] {
		for _, c := range it.Calls {
			if c.own && !c.Ended {
				return c
			}
		}
	}
	return nil
}

// Shell reports whether the call runs a command, which can be moved to the
// background.
func (c *Call) Shell() bool { return c.shell }

// Lasts is how long a call runs by now.
func (c *Call) Lasts(now time.Time) time.Duration { return now.Sub(c.at) }

// Open is the newest call of the model that runs, nil without.
func (s *Story) Open() *Call {
	for i := len(s.Items) - 1; i >= s.Printed; i-- {
		for _, c := range slices.Backward(s.Items[i].Calls) {
			if c.started && !c.Ended && !c.own {
				return c
			}
		}
	}
	return nil
}

// Next draws the items that are settled and were not drawn by it before, for
// where lines are printed and stay.
func (s *Story) Next(p Paper) []draw.Line { return s.next(p, len(s.Items)) }

// NextButLast is Next without what the model said last: it may be the answer,
// which is shown elsewhere, and without calls that are over before the reply that
// makes them is whole: what it said stands above them.
func (s *Story) NextButLast(p Paper) []draw.Line {
	n := len(s.Items)
	if s.running && !s.live {
		for i := max(s.Reply, s.Printed); i < n; i++ {
			if s.Items[i].Kind == Called {
				n = i
			}
		}
	}
	for i := n - 1; i >= s.Printed; i-- {
		switch s.Items[i].Kind {
		case Spoke:
			n = i
			continue
		case Noted:
			continue
		case Said, Thought, Called:
			return s.next(p, n)
		}
	}
	return s.next(p, n)
}

// next draws what is settled of the items before the nth.
func (s *Story) next(p Paper, n int) []draw.Line {
	var out []draw.Line
	for s.Printed < n && s.Ready(s.Printed) {
		it := s.Items[s.Printed]
		lines := p.Item(it)
		if len(lines) > 0 && s.Printed > 0 && Apart(s.Items[s.Printed-1], it) {
			out = append(out, nil)
		}
		out = append(out, lines...)
		s.Printed++
	}
	return out
}
