package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// key takes one press. What was said about the next one holds for that alone.
func (m *Model) key(k keymap.Key) []effect {
	was := m.armed
	out := m.goesTo(k)
	if m.armed == was {
		m.disarm()
	}
	return out
}

// goesTo gives a key to where it belongs.
func (m *Model) goesTo(k keymap.Key) []effect {
	switch {
	case m.pager != nil:
		m.keyed = m.now
		return m.press(k, []keymap.Context{keymap.Transcript, keymap.Global}, m.pager.act, m.pager.typed)
	case len(m.shown) > 0:
		return m.dialogKey(k)
	}
	if m.keyed = m.now; m.scrolls(k) {
		return nil
	}
	if m.wantsHelp(k) {
		m.open(newHelp(m))
		return nil
	}
	if _, till := m.chord.Pending(); till.IsZero() && m.box.Grabs(k) {
		if k.Same(keymap.Key{Name: "up"}) && m.box.Empty() && m.box.VimPending() == "" && len(m.queue) > 0 {
			return m.takeBack() // as the line of what waits says
		}
		m.box.Key(k)
		return m.edited()
	}
	in := []keymap.Context{keymap.Chat, keymap.Edit, keymap.Global}
	if m.story.Open() != nil && m.turn.running || m.story.Own() != nil {
		in = slices.Insert(in, 0, keymap.Task)
	}
	if m.list != nil {
		in = slices.Insert(in, 0, keymap.Autocomplete)
	}
	return m.press(k, in, (*Model).chatAct, (*Model).typeText)
}

// press finds what a key means: the first of its actions that has something to
// do, else the text that it types.
func (m *Model) press(k keymap.Key, in []keymap.Context, act func(*Model, keymap.Action) ([]effect, bool), typed func(*Model, keymap.Key) []effect) []effect {
	m.pressed = k
	chord, p := m.keys.Press(m.chord, in, k, m.now)
	m.chord = chord
	for _, a := range p.Actions {
		if out, done := act(m, a); done {
			return out
		}
	}
	switch {
	case p.Lost != "":
		m.say(p.Lost+" means nothing", draw.Quiet)
	case !p.Pending && len(p.Actions) == 0 || !p.Pending && k.Types():
		return typed(m, k)
	}
	return nil
}

// wantsHelp reports whether a key is a "?" in an empty prompt, where that is no part of a
// command.
func (m *Model) wantsHelp(k keymap.Key) bool {
	_, till := m.chord.Pending()
	return k.Types() && k.Text == "?" && m.box.Empty() && till.IsZero() && m.box.VimPending() == ""
}

func (m *Model) typeText(k keymap.Key) []effect {
	if m.box.Key(k) == edit.Ignored {
		return nil
	}
	return m.edited()
}

// edited follows a change of the prompt.
func (m *Model) edited() []effect {
	m.disarm() // a paste is no key
	return m.complete()
}

func (m *Model) paste(text string) []effect {
	switch {
	case m.pager != nil:
		return nil
	case len(m.shown) > 0:
		d := m.first()
		if !m.early(d, keymap.Key{}, m.now) && d.Paste(text) {
			return nil
		}
		m.box.Paste(text) // it was meant for the prompt
		m.keyed = m.now
		m.hold()
		if md, is := d.(*menu); is && md.Yields {
			m.close(d)
			return md.dropped(m)
		}
		return nil
	}
	m.keyed = m.now
	if paths := edit.Drop(text); len(paths) > 0 {
		return m.drop(paths)
	}
	m.box.Paste(text)
	return m.edited()
}

// chatAct does an action of the prompt box; false when it has nothing to do.
func (m *Model) chatAct(a keymap.Action) ([]effect, bool) {
	if m.list != nil {
		if out, done := m.list.act(m, a); done {
			return out, true
		}
	}
	switch a {
	case keymap.Submit:
		switch m.box.Do(a) {
		case edit.Submitted:
			return m.enter(), true
		case edit.Ignored:
			return nil, false
		case edit.Moved, edit.Changed:
		}
		return m.edited(), true
	case keymap.SubmitLater:
		if text := m.suggested(); text != "" {
			m.box.Set(text)
			return m.edited(), true
		}
		if !m.turn.running || m.box.Empty() || m.box.Mode() != edit.Chat {
			return nil, false
		}
		return m.sendLater(), true
	case keymap.EditUp, keymap.HistoryOlder:
		if m.box.Empty() && len(m.queue) > 0 {
			return m.takeBack(), true
		}
	case keymap.Cancel:
		return m.cancel()
	case keymap.Rewind:
		switch {
		case m.visit != nil:
			return m.goBack(), true
		case m.now.Before(m.returned.Add(again)): // it was pressed twice to stop, or to go back
			return nil, true
		case m.box.VimMode() > edit.VimInsert && !m.box.Empty(): // in vim, Esc in normal mode is nothing
			return nil, true
		case !m.box.Empty():
			m.box.Clear()
			m.say(m.undoes(), draw.Quiet)
			return m.edited(), true
		case m.s == nil || m.turn.running:
			return nil, false
		}
		return m.rewindCommand(""), true
	case keymap.TaskBackground:
		return m.background()
	case keymap.KillAgents:
		return m.stopAgents(), true
	case keymap.OpenAgent:
		return m.openAgent(), true
	case keymap.ToggleTodos:
		if len(m.st.Tasks) == 0 && !m.box.Empty() {
			return nil, false // Ctrl+T swaps characters then
		}
		return m.todosCommand(""), true
	case keymap.EditDelete:
		if m.box.Empty() {
			return nil, false // Ctrl+D quits then
		}
	default:
		if out, done := m.anyAct(a); done {
			return out, true
		}
	}
	if m.box.Do(a) == edit.Ignored {
		return nil, false
	}
	return m.edited(), true
}

// anyAct does an action that means the same in front of a dialog.
func (m *Model) anyAct(a keymap.Action) ([]effect, bool) {
	switch a {
	case keymap.Interrupt:
		return m.interruptOrQuit(), true
	case keymap.Exit:
		return m.twice(a, ""), true
	case keymap.Redraw:
		return []effect{redraw{}}, true
	case keymap.Suspend:
		return []effect{suspend{}}, true
	case keymap.ToggleTranscript:
		return m.openPager(), true
	case keymap.ShowHelp:
		m.open(newHelp(m))
		return nil, true
	case keymap.CycleMode:
		return m.cycleMode(), true
	case keymap.ThinkingToggle:
		return m.switchThinking(), true
	case keymap.ModelPicker:
		return m.command("/model"), true
	case keymap.SearchHistory:
		return m.searchHistory(), true
	case keymap.ExternalEditor:
		return m.editor(), true
	case keymap.ImagePaste:
		return m.image(), true
	}
	return nil, false
}

// interruptOrQuit is Ctrl+C: it clears the prompt, else stops what runs; twice
// in a row it quits. The one that stops a person's own command does not count, unless
// that does not end.
func (m *Model) interruptOrQuit() []effect {
	if m.armed.action == keymap.Interrupt && m.now.Before(m.armed.till) {
		return m.leave()
	}
	if c := m.story.Own(); c != nil && m.box.Empty() && !m.turn.running && m.shellToStop != c.ID {
		m.shellToStop = c.ID
		return m.interrupt()
	}
	if m.visit != nil && m.box.Empty() {
		return m.goBack()
	}
	lost := ""
	if !m.box.Empty() && !m.screen.plain {
		lost = "; " + m.undoes()
	}
	out := m.twice(keymap.Interrupt, lost)
	switch {
	case !m.box.Empty():
		m.box.Clear()
		m.list = nil
	case m.turn.running, m.story.Own() != nil, m.turn.judged:
		out = append(out, m.interrupt()...)
	case m.back != nil:
		out = append(out, m.stopGoing()...)
	case m.awaited():
		out = append(out, m.recall()...)
	}
	return out
}

// twice arms a key that quits when it comes again, and says so and more.
func (m *Model) twice(a keymap.Action, more string) []effect {
	if m.armed.action == a && m.now.Before(m.armed.till) {
		return m.leave()
	}
	m.armed = armed{a, m.now.Add(again)}
	text := "Press " + m.keys.Hint(a) + " again to quit"
	if n := m.ends(); n > 0 {
		text += " and end " + story.Plural(n, "task")
	}
	m.say(text+more, draw.Attention)
	m.flash.till = m.armed.till
	return nil
}

// undoes says how a text that was cleared comes back.
func (m *Model) undoes() string { return m.keys.Hint(keymap.EditUndo) + " brings the text back" }

// ends is how many tasks in the background end with the session that is open here.
func (m *Model) ends() int {
	if m.s == nil || m.s.Elsewhere {
		return 0
	}
	return len(m.st.Working())
}

// unlessTasks does something that ends the session, and asks before where tasks end with it.
func (m *Model) unlessTasks(what string, then func(*Model) []effect) []effect {
	n := m.ends()
	if n == 0 {
		return then(m)
	}
	var names []string
	for _, t := range m.tasks {
		if _, ends := m.st.Working()[t.start.ID]; ends && t.end == nil {
			name := kindOf(cmp.Or(t.start.Kind, event.TaskShell)) + " " + t.start.ID + ": " + story.Subject(t.start.Text)
			if t.start.Kind == event.TaskAgent && t.tally.Calls > 0 {
				name += " (" + clip.Count(t.tally.Calls, "call") + " made, nothing reported)"
			}
			names = append(names, name)
		}
	}
	if more := len(names) - 5; more > 0 {
		names = append(names[:5], fmt.Sprintf("and %d more (/tasks)", more))
	}
	they, runs := "it", "1 task runs"
	if n > 1 {
		they, runs = "them", fmt.Sprintf("%d tasks run", n)
	}
	d := newMenu(m, runs+" in the background", []Choice{{ID: "go", Name: what + " and end " + they}, {ID: "stay", Name: "Stay"}}, func(m *Model, c Choice) []effect {
		if c.ID == "go" {
			return then(m)
		}
		return nil
	})
	d.About, d.Fixed = strings.Join(names, "\n"), true
	m.open(d)
	return nil
}

// quit leaves because a person said so in words.
func (m *Model) quit() []effect { return m.unlessTasks("Quit", (*Model).leave) }

func (m *Model) leave() []effect {
	m.left = true
	return []effect{quit{}}
}

// interrupt stops what runs. What waits for it to end goes back into the prompt box
// before, or it would begin the next turn at once.
func (m *Model) interrupt() []effect {
	var waits []queued
	if m.turn.stopped = m.turn.running; m.turn.running {
		waits = slices.Clone(m.queue)
	}
	return m.stop(waits)
}

// stop takes prompts back, the last one first, and then interrupts.
func (m *Model) stop(waits []queued) []effect {
	n := len(waits) - 1
	if n < 0 {
		return []effect{submit{op: op.Interrupt{}, urgent: true, then: func(*Model, error) []effect { return nil }}}
	}
	q := waits[n]
	return []effect{submit{op: op.Unqueue{ID: q.id}, urgent: true, then: func(m *Model, err error) []effect {
		var out []effect
		if err == nil { // else the model has it by now
			m.unqueue(q.id)
			m.box.Restore(q.prompt)
			m.returned = m.now
			out = m.complete()
		}
		return append(out, m.stop(waits[:n])...)
	}}}
}

// cancel is Esc: it closes what is open, else stops the turn.
func (m *Model) cancel() ([]effect, bool) {
	switch {
	case m.list != nil:
		m.list.dismissed(m)
		m.list = nil
	case m.visit != nil && m.box.Empty():
		return m.goBack(), true
	case m.visit != nil: // what stands there is for the agent
		m.box.Clear()
		m.say(m.undoes(), draw.Quiet)
	case m.aside != nil:
		m.stopAside()
	case m.back != nil:
		if m.back.stopped {
			return nil, true
		}
		return m.stopGoing(), true
	case m.awaited():
		return m.recall(), true
	case m.flash.text != "" && !m.turn.running:
		m.flash = flash{}
	case m.turn.running && !m.turn.stopped, m.story.Own() != nil, m.turn.judged:
		return m.interrupt(), true
	default:
		return nil, false
	}
	return nil, true
}

// stopAside stops the question of /btw.
func (m *Model) stopAside() {
	m.aside()
	m.aside = nil
	m.say("the question on the side is not asked any more", draw.Quiet)
}

// background moves the newest running call to the background.
func (m *Model) background() ([]effect, bool) {
	c := m.story.Open()
	if c == nil && m.story.Own() != nil {
		m.say("a ! command cannot go to the background: it holds nothing up, "+m.keys.Hint(keymap.Cancel)+" stops it", draw.Quiet)
		return nil, true
	}
	if c == nil {
		return nil, false
	}
	return []effect{submit{op: op.Background{Call: c.ID}, urgent: true, then: func(m *Model, err error) []effect {
		if err != nil {
			m.say("that cannot go to the background", draw.Quiet)
		}
		return nil
	}}}, true
}

// editor has the prompt written in the person's editor.
func (m *Model) editor() []effect {
	if m.host.Edit == nil {
		m.say("there is no editor: set $EDITOR", draw.Quiet)
		return nil
	}
	text := m.box.Text()
	return []effect{away{func(ctx context.Context) func(*Model) []effect {
		out, err := m.host.Edit(ctx, text)
		return func(m *Model) []effect {
			if err != nil {
				m.say(fmt.Sprintf("the editor: %v", err), draw.Wrong)
				return nil
			}
			m.box.Set(strings.TrimRight(out, "\n"))
			return m.edited()
		}
	}}}
}
