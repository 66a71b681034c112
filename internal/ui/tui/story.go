package tui

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

// A kind is what an item shows.
type kind uint8

const (
	said    kind = iota // by the person
	spoke               // by the model
	thought             // by the model, folded
	called              // one call, or several that only look at things
	noted               // by adze
)

// An item is one thing of the conversation, as a screen shows it. It changes
// until it is done.
type item struct {
	kind  kind
	done  bool
	at    time.Time
	text  string
	level string           // of noted: info, warning, error, quiet
	hint  string           // of noted
	steer bool             // of said: it joined a running turn
	pics  int              // of said: images
	names []event.Attached // of said: what it names
	id    string           // of said
	seq   event.Seq        // of said, and of what tells of a rewind
	files map[string]bool  // of said: what changed on disk until the next one
	went  *went            // of noted: it tells of a rewind
	back  event.Seq        // the rewind that took it back, 0 without
	took  time.Duration
	calls []*call

	figures []figure // its pictures
	drawing int      // pictures that are being made ready

	stream *draw.Stream // of spoke, while it streams on a screen
	begun  bool         // something of it was printed
	heard  int          // bytes that deltas brought
	gap    bool         // some deltas are missing
}

// A call is one call of a tool.
type call struct {
	id, name string
	title    string
	fold     string // see event.ToolStarted
	input    json.RawMessage
	at       time.Time // when it started
	started  bool
	asked    bool // a person is asked about it now
	tail     []byte
	view     view.Block // of the result, or before that what a person was shown
	text     string     // for the model; shown when there is no view
	ended    bool
	wrong    bool
	denied   bool
	why      string // of a denial
	comment  string // what the person said with the answer
	took     time.Duration
	own      bool   // the person's, not the model's
	task     string // the background task that it became
}

// A story is the conversation so far. It is a fold of events; live events make
// it appear while it happens, durable ones alone give the same in the end.
type story struct {
	items []*item
	reply int  // the first item of the reply that is being made
	live  bool // that reply came as deltas
	byID  map[string]*call
	// printed is how many items were handed to the terminal's scrollback. They
	// do not change any more.
	printed int
	running bool
}

func newStory() *story { return &story{byID: map[string]*call{}} }

func (s *story) add(it *item) *item {
	s.items = append(s.items, it)
	return it
}

func (s *story) note(at time.Time, level, text, hint string) {
	s.add(&item{kind: noted, done: true, at: at, level: level, text: text, hint: hint})
}

// apply folds one event.
func (s *story) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.InputAccepted:
		if !b.Hidden {
			s.add(&item{kind: said, done: true, at: e.Time, id: b.ID, seq: e.Seq, text: b.Text, pics: len(b.Images), names: b.Attached, steer: b.Steer})
		}
		s.reply, s.live = len(s.items), false
	case event.TurnStarted:
		s.running, s.reply, s.live = true, len(s.items), false
	case event.ReplyStarted:
		s.reply, s.live = len(s.items), true
	case event.TextDelta:
		s.delta(spoke, b.At, b.S, e.Time)
	case event.ThinkingDelta:
		s.delta(thought, b.At, b.S, e.Time)
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
		if c.view == nil {
			c.view = b.View
		}
		if c.title == "" {
			c.title = b.Title
		}
	case event.Answered:
		if c := s.byID[b.Call]; c != nil {
			c.asked, c.comment = false, b.Comment
		}
	case event.ToolStarted:
		s.started(b, e.Time)
	case event.ToolOutput:
		if c := s.byID[b.Call]; c != nil {
			c.hear(b.S)
		}
	case event.ToolFinished:
		s.finished(b, e.Time)
	case event.Ran:
		s.ran(b, e.Time)
	case event.TaskStarted:
		if c := s.byID[b.Call]; c != nil {
			c.task = b.ID
		}
	case event.TurnEnded:
		s.ended(b, e.Time)
	case event.Noted:
		s.note(e.Time, b.Level, b.Text, "")
	case event.SettingsChanged:
		s.settings(b, e.Time)
	case event.Compacted:
		s.note(e.Time, "info", "The conversation goes on in a fresh context; what came before it is kept and not sent any more.", "")
	case event.Rewound:
		s.rewound(e.Seq, e.Time, b)
	case event.ModelChanged:
		s.changed(e, "model: "+b.Model, b.Why)
	case event.Resumed, event.SessionStarted, event.Situated, event.Spent, event.InputQueued, event.InputRemoved, event.ModeChanged, event.Titled, event.ToolsChanged,
		event.Cleared, event.Stripped, event.TaskEnded, event.Unknown, event.Waiting, event.TaskOutput, event.Queued, event.RewindPlan, event.ToolInputDelta:
		// shown elsewhere, or not at all
	}
}

func (s *story) changed(e event.Event, text, why string) {
	if why != "" && why != "asked" {
		text += " (" + why + ")"
	}
	s.note(e.Time, "quiet", text, "")
}

func (s *story) settings(b event.SettingsChanged, at time.Time) {
	counts, waits, wrong := b.Lines()
	for _, l := range counts {
		s.note(at, "quiet", "settings changed: "+l, "")
	}
	for _, l := range slices.Concat(waits, wrong) {
		s.note(at, "warning", "settings: "+l, "")
	}
}

// delta adds to what streams. at is where text stands in all that is of its
// kind in this reply.
func (s *story) delta(k kind, at int, text string, now time.Time) {
	before := 0
	for _, it := range s.items[min(s.reply, len(s.items)):] {
		if it.kind == k {
			before += it.heard
		}
	}
	last := s.last()
	if last == nil || last.kind != k || last.done {
		s.settle()
		last = s.add(&item{kind: k, at: now})
	}
	if at != before {
		last.gap = true
	}
	last.heard += len(text)
	if last.gap {
		return
	}
	last.text += text
	if last.stream != nil {
		last.stream.Write(text)
	}
}

// last is the newest item of the reply that is being made.
func (s *story) last() *item {
	if len(s.items) <= s.reply || !s.live {
		return nil
	}
	return s.items[len(s.items)-1]
}

// settle ends what streams.
func (s *story) settle() {
	for i := len(s.items) - 1; i >= s.reply; i-- {
		if it := s.items[i]; it.kind == spoke || it.kind == thought {
			it.done = true
		}
	}
}

// part ends a part of the reply that streams.
func (s *story) part(p llm.Part, now time.Time) {
	switch p := p.(type) {
	case llm.Text:
		s.whole(spoke, p.S, now)
	case llm.Thinking:
		s.whole(thought, p.S, now)
	case llm.ToolUse:
		s.settle()
		c := s.call(p.ID, p.Name, now)
		c.input = p.Input
	case llm.ToolResult, llm.Image, llm.Document:
	}
}

// whole gives the text of a finished part.
func (s *story) whole(k kind, text string, now time.Time) {
	last := s.last()
	if last == nil || last.kind != k || last.done {
		if strings.TrimSpace(text) == "" {
			return
		}
		s.settle()
		last = s.add(&item{kind: k, at: now, heard: len(text)})
	}
	if last.text != text { // deltas are missing, or it was cleaned
		if rest, ok := strings.CutPrefix(text, last.text); ok && last.stream != nil {
			last.stream.Write(rest)
		}
		last.text = text
	}
	last.gap, last.done, last.took = false, true, now.Sub(last.at)
}

// retract takes back what a reply said that begins anew. What was printed
// stays, and is said to be void.
func (s *story) retract(why string, now time.Time) {
	keep := s.items[:max(s.reply, s.printed)]
	void := s.printed > s.reply
	for i, it := range s.items[len(keep):] {
		if i == 0 && it.begun {
			it.done, void = true, true
			keep = append(keep, it)
		}
	}
	s.items = keep
	if void {
		s.note(now, "quiet", "that reply broke off and begins anew: "+why, "")
	}
	s.reply, s.live = len(s.items), false
}

// replied settles a whole reply. When it came as deltas, they have said it.
func (s *story) replied(b event.Replied, now time.Time) {
	if s.live {
		s.agree(b.Message)
	} else {
		s.retell(b.Message, now)
	}
	s.reply, s.live = len(s.items), false
}

// agree gives the items of a streamed reply their final text.
func (s *story) agree(m llm.Message) {
	s.settle()
	for _, p := range m.Parts {
		if use, ok := p.(llm.ToolUse); ok {
			if c := s.byID[use.ID]; c == nil {
				s.call(use.ID, use.Name, time.Time{}).input = use.Input
			}
		}
	}
}

// retell puts a reply that nobody heard into its order: calls that started
// before it was whole come after what it said.
func (s *story) retell(m llm.Message, now time.Time) {
	early := slices.Clone(s.items[s.reply:])
	s.items = s.items[:s.reply]
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			if strings.TrimSpace(p.S) != "" {
				s.add(&item{kind: spoke, done: true, at: now, text: p.S})
			}
		case llm.Thinking:
			if strings.TrimSpace(p.S) != "" {
				s.add(&item{kind: thought, done: true, at: now, text: p.S})
			}
		case llm.ToolUse:
			i := slices.IndexFunc(early, func(it *item) bool { return it.has(p.ID) })
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
		s.add(it)
	}
}

func (it *item) has(id string) bool {
	return slices.ContainsFunc(it.calls, func(c *call) bool { return c.id == id })
}

// shell is a command of the person's own that begins.
func (s *story) shell(id, command string, now time.Time) {
	c := &call{id: id, name: "!", title: "! " + command, at: now, started: true, own: true}
	s.byID[id] = c
	s.add(&item{kind: called, at: now, calls: []*call{c}})
}

// ran ends a command of the person's own.
func (s *story) ran(b event.Ran, now time.Time) {
	if s.byID[b.ID] == nil {
		s.shell(b.ID, b.Command, now)
	}
	c := s.byID[b.ID]
	c.ended, c.wrong, c.took, c.view, c.tail = true, b.IsErr, b.Took, b.View, nil
}

// dropped ends the calls of a reply that was discarded.
func (s *story) dropped(b event.Dropped) {
	for _, id := range b.Calls {
		if c := s.byID[id]; c != nil && !c.ended {
			c.ended, c.wrong, c.why = true, true, "its reply was discarded"
		}
		delete(s.byID, id)
	}
	s.reply, s.live = len(s.items), false
}

func (s *story) ended(b event.TurnEnded, now time.Time) {
	s.settle()
	for i := len(s.items) - 1; i >= s.printed; i-- {
		it := s.items[i]
		if it.kind == said && !it.steer {
			break // what stands before the turn's prompt ended with earlier turns
		}
		for _, c := range it.calls {
			if !c.ended && !c.own {
				c.ended, c.wrong, c.why = true, true, "interrupted"
			}
		}
		it.done = true
	}
	switch b.How {
	case event.Interrupted:
		text := "Interrupted."
		if b.Err != "" {
			text = "Interrupted: " + b.Err + "."
		}
		s.note(now, "quiet", text+" What should be done instead?", "")
	case event.Failed:
		s.note(now, "error", b.Err, b.Hint)
	case event.Stopped:
		s.note(now, "warning", b.Err, b.Hint)
	case event.Done:
		if b.Final != "" {
			s.add(&item{kind: spoke, done: true, at: now, text: b.Final})
		}
	}
	s.running, s.reply, s.live = false, len(s.items), false
}

// ready reports whether item i can be printed for good.
func (s *story) ready(i int) bool {
	it := s.items[i]
	if it.drawing > 0 {
		return false
	}
	if it.kind != called {
		return it.done
	}
	for _, c := range it.calls {
		if !c.ended {
			return false
		}
	}
	if !it.folds() || !s.running {
		return true
	}
	// More may join while nothing else has come.
	if i+1 >= len(s.items) {
		return false
	}
	next := s.items[i+1]
	return next.kind != called || next.calls[0].started || next.calls[0].ended
}

// own is a command of the person's own that runs, nil without.
func (s *story) own() *call {
	for _, it := range s.items[s.printed:] {
		for _, c := range it.calls {
			if c.own && !c.ended {
				return c
			}
		}
	}
	return nil
}

// open is the newest call that runs, nil without.
func (s *story) open() *call {
	for i := len(s.items) - 1; i >= s.printed; i-- {
		for _, c := range slices.Backward(s.items[i].calls) {
			if c.started && !c.ended {
				return c
			}
		}
	}
	return nil
}
