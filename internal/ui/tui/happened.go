package tui

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// events folds what the session said.
func (m *Model) events(in eventsMsg) []effect {
	if in.of != m.s || m.s == nil {
		return nil // of a session that is left
	}
	var out []effect
	for _, e := range in.events {
		out = append(out, m.event(e)...)
	}
	if m.screen.plain {
		m.progresses()
	}
	if in.over && !m.left {
		m.ended(in.why)
	}
	return out
}

// ended says why no more will come of the session, and how it goes on.
func (m *Model) ended(why error) {
	m.turn.running = false
	resume := "adze --resume " + m.s.ID
	switch {
	case why == nil, errors.Is(why, &op.Refusal{Code: op.NoSession}): // or while the connection was made again
		m.note("error", "The session ended.", resume)
	case m.s.Elsewhere && errors.Is(why, client.ErrUnreachable):
		m.note("error", "The process that has the session cannot be reached any more. Where it still runs, the session goes on.", "adze attach "+m.s.ID+" shows it again; where the process is gone, "+resume+" goes on with it")
	default:
		m.note("error", "The session cannot be followed any more: "+draw.String(why.Error()), resume)
	}
}

func (m *Model) event(e event.Event) []effect {
	old := m.past
	if e.Seq > m.st.Seq || e.Seq == 0 && m.st.Seq == 0 { // of the past, the state is there; what extensions there are comes before the first event
		m.st = m.st.Apply(e)
	}
	if old {
		if _, asked := e.Body.(event.Asked); !asked && !m.before(e) {
			m.story.Apply(e)
			m.hang(e.Body)
		}
		if _, began := e.Body.(event.TurnStarted); began {
			m.turn.began = e.Time
		}
		if e.Seq < m.s.After {
			return nil
		}
		m.turn.running = m.st.Running != ""
		return append(m.ready(), append(m.joins(), m.readBack()...)...)
	}
	if b, ok := e.Body.(event.TurnEnded); ok {
		b.Hint = m.helps(b)
		e.Body = b
	}
	m.story.Apply(e)
	return append(m.pictured(e.Body), m.happened(e)...)
}

// joins takes up what goes on in a session that was not begun here: what its turn asks,
// and what runs in the background.
func (m *Model) joins() (out []effect) {
	if !m.s.Elsewhere {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(m.st.Background)) {
		m.begins(m.st.Background[id])
	}
	for _, call := range slices.Sorted(maps.Keys(m.st.Pending)) {
		q := m.st.Pending[call]
		m.story.Apply(event.Event{Seq: m.st.Seq, Time: m.now, Body: q})
		out = append(out, m.ask(q)...)
	}
	if a := m.s.Agent; a.ID != "" {
		out = append(out, m.seeAgent(a, false)...)
	}
	return out
}

// helps is the hint at the end of a turn: what helps here, before what helps outside.
func (m *Model) helps(b event.TurnEnded) string {
	_, saves := m.host.Reports["login"]
	switch {
	case b.Overfull():
		return "/rewind goes back to before an earlier prompt, /model has models with larger windows, /clear begins a new session"
	case saves && b.Kind == event.KeyRefused:
		return strings.TrimSuffix("/login saves a key; "+b.Hint, "; ")
	}
	return b.Hint
}

// happened is what an event means beside its place in the story.
func (m *Model) happened(e event.Event) []effect {
	switch b := e.Body.(type) {
	case event.TurnStarted:
		m.cutOff = false
		m.underway(m.now)
		m.turn = turn{running: true, began: m.now, spin: m.turn.spin}
		return m.changed()
	case event.InputQueued:
		if known := slices.ContainsFunc(m.queue, func(q queued) bool { return q.id == b.ID }); !known && !m.past && b.From == nil {
			m.queue = append(m.queue, m.waits(b, false)) // of another client
		}
	case event.InputAccepted:
		m.accepted(b)
	case event.InputRemoved:
		m.unqueue(b.ID)
	case event.TextDelta, event.ThinkingDelta, event.ToolInputDelta, event.PartDone:
		m.turn.arrives(b)
	case event.ReplyStarted:
		m.turn.waiting = nil
		if len(b.Limits) > 0 {
			m.line.limits = b
		}
	case event.Replied:
		m.turn.typed, m.turn.writes, m.given = 0, "", nil
		return m.changed()
	case event.Waiting:
		m.turn.waiting, m.turn.waits = &b, m.now
		m.waitsAgain(b)
	case event.Asked:
		return m.ask(b)
	case event.Answered:
		m.answeredElsewhere(b)
		m.closeQuestion(b.Call)
		m.granted(b)
	case event.ToolFinished:
		return m.callFinished(b)
	case event.TurnEnded:
		return m.turnEnded(b)
	case event.HookStarted, event.HookEnded:
		m.hooked(e)
		if b, ok := e.Body.(event.HookEnded); ok && b.Terminal != "" {
			return []effect{sequence{b.Terminal}}
		}
	case event.Rewound:
		if m.back != nil {
			m.back.told = b.Cut != ""
		}
		return m.wentBack()
	case event.Rewinding:
		if m.back != nil {
			m.back.done, m.back.of = b.Done, b.Of
		}
	case event.Compacted, event.CompactFailed:
		m.flash = flash{} // that it is being compacted
	case event.GoalJudging:
		m.turn.judged = true
	case event.Suggested:
		if !m.turn.running {
			m.turn.next = b.Text
		}
	case event.GoalSet:
		return m.changed()
	case event.GoalChanged:
		return m.goalChanged(b)
	case event.RewindPlan:
		m.planned(b)
	case event.TaskStarted:
		m.begins(b)
		m.stir()
		return append(m.visits(b), m.changed()...)
	case event.ModelChanged:
		return append(m.changed(), m.measure()...)
	case event.ModeChanged:
		if b.Mode == m.requested { // not of a key that was pressed before
			m.requested = ""
		}
		m.tellMode()
		return m.changed()
	case event.Titled:
		return m.changed()
	case event.SettingsChanged:
		return m.resettled(b)
	case event.ServerChanged:
		m.serverChanged(b)
	case event.TodoChanged:
		m.listed()
	case event.TaskOutput:
		m.stir()
	case event.TaskProgress:
		m.progress(b)
		m.stir()
	case event.TaskEnded:
		m.taskEnded(b)
		m.visits(b)
		m.stir()
		return m.changed()
	case event.Noted:
		m.unqueue(b.Input)
		if b.About == event.AboutGoal {
			return m.call("adze: " + story.FirstLine(b.Text))
		}
	case event.SessionStarted, event.Resumed, event.Situated, event.ToolsChanged, event.Extended, event.Dropped, event.Spent, event.ToolStarted, event.Ran, event.Cleared, event.Bounded, event.Stripped,
		event.NotesKept, event.MessageSent, event.MessageSettled, event.FilesChanged, event.RewindBegan, event.Compacting, event.Unknown, event.Retracted, event.ToolOutput, event.Queued:
		// the story and the fold show these
	}
	return nil
}

// accepted takes a prompt out of the queue. One that begins a turn is remembered until
// the model has answered it: it comes back when it turns out not to fit.
func (m *Model) accepted(b event.InputAccepted) {
	for _, q := range m.queue {
		if q.id == b.ID && !b.Steer {
			m.given = &q
		}
	}
	m.unqueue(b.ID)
}

// callFinished takes note of what a call left for people: no question about it is open any
// more, the todo list is shown where there is room, and what changed files may have
// changed the last line.
func (m *Model) callFinished(b event.ToolFinished) []effect {
	m.closeQuestion(b.Call)
	switch b.View.(type) {
	case view.Diff:
		if !b.IsErr {
			return m.changed()
		}
	case view.Tasks:
		m.listed()
	default: // the story shows it
	}
	return nil
}

// listed shows the todo list, where there is room, because it changed.
func (m *Model) listed() {
	m.turn.listed = true
	m.screen.todos = m.screen.todos || len(m.st.Tasks) > 0 && m.screen.size.Rows >= 20
}

// resettled takes over settings of the UI that changed.
func (m *Model) resettled(b event.SettingsChanged) []effect {
	if slices.ContainsFunc(b.Changes, func(c event.SettingChange) bool {
		return strings.HasPrefix(c.Key, "ui.") || strings.HasPrefix(c.Key, "statusLine.") || strings.HasPrefix(c.Key, "enabledPlugins") || strings.HasPrefix(c.Key, "pluginConfigs")
	}) {
		return m.lookAgain()
	}
	return nil
}

// maxTasks bounds the tasks that are remembered when they have ended.
const maxTasks = 50

// taskEnded says what became of a background task.
func (m *Model) taskEnded(b event.TaskEnded) {
	name := b.ID
	for i := range m.tasks {
		if t := &m.tasks[i]; t.start.ID == b.ID && t.end == nil {
			t.end = &b
			name += " (" + story.FirstLine(t.start.Text) + ")"
			break
		}
	}
	m.tasks = m.tasks[max(0, len(m.tasks)-maxTasks):]
	text := "The background task " + name + " ended after " + clip.Span(b.Took) + "."
	switch {
	case b.Status != "":
		text = fmt.Sprintf("The agent %s ended after %s: %s.", name, clip.Span(b.Took), b.Status)
		if why, _, _ := strings.Cut(b.Text, "\n"); b.Status == event.TaskBlocked && why != "" {
			text = strings.TrimSuffix(text, ".") + ": " + draw.String(clip.Line(clip.Visible(why), 200))
		}
		if b.Doubt != "" {
			m.note("warning", text+" What it did looks suspicious: "+draw.String(b.Doubt), "")
			return
		}
	case b.Killed != "":
		text = "The background task " + name + " was stopped."
	case b.Exit != 0:
		text = fmt.Sprintf("The background task %s ended after %s with exit code %d.", name, clip.Span(b.Took), b.Exit)
	}
	hint := ""
	if b.Output != "" && m.host.ReadFile != nil {
		hint = "/tasks shows what it wrote"
	}
	m.note("info", text, hint)
}

// serverChanged says once that an MCP server needs a person: not each time it
// tries again, and not that it connects.
func (m *Model) serverChanged(b event.ServerChanged) {
	if m.past {
		return
	}
	text := "the MCP server " + draw.String(b.Name)
	switch b.State {
	case event.ServerConnected, event.ServerClosed:
		delete(m.troubled, b.Name)
		return
	case event.ServerFailed:
		text += " failed"
		if b.Why != "" {
			text += ": " + draw.String(b.Why)
		}
	case event.ServerNeedsAuth:
		text += " needs you to sign in: /mcp login " + draw.String(b.Name)
	default:
		return
	}
	if m.troubled[b.Name] == b.State {
		return
	}
	if m.troubled == nil {
		m.troubled = map[string]event.ServerState{}
	}
	m.troubled[b.Name] = b.State
	m.note("warning", text, "")
}

func (m *Model) turnEnded(b event.TurnEnded) []effect {
	took := m.now.Sub(m.turn.began)
	m.finished(b.How, took, m.st.Turn.Spent.Usage.Prompt(), m.st.Turn.Spent.Usage.Out)
	m.turn = turn{spin: m.turn.spin, over: len(m.story.Items), took: took}
	if b.Reason == event.InterruptedSummary {
		m.flash = flash{}
	}
	m.dropQuestions(m.st.Pending)
	out := append(m.changed(), m.unfit(b)...)
	if took > 10*time.Second && b.How != event.Interrupted && m.st.Pursued() == nil {
		out = append(out, m.call("adze is done")...)
	}
	return out
}
