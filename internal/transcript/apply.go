package transcript

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
)

// Apply returns s after e. A live event changes nothing. Every event has a case
// here; those of a call, and those that change what the conversation was, are
// told apart in call and reshaped.
func (s State) Apply(e event.Event) State {
	if _, live := e.Body.(event.Live); live {
		return s
	}
	s.Seq, s.Time = e.Seq, e.Time
	switch b := e.Body.(type) {
	case event.SessionStarted:
		s.Root, s.Start, s.Dir = b.Root, b.Dir, cmp.Or(s.Dir, b.Dir) // a fork begins where its conversation is
		s.Copied = b.At
	case event.Resumed:
		s = s.resumed(b)
	case event.Situated:
		s.Situation = b
	case event.InputQueued:
		s.Queue = append(slices.Clip(s.Queue), b)
		if b.From != nil && b.From.N > s.Mail[b.From.ID] {
			s.Mail = with(s.Mail, b.From.ID, b.From.N)
		}
		if a, ok := s.Agents[bySender(b.From)]; ok && b.From.End {
			a.Told = event.TaskStatus(b.From.Status)
			s.Agents = with(s.Agents, b.From.ID, a)
		}
	case event.InputRemoved:
		s, _ = s.unqueue(b.ID)
	case event.InputAccepted:
		s = s.accepted(e.Seq, b)
	case event.TurnStarted:
		s.Running, s.Model, s.Mode = b.ID, b.Model, b.Mode
		s.Turn, s.Turns = Turn{Seq: e.Seq}, s.Turns+1
		s = s.toward(func(g *Goal) { g.Used++ })
	case event.Replied:
		s = s.replied(e.Seq, e.Time, b)
	case event.Dropped:
		s = s.dropped(b)
	case event.Spent:
		s = s.spend(b).unpriced(b).counted(b)
	case event.Asked, event.Answered, event.ToolStarted, event.ToolFinished:
		s = s.call(e)
	case event.Ran:
		s.Dir = cmp.Or(b.Dir, s.Dir)
		s.talk = s.talk.said(e.Seq).input(e.Seq, []llm.Part{llm.Text{S: b.Text}})
	case event.ModelChanged:
		s.Cache = s.Cache.changed(CacheModel)
		s.Model = b.Model
	case event.ModeChanged:
		s.Mode = b.Mode
	case event.Titled:
		s.Title = b.Title
	case event.ToolsChanged:
		s = s.tools(e.Seq, b)
	case event.Extended:
		s.Extensions = b
	case event.ServerChanged:
		s = s.server(b)
	case event.Cleared, event.Bounded, event.Stripped, event.Compacted, event.CompactFailed, event.NotesKept, event.RewindBegan, event.Rewound:
		s = s.reshaped(e)
	case event.TurnEnded:
		s.talk = s.talk.turnEnded(e.Seq, b.Reason == event.ToolDeferred)
		s.Turn.End, s.Lasted = b, s.Lasted+b.Took
		s = s.toward(func(g *Goal) { g.Worked += b.Took })
		s.Running, s.Pending, s.Started = "", relayed(s.Pending), nil
	case event.TaskStarted:
		if b.Schedule != nil && e.Seq <= s.Copied {
			break // it comes in the session that this one was copied from
		}
		if _, runs := s.Background[b.ID]; !runs { // else its call waits for it no more
			s.Since = with(s.Since, b.ID, e.Time)
		}
		s.Background = with(s.Background, b.ID, b)
		if b.Kind == event.TaskAgent {
			s.Agents = with(s.Agents, b.ID, Agent{TaskStarted: b, Counted: s.Agents[b.ID].Counted})
		}
	case event.TaskEnded:
		b.Did = nil // the log has it
		if was, runs := s.Background[b.ID]; runs {
			s.Past = append(slices.Clip(s.Past), Past{was, s.Since[b.ID], b})
			s.Past = s.Past[max(0, len(s.Past)-maxPast):]
		}
		s.Background, s.Since = without(s.Background, b.ID), without(s.Since, b.ID)
		if a, ok := s.Agents[b.ID]; ok {
			a.End = &b
			s.Agents = with(s.Agents, b.ID, a)
		}
	case event.TodoChanged:
		s.List = s.List.Apply(b.Tasks, b.Order)
		s.Tasks = s.List.All()
	case event.GoalSet, event.GoalChanged:
		s = s.goal(e)
	case event.MessageSent:
		if e.Seq > s.Copied {
			s.Outbox = append(slices.Clip(s.Outbox), Letter{e.Seq, b})
		}
	case event.MessageSettled:
		s.Outbox = slices.DeleteFunc(slices.Clone(s.Outbox), func(l Letter) bool { return l.N == b.N })
	case event.FilesChanged:
		s = s.touched(b.Changed.Files)
	case event.Noted:
		s.Warned = s.Warned || b.About == event.AboutWindow
	case event.SettingsChanged, event.Unknown: // nothing to keep
	case event.ReplyStarted, event.TextDelta, event.ThinkingDelta, event.ToolInputDelta, event.PartDone,
		event.Retracted, event.Waiting, event.ToolOutput, event.HookStarted, event.HookEnded, event.Compacting, event.GoalJudging, event.Suggested, event.TaskOutput, event.TaskProgress, event.Queued, event.RewindPlan, event.Rewinding: // live
	}
	return s
}

// bySender is the ID of whoever sent a prompt, "" for a person.
func bySender(from *op.Sender) string {
	if from == nil {
		return ""
	}
	return from.ID
}

// relayed are the questions of agents, which no turn's end settles.
func relayed(open map[string]event.Asked) (out map[string]event.Asked) {
	for call, q := range open {
		if q.Agent != nil {
			out = with(out, call, q)
		}
	}
	return out
}

// call applies what happens to one call: a question, its answer, start and end.
func (s State) call(e event.Event) State {
	switch b := any(e.Body).(type) {
	case event.Asked:
		s.Pending = with(s.Pending, b.Call, b)
	case event.Answered:
		s = s.answered(b)
	case event.ToolStarted:
		s.Started = with(s.Started, b.Call, b)
	case event.ToolFinished:
		s = s.finished(e.Seq, b)
	default:
		panic(fmt.Sprintf("transcript: %T is no event of a call", b))
	}
	return s
}

// reshaped applies what changes the conversation as it was so far.
func (s State) reshaped(e event.Event) State {
	switch b := any(e.Body).(type) {
	case event.Cleared:
		s.Cache = s.Cache.changed(CacheCleared)
		s.talk = s.talk.clear(b.Calls)
	case event.Bounded:
		s.talk = s.talk.bound(b.Results)
	case event.Stripped:
		s.Cache = s.Cache.changed(CacheStripped)
		s.talk = s.talk.strip(e.Seq)
	case event.Compacted:
		s.Cache = s.Cache.changed(CacheCompacted)
		s = s.compacted(e, b)
	case event.CompactFailed:
		s.Failed, s.FailedAt, s.FailedBy = s.Failed+1, e.Time, b.Why
	case event.NotesKept:
		s.Noted = b.Through
	case event.RewindBegan:
		s.Rewinding = &b
	case event.Rewound:
		s.Rewinding = nil
		s = s.rewound(e.Seq, b)
	default:
		panic(fmt.Sprintf("transcript: %T does not change what the conversation was", b))
	}
	return s
}

// lists reports whether the newest request listed this tool.
func (s State) lists(name string) bool {
	return slices.ContainsFunc(s.Listed, func(l llm.Spec) bool { return l.Name == name })
}

// Knew reports whether the model was told of this tool, in whatever way.
func (s State) Knew(name string) bool {
	loaded := slices.ContainsFunc(s.Loaded, func(l llm.Spec) bool { return l.Name == name })
	return loaded || s.lists(name) || slices.Contains(s.Gone, name) || slices.Contains(s.Told(), name)
}

// tools takes over which tools came and went, and what the model is told of it.
func (s State) tools(seq event.Seq, b event.ToolsChanged) State {
	if slices.ContainsFunc(b.Added, func(name string) bool { return !slices.Contains(b.Named, name) && !s.lists(name) }) {
		s.Cache = s.Cache.changed(CacheTools)
	}
	if b.Text != "" {
		s.talk = s.talk.tells(telling{seq, b.Named, b.Removed, b.Reworded}).input(seq, []llm.Part{llm.Text{S: b.Text}})
	}
	s.Gone = slices.DeleteFunc(slices.Concat(s.Gone, b.Removed), func(name string) bool { return slices.Contains(b.Added, name) })
	return s
}

// resumed goes on in another process. What a command had exported and may not
// come back is lost.
func (s State) resumed(b event.Resumed) State {
	s.Cache = s.Cache.changed(CacheResumed)
	s.Failed = 0 // what a provider could not do then, it may be able to do now
	s = s.lose()
	s.Extensions, s.Servers = event.Extended{}, nil // the new process says what it has
	if b.Dir != "" && b.Dir != s.Start {
		s.Start, s.Dir = b.Dir, b.Dir
	}
	return s
}

// replied gives a reply to the conversation.
func (s State) replied(seq event.Seq, at time.Time, b event.Replied) State {
	s = s.spend(b)
	s.Cache = s.Cache.replied(b, at, s.Answered)
	s.Answered = at
	s.Quiet++
	if len(b.Tools) > 0 {
		s.Listed = b.Tools
	}
	if b.Stop == llm.Refused {
		s.talk = s.talk.refused(seq, s.Turn.Seq, b)
	} else {
		s.talk = s.talk.replied(seq, b)
	}
	return s
}

// unpriced remembers a model whose price is not known.
func (s State) unpriced(b event.Spent) State {
	if !b.Priced {
		s.Turn.Unpriced = b.Model
	}
	return s
}

// counted remembers what of the requests of an agent is counted here.
func (s State) counted(b event.Spent) State {
	q, _ := event.Request(b)
	if a, ok := s.Agents[b.Agent]; ok {
		a.Counted = with(a.Counted, q.Model, a.Counted[q.Model].Plus(q))
		s.Agents = with(s.Agents, b.Agent, a)
	}
	return s
}

// answered closes a question. Rules that came with a yes count in the session.
func (s State) answered(b event.Answered) State {
	s.Pending = without(s.Pending, b.Call)
	if b.Allow && len(b.Rules) > 0 {
		s.Rules = append(slices.Clip(s.Rules), b.Rules...)
	}
	return s
}

// accepted gives a prompt to the conversation, and takes it out of the queue.
func (s State) accepted(seq event.Seq, b event.InputAccepted) State {
	s, queued := s.unqueue(b.ID)
	if b.Text == "" && len(b.Images) == 0 {
		b.Text, b.Images, b.ImagesAt, b.Attached = queued.Text, queued.Images, queued.ImagesAt, queued.Attached
	}
	if !b.Hidden && (b.From == nil || b.Typed != (op.Span{}) || !b.From.Notice() && b.From.As == "") {
		if s.First == "" {
			s.First = b.Text
		}
		s.Last = b.Text
		s.Said = said(s.Said, Said{Seq: seq, ID: b.ID, Text: b.Text})
		s.talk = s.talk.said(seq)
	}
	if g := s.Goal; g != nil && b.ID != "" && b.ID == g.Prompt {
		s = s.toward(func(g *Goal) { g.From = seq })
	}
	if b.Changed != nil {
		s = s.touched(b.Changed.Files)
	}
	if b.Skill != nil {
		s = s.used(*b.Skill)
	}
	if b.Read != "" {
		b.Text, b.ImagesAt = b.Read, nil
	}
	parts := llm.Among(b.Text, b.Images, b.ImagesAt)
	for _, a := range b.Attached {
		if a.Text != "" {
			parts = append(parts, llm.Text{S: a.Text})
		}
		for _, img := range a.Images {
			parts = append(parts, img)
		}
		s = s.saw(a.Saw)
	}
	s.talk = s.talk.input(seq, parts)
	return s
}

// unqueue takes the prompt with this ID out of the queue.
func (s State) unqueue(id string) (State, event.InputQueued) {
	i := slices.IndexFunc(s.Queue, func(q event.InputQueued) bool { return q.ID == id })
	if i < 0 {
		return s, event.InputQueued{}
	}
	q := s.Queue[i]
	s.Queue = slices.Concat(s.Queue[:i], s.Queue[i+1:])
	return s, q
}

// spend counts the request to a model that b tells of.
func (s State) spend(b event.Body) State {
	r, ok := event.Request(b)
	if !ok {
		return s
	}
	s.Total, s.Turn.Spent = s.Total.Plus(r), s.Turn.Spent.Plus(r)
	s.ByModel = with(s.ByModel, r.Model, s.ByModel[r.Model].Plus(r))
	if r.For != "" {
		s.Helpers = with(s.Helpers, r.For, s.Helpers[r.For].Plus(r))
	}
	return s
}

// dropped forgets the calls of a reply that never came to its end. What their
// results said about files is forgotten too: the model has not seen it.
func (s State) dropped(b event.Dropped) State {
	s = s.spend(b)
	for _, call := range b.Calls {
		s.Pending = without(s.Pending, call)
	}
	for _, r := range s.talk.early {
		s = s.forget(r.Files)
	}
	s.talk = s.talk.dropped(b.Calls)
	return s
}

// server takes over how a server is.
func (s State) server(b event.ServerChanged) State {
	i, found := slices.BinarySearchFunc(s.Servers, b.Name, func(x event.ServerChanged, name string) int { return cmp.Compare(x.Name, name) })
	out := slices.Clone(s.Servers)
	switch gone := b.State == event.ServerClosed; {
	case found && gone:
		out = slices.Delete(out, i, i+1)
	case found:
		out[i] = b
	case !gone:
		out = slices.Insert(out, i, b)
	}
	s.Servers = out
	return s
}

// lose lets go what was exported and not kept: it ended with its process.
func (s State) lose() State {
	var kept []effect.Export
	s.Lost = nil
	for _, x := range s.Exports {
		if !x.Hidden {
			kept = append(kept, x)
		} else if !slices.Contains(s.Lost, x.Name) {
			s.Lost = append(s.Lost, x.Name)
		}
	}
	s.Exports = kept
	return s
}

// with and without copy: the maps are small, and other states share them.
func with[V any](m map[string]V, k string, v V) map[string]V {
	c := make(map[string]V, len(m)+1)
	maps.Copy(c, m)
	c[k] = v
	return c
}

func without[V any](m map[string]V, k string) map[string]V {
	if _, ok := m[k]; !ok {
		return m
	}
	c := maps.Clone(m)
	delete(c, k)
	return c
}
