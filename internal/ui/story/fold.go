package story

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// missed reports whether b is a piece of a reply whose beginning nobody here heard, as
// one hears who comes in the middle of it. The whole reply is told when it has ended.
func (s *Story) missed(b event.Body) bool {
	switch b.(type) {
	case event.TextDelta, event.ThinkingDelta, event.PartDone:
		return !s.began
	default: // all else is whole
		return false
	}
}

// Apply folds one event.
func (s *Story) Apply(e event.Event) {
	if s.missed(e.Body) {
		return
	}
	switch b := e.Body.(type) {
	case event.SessionStarted:
		s.id = b.ID
	case event.InputAccepted:
		s.said(e.Seq, e.Time, b)
	case event.TurnStarted:
		s.running, s.Reply, s.live, s.began = true, len(s.Items), false, false
	case event.ReplyStarted:
		s.Reply, s.live, s.began, s.doubt = len(s.Items), true, true, false
	case event.TextDelta:
		s.delta(Spoke, b.At, b.S, e.Time)
	case event.ThinkingDelta:
		s.delta(Thought, b.At, b.S, e.Time)
	case event.PartDone:
		s.part(b.Part, e.Time)
	case event.Waiting:
		s.doubt = true
	case event.Retracted:
		s.retract(b.Why, e.Time)
	case event.Replied:
		s.replied(b, e.Time)
	case event.Dropped:
		s.dropped(b)
	case event.Asked:
		if b.About == event.AboutCost {
			return // a note says it, and it is no call
		}
		_, known := s.ByID[b.Call]
		c := s.call(b.Call, b.Tool, e.Time)
		c.aside = c.aside || !known
		c.ask(b)
	case event.Answered:
		s.with(b.Call, func(c *Call) { c.answer(b) })
	case event.ToolStarted:
		s.started(b, e.Time)
	case event.ToolOutput:
		s.with(b.Call, func(c *Call) { c.hear(b.S) })
	case event.ToolFinished:
		s.finished(b, e.Time)
	case event.Ran:
		s.Ran(b, e.Time)
	case event.TaskStarted:
		s.with(b.Call, func(c *Call) { c.task = b.ID })
	case event.TurnEnded:
		s.ended(b, e.Time)
	case event.Noted:
		s.Note(e.Time, b.Level, b.Text, "")
	case event.SettingsChanged:
		s.settings(b, e.Time)
	case event.GoalChanged:
		level := "info"
		if b.Status == event.GoalBlocked || b.Status == event.GoalBudget {
			level = "warning"
		}
		s.Note(e.Time, level, b.String(), "")
	case event.Compacted:
		s.Note(e.Time, "info", b.String(), "")
	case event.CompactFailed:
		s.Note(e.Time, "warning", b.String(), "")
	case event.Rewound:
		s.rewound(e.Seq, e.Time, b)
	case event.ModelChanged:
		s.changed(e, "model: "+b.Model, b.Why)
	case event.Resumed, event.Situated, event.Spent, event.InputQueued, event.InputRemoved, event.ModeChanged, event.Titled, event.ToolsChanged, event.Extended, event.ServerChanged,
		event.Cleared, event.Bounded, event.Stripped, event.NotesKept, event.MessageSent, event.MessageSettled, event.TodoChanged, event.FilesChanged, event.RewindBegan, event.TaskEnded, event.HookStarted, event.HookEnded, event.Unknown, event.Compacting, event.GoalSet, event.GoalJudging, event.Suggested, event.TaskOutput, event.TaskProgress, event.Queued, event.RewindPlan, event.Rewinding, event.ToolInputDelta:
		// shown elsewhere, or not at all
	}
}

// said is a prompt that the model is given.
func (s *Story) said(seq event.Seq, at time.Time, b event.InputAccepted) {
	switch {
	case b.From != nil && b.From.Task && !b.From.End:
		if b.Steer { // else a note says that it began the turn
			s.Note(at, "info", b.From.Why, "")
		}
	case b.From != nil && !b.From.Notice(): // of an end, the task's own event tells
		s.Note(at, "info", "A message of "+cmp.Or(b.From.Name, b.From.ID)+": "+FirstLine(b.Text), "")
	case b.From == nil && !b.Hidden:
		s.Add(&Item{Kind: Said, Done: true, At: at, ID: b.ID, Seq: seq, Text: b.Text, Pics: len(b.Images), names: b.Attached, Steer: b.Steer})
	}
	s.Reply, s.live = len(s.Items), false
}

// with has f change a call that is shown.
func (s *Story) with(id string, f func(*Call)) {
	if c := s.ByID[id]; c != nil {
		f(c)
	}
}

// ask is a question about the call.
func (c *Call) ask(b event.Asked) {
	c.asked, c.input, c.relayed = true, b.Input, b.Agent != nil
	if c.off { // the session goes on with it
		c.off, c.Ended = false, false
	}
	if c.View == nil {
		c.View = b.View
	}
	c.Title = cmp.Or(c.Title, b.Title)
}

// answer settles the question. Of what has no call of its own, nothing follows.
func (c *Call) answer(b event.Answered) {
	c.asked, c.comment = false, b.Comment
	switch {
	case !c.aside || c.started:
	case b.By.Kind == event.ByInterrupt:
		c.withdraw()
	default:
		c.Ended, c.denied, c.View = true, !b.Allow, nil
	}
}

// withdraw closes a question that nobody answered, and nobody waits for.
func (c *Call) withdraw() { c.asked, c.Ended, c.moot, c.View = false, true, true, nil }

// over ends a call that has no result when its turn ends.
func (c *Call) over(off bool, session string) {
	if c.relayed && c.asked {
		return // the agent that asks goes on
	}
	if c.asked = false; c.aside && !c.started {
		c.withdraw()
		return
	}
	if c.Ended, c.off, c.Wrong, c.why = true, off, !off, "interrupted"; !off {
		return
	}
	c.why = "A hook put this call off. It waits, and the session goes on with it"
	if session != "" {
		c.why += ": adze -p --resume " + session
	}
}

// Running are the commands that calls run now, exactly, the oldest first.
func (s *Story) Running() (out []string) {
	for _, it := range s.Items {
		for _, c := range it.Calls {
			var in struct{ Command string }
			if c.started && !c.Ended && json.Unmarshal(c.input, &in) == nil && in.Command != "" {
				out = append(out, in.Command)
			}
		}
	}
	return out
}

func (s *Story) changed(e event.Event, text, why string) {
	if why != "" && why != "asked" {
		text += " (" + why + ")"
	}
	s.Note(e.Time, "quiet", text, "")
}

func (s *Story) settings(b event.SettingsChanged, at time.Time) {
	counts, waits, wrong := b.Lines()
	var many []string // what decides nothing, in one line where it is more than one
	mended := counts[len(b.Changes):]
	counts = counts[:len(b.Changes):len(b.Changes)]
	rest := make([]string, 0, len(counts))
	for i, c := range b.Changes {
		if name, _, _ := strings.Cut(c.Key, "."); name == "permissions" || c.Later {
			rest = append(rest, counts[i])
		} else if !slices.Contains(many, c.Key) {
			many = append(many, c.Key)
		}
	}
	if len(many) > 1 {
		counts = append([]string{strings.Join(many, ", ")}, rest...)
	}
	for _, l := range counts {
		s.Note(at, "quiet", "settings changed: "+l, "")
	}
	for _, l := range mended {
		s.Note(at, "info", "settings: "+l, "")
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
		s.endStreams()
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

// Last is the newest item of the reply that is being made, above what was told while it
// streams: that does not end it, and stands below it.
func (s *Story) Last() *Item {
	for i := len(s.Items) - 1; s.live && i >= s.Reply; i-- {
		if it := s.Items[i]; it.Kind != Noted || !it.Done {
			return it
		}
	}
	return nil
}

// endStreams ends what streams.
func (s *Story) endStreams() {
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
		s.endStreams()
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
		s.endStreams()
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
		s.Note(now, "quiet", "what stands above is said anew: "+why, "")
	}
	s.Reply, s.live = len(s.Items), false
}

// replied settles a whole reply. When it came as deltas, they have said it.
func (s *Story) replied(b event.Replied, now time.Time) {
	if s.live {
		s.agree(b.Message)
	} else {
		s.retell(b.Message, now, now.Add(b.First-b.Took))
	}
	s.Reply, s.live = len(s.Items), false
}

// agree gives the items of a streamed reply their final text.
func (s *Story) agree(m llm.Message) {
	s.endStreams()
	for _, p := range m.Parts {
		if use, ok := p.(llm.ToolUse); ok {
			if c := s.ByID[use.ID]; c == nil {
				s.call(use.ID, use.Name, time.Time{}).input = use.Input
			}
		}
	}
}

// retell puts a reply that nobody heard into its order: calls that started
// before it was whole come after what it said, unless they were printed. So does what was
// noted after it began.
func (s *Story) retell(m llm.Message, now, began time.Time) {
	from := min(max(s.Reply, s.Printed), len(s.Items))
	for from < len(s.Items) && s.Items[from].Kind == Noted && !s.Items[from].At.After(began) {
		from++
	}
	early := slices.Clone(s.Items[from:])
	s.Items = s.Items[:from]
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
	s.endStreams()
	for i := len(s.Items) - 1; i >= s.Printed; i-- {
		it := s.Items[i]
		if it.Kind == Said && !it.Steer {
			break // what stands before the turn's prompt ended with earlier turns
		}
		for _, c := range it.Calls {
			if !c.Ended && !c.own {
				c.over(b.Reason == event.ToolDeferred, s.id)
			}
		}
		it.Done = true
	}
	switch b.How {
	case event.Interrupted:
		if b.Reason == event.InterruptedSummary {
			s.Note(now, "quiet", "The compaction was interrupted: the conversation is as it was.", "")
			break
		}
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
