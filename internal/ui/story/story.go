// Package story is the conversation of a session as people see it: a fold of
// events into items, and how each is drawn as lines. The terminal UI, print
// mode at a terminal and the HTML export show the same items through it. It
// knows no terminal, and no tool by its name.
package story

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
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
	steer bool             // of said: it joined a running turn
	Pics  int              // of said: images
	names []event.Attached // of said: what it names
	ID    string           // of said
	Seq   event.Seq        // of said, and of what tells of a rewind
	Files map[string]bool  // of said: what changed on disk until the next one
	went  *Went            // of noted: it tells of a rewind
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
	input    json.RawMessage
	at       time.Time // when it started
	started  bool
	asked    bool // a person is asked about it now
	tail     []byte
	View     view.Block // of the result, or before that what a person was shown
	text     string     // for the model; shown when there is no view
	Ended    bool
	Wrong    bool
	denied   bool
	why      string // of a denial
	comment  string // what the person said with the answer
	took     time.Duration
	own      bool   // the person's, not the model's
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
	ByID  map[string]*Call
	// printed is how many items were handed to the terminal's scrollback. They
	// do not change any more.
	Printed int
	running bool
}

func New() *Story { return &Story{ByID: map[string]*Call{}} }

func (s *Story) Add(it *Item) *Item {
	s.Items = append(s.Items, it)
	return it
}

func (s *Story) Note(at time.Time, level, text, hint string) {
	s.Add(&Item{Kind: Noted, Done: true, At: at, Level: level, Text: text, Hint: hint})
}

// Apply folds one event.
func (s *Story) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.InputAccepted:
		if !b.Hidden {
			s.Add(&Item{Kind: Said, Done: true, At: e.Time, ID: b.ID, Seq: e.Seq, Text: b.Text, Pics: len(b.Images), names: b.Attached, steer: b.Steer})
		}
		s.Reply, s.live = len(s.Items), false
	case event.TurnStarted:
		s.running, s.Reply, s.live = true, len(s.Items), false
	case event.ReplyStarted:
		s.Reply, s.live = len(s.Items), true
	case event.TextDelta:
		s.delta(Spoke, b.At, b.S, e.Time)
	case event.ThinkingDelta:
		s.delta(Thought, b.At, b.S, e.Time)
	case event.PartDone:
		s.part(b.Part, e.Time)
	case event.Retracted:
		s.retract(b.Why, e.Time)
	case event.Replied:
		s.replied(b, e.Time)
	case event.Dropped:
		s.dropped(b)
	case event.Asked:
		c := s.call(b.Call, b.Tool, e.Time)
		c.asked, c.input = true, b.Input
		if c.View == nil {
			c.View = b.View
		}
		if c.Title == "" {
			c.Title = b.Title
		}
	case event.Answered:
		if c := s.ByID[b.Call]; c != nil {
			c.asked, c.comment = false, b.Comment
		}
	case event.ToolStarted:
		s.started(b, e.Time)
	case event.ToolOutput:
		if c := s.ByID[b.Call]; c != nil {
			c.hear(b.S)
		}
	case event.ToolFinished:
		s.finished(b, e.Time)
	case event.Ran:
		s.Ran(b, e.Time)
	case event.TaskStarted:
		if c := s.ByID[b.Call]; c != nil {
			c.task = b.ID
		}
	case event.TurnEnded:
		s.ended(b, e.Time)
	case event.Noted:
		s.Note(e.Time, b.Level, b.Text, "")
	case event.SettingsChanged:
		s.settings(b, e.Time)
	case event.Compacted:
		s.Note(e.Time, "info", b.String(), "")
	case event.CompactFailed:
		s.Note(e.Time, "warning", b.String(), "")
	case event.Rewound:
		s.rewound(e.Seq, e.Time, b)
	case event.ModelChanged:
		s.changed(e, "model: "+b.Model, b.Why)
	case event.Resumed, event.SessionStarted, event.Situated, event.Spent, event.InputQueued, event.InputRemoved, event.ModeChanged, event.Titled, event.ToolsChanged,
		event.Cleared, event.Stripped, event.NotesKept, event.TaskEnded, event.HookStarted, event.HookEnded, event.Unknown, event.Waiting, event.Compacting, event.TaskOutput, event.Queued, event.RewindPlan, event.ToolInputDelta:
		// shown elsewhere, or not at all
	}
}

func (s *Story) changed(e event.Event, text, why string) {
	if why != "" && why != "asked" {
		text += " (" + why + ")"
	}
	s.Note(e.Time, "quiet", text, "")
}

func (s *Story) settings(b event.SettingsChanged, at time.Time) {
	counts, waits, wrong := b.Lines()
	for _, l := range counts {
		s.Note(at, "quiet", "settings changed: "+l, "")
	}
	for _, l := range slices.Concat(waits, wrong) {
		s.Note(at, "warning", "settings: "+l, "")
	}
}

// delta adds to what streams. at is where text stands in all that is of its
// kind in this reply.
func (s *Story) delta(k Kind, at int, text string, now time.Time) {
	before := 0
	for _, it := range s.Items[min(s.Reply, len(s.Items)):] {
		if it.Kind == k {
			before += it.heard
		}
	}
	last := s.Last()
	if last == nil || last.Kind != k || last.Done {
		s.settle()
		last = s.Add(&Item{Kind: k, At: now})
	}
	if at != before {
		last.gap = true
	}
	last.heard += len(text)
	if last.gap {
		return
	}
	last.Text += text
	if last.Stream != nil {
		last.Stream.Write(text)
	}
}

// Last is the newest item of the reply that is being made.
func (s *Story) Last() *Item {
	if len(s.Items) <= s.Reply || !s.live {
		return nil
	}
	return s.Items[len(s.Items)-1]
}

// settle ends what streams.
func (s *Story) settle() {
	for i := len(s.Items) - 1; i >= s.Reply; i-- {
		if it := s.Items[i]; it.Kind == Spoke || it.Kind == Thought {
			it.Done = true
		}
	}
}

// part ends a part of the reply that streams.
func (s *Story) part(p llm.Part, now time.Time) {
	switch p := p.(type) {
	case llm.Text:
		s.whole(Spoke, p.S, now)
	case llm.Thinking:
		s.whole(Thought, p.S, now)
	case llm.ToolUse:
		s.settle()
		c := s.call(p.ID, p.Name, now)
		c.input = p.Input
	case llm.ToolResult, llm.Image, llm.Document:
	}
}

// whole gives the text of a finished part.
func (s *Story) whole(k Kind, text string, now time.Time) {
	last := s.Last()
	if last == nil || last.Kind != k || last.Done {
		if strings.TrimSpace(text) == "" {
			return
		}
		s.settle()
		last = s.Add(&Item{Kind: k, At: now, heard: len(text)})
	}
	if last.Text != text { // deltas are missing, or it was cleaned
		if rest, ok := strings.CutPrefix(text, last.Text); ok && last.Stream != nil {
			last.Stream.Write(rest)
		}
		last.Text = text
	}
	last.gap, last.Done, last.took = false, true, now.Sub(last.At)
}

// retract takes back what a reply said that begins anew. What was printed
// stays, and is said to be void.
func (s *Story) retract(why string, now time.Time) {
	keep := s.Items[:max(s.Reply, s.Printed)]
	void := s.Printed > s.Reply
	for i, it := range s.Items[len(keep):] {
		if i == 0 && it.Begun {
			it.Done, void = true, true
			keep = append(keep, it)
		}
	}
	s.Items = keep
	if void {
		s.Note(now, "quiet", "that reply broke off and begins anew: "+why, "")
	}
	s.Reply, s.live = len(s.Items), false
}

// replied settles a whole reply. When it came as deltas, they have said it.
func (s *Story) replied(b event.Replied, now time.Time) {
	if s.live {
		s.agree(b.Message)
	} else {
		s.retell(b.Message, now)
	}
	s.Reply, s.live = len(s.Items), false
}

// agree gives the items of a streamed reply their final text.
func (s *Story) agree(m llm.Message) {
	s.settle()
	for _, p := range m.Parts {
		if use, ok := p.(llm.ToolUse); ok {
			if c := s.ByID[use.ID]; c == nil {
				s.call(use.ID, use.Name, time.Time{}).input = use.Input
			}
		}
	}
}

// retell puts a reply that nobody heard into its order: calls that started
// before it was whole come after what it said.
func (s *Story) retell(m llm.Message, now time.Time) {
	early := slices.Clone(s.Items[s.Reply:])
	s.Items = s.Items[:s.Reply]
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			if strings.TrimSpace(p.S) != "" {
				s.Add(&Item{Kind: Spoke, Done: true, At: now, Text: p.S})
			}
		case llm.Thinking:
			if strings.TrimSpace(p.S) != "" {
				s.Add(&Item{Kind: Thought, Done: true, At: now, Text: p.S})
			}
		case llm.ToolUse:
			i := slices.IndexFunc(early, func(it *Item) bool { return it.has(p.ID) })
			if i < 0 {
				s.call(p.ID, p.Name, now).input = p.Input
				continue
			}
			s.join(early[i])
			early = slices.Delete(early, i, i+1)
		case llm.ToolResult, llm.Image, llm.Document:
		}
	}
	for _, it := range early {
		s.Add(it)
	}
}

func (it *Item) has(id string) bool {
	return slices.ContainsFunc(it.Calls, func(c *Call) bool { return c.ID == id })
}

// Shell is a command of the person's own that begins.
func (s *Story) Shell(id, command string, now time.Time) {
	c := &Call{ID: id, name: "!", Title: "! " + command, at: now, started: true, own: true}
	s.ByID[id] = c
	s.Add(&Item{Kind: Called, At: now, Calls: []*Call{c}})
}

// Ran ends a command of the person's own.
func (s *Story) Ran(b event.Ran, now time.Time) {
	if s.ByID[b.ID] == nil {
		s.Shell(b.ID, b.Command, now)
	}
	c := s.ByID[b.ID]
	c.Ended, c.Wrong, c.took, c.View, c.tail = true, b.IsErr, b.Took, b.View, nil
}

// dropped ends the calls of a reply that was discarded.
func (s *Story) dropped(b event.Dropped) {
	for _, id := range b.Calls {
		if c := s.ByID[id]; c != nil && !c.Ended {
			c.Ended, c.Wrong, c.why = true, true, "its reply was discarded"
		}
		delete(s.ByID, id)
	}
	s.Reply, s.live = len(s.Items), false
}

func (s *Story) ended(b event.TurnEnded, now time.Time) {
	s.settle()
	for i := len(s.Items) - 1; i >= s.Printed; i-- {
		it := s.Items[i]
		if it.Kind == Said && !it.steer {
			break // what stands before the turn's prompt ended with earlier turns
		}
		for _, c := range it.Calls {
			if !c.Ended && !c.own {
				c.Ended, c.Wrong, c.why = true, true, "interrupted"
			}
		}
		it.Done = true
	}
	switch b.How {
	case event.Interrupted:
		text := "Interrupted."
		if b.Err != "" {
			text = "Interrupted: " + b.Err + "."
		}
		s.Note(now, "quiet", text+" What should be done instead?", "")
	case event.Failed:
		s.Note(now, "error", b.Err, b.Hint)
	case event.Stopped:
		s.Note(now, "warning", b.Err, b.Hint)
	case event.Done:
		if b.Final != "" {
			s.Add(&Item{Kind: Spoke, Done: true, At: now, Text: b.Final})
		}
	}
	s.running, s.Reply, s.live = false, len(s.Items), false
}

// Ready reports whether item i can be printed for good.
func (s *Story) Ready(i int) bool {
	it := s.Items[i]
	if it.Drawing > 0 {
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

// Open is the newest call that runs, nil without.
func (s *Story) Open() *Call {
	for i := len(s.Items) - 1; i >= s.Printed; i-- {
		for _, c := range slices.Backward(s.Items[i].Calls) {
			if c.started && !c.Ended {
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
// which is shown elsewhere.
func (s *Story) NextButLast(p Paper) []draw.Line {
	n := len(s.Items)
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
