package tui

import (
	"errors"
	"fmt"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// undoID is what the choice that takes the last rewind back is called; prompts
// have other IDs.
const undoID = " undo"

// rewindCommand goes back to before a prompt that is chosen, or takes the last
// rewind back.
func (m *Model) rewindCommand(args string) []effect {
	switch {
	case m.s == nil || m.past:
		m.say("there is no session yet", draw.Quiet)
		return nil
	case m.turn.running || m.story.Own() != nil || m.back != nil:
		m.say("something runs: interrupt it first ("+m.stopKey()+")", draw.Attention)
		return nil
	case args == "undo", args == "--undo": // as adze rewind has it
		return m.planRewind(nil)
	case args != "":
		m.say("say /rewind to choose a prompt, or /rewind undo", draw.Attention)
		return nil
	}
	return m.pickPrompt()
}

// pickPrompt lists what a person said, newest last.
func (m *Model) pickPrompt() []effect {
	var all []Choice
	byID := map[string]*story.Item{}
	for _, it := range m.story.Items {
		if it.Kind != story.Said || it.Back != 0 || it.ID == "" {
			continue
		}
		right := story.Ago(m.now.Sub(it.At))
		if n := len(it.Files); n > 0 {
			right = story.Plural(n, "file") + " changed " + m.paper().Sign(draw.Middot) + " " + right
		}
		byID[it.ID] = it
		all = append(all, Choice{ID: it.ID, Name: story.FirstLine(it.Text), Right: right, Find: it.Text})
	}
	at := max(len(all)-1, 0)
	if _, ok := m.st.Trail.Undoable(); ok {
		all = append(all, Choice{ID: undoID, Name: "Take the last rewind back"})
	}
	if len(all) == 0 {
		m.say("there is no prompt to go back to", draw.Quiet)
		return nil
	}
	d := newMenu(m, "Go back to before …", all, func(m *Model, c Choice) []effect { return m.planRewind(byID[c.ID]) })
	d.Rank, d.Hint = dialog.RankRewind, "Enter shows what would change"
	d.Mark(all[at].ID)
	if m.shownAfter > 0 {
		d.About = "Earlier prompts than these: adze rewind lists all."
	}
	m.open(d)
	return nil
}

// A rewinding is a rewind that a person looks at: its menu shows what would
// change on disk, and asks in what to go back.
type rewinding struct {
	d    *menu
	o    op.Rewind
	was  *story.Item // the prompt, nil to undo
	dir  string
	plan *event.RewindPlan
	left bool // it was closed before that
}

// planRewind asks the session what going back to before a prompt would do, or
// without one, what taking the last rewind back would.
func (m *Model) planRewind(was *story.Item) []effect {
	g := &rewinding{o: op.Rewind{Undo: true, Conversation: true, Code: true}, was: was, dir: m.st.Dir}
	heading := "Take the last rewind back?"
	if was != nil {
		heading, g.o.Undo, g.o.To = "Go back to before “"+story.FirstLine(was.Text)+"”?", false, was.ID
	} else if w, ok := m.st.Trail.Undoable(); ok {
		g.o.Conversation, g.o.Code = w.Conversation, w.Code
	}
	g.d = newMenu(m, heading, nil, g.carryOut)
	g.d.Fixed, g.d.Loading, g.d.Rank, g.d.Hint = true, true, dialog.RankRewind, "Esc cancels"
	g.d.Above = g.files
	g.d.dropped = func(m *Model) []effect {
		if g.plan != nil {
			return nil
		}
		g.left = true
		return m.stop(nil) // of many files the look takes long
	}
	m.rewind = g
	m.open(g.d)
	o := g.o
	o.Preview = true
	return []effect{submit{op: o, then: func(m *Model, err error) []effect {
		if r, ok := errors.AsType[*op.Refusal](err); ok && r.Code == op.Unsupported && was != nil {
			g.o.Code = false // no record of files
			g.planned(m, event.RewindPlan{})
		} else if err != nil && !g.left {
			m.close(g.d)
			return m.fail(err)
		}
		return nil
	}}}
}

// planned takes what a rewind would do, when its menu waits for it.
func (m *Model) planned(b event.RewindPlan) {
	if g := m.rewind; g != nil && g.plan == nil && g.o.To == b.ID {
		g.planned(m, b)
	}
}

func (g *rewinding) planned(m *Model, b event.RewindPlan) {
	g.plan, g.d.Loading = &b, false
	var all []Choice
	switch {
	case g.o.Undo:
		all = []Choice{{ID: "undo", Name: "Yes, take it back"}}
	case len(b.Files) > 0 && g.o.Code:
		all = []Choice{
			{ID: "both", Name: "Conversation and code", About: "as it was before that prompt"},
			{ID: "talk", Name: "Conversation", About: "files stay as they are"},
			{ID: "code", Name: "Code", About: "the conversation stays, and the model is told"},
		}
	default:
		all = []Choice{{ID: "talk", Name: "Conversation", About: "as it was before that prompt"}}
	}
	if g.was != nil {
		all = append(all, m.parts(g.was.ID)...)
	}
	g.d.Set(append(all, Choice{Name: "Cancel"}))
}

// files says what would leave the conversation and change on disk, in at most rows lines.
func (g *rewinding) files(p dialog.Paper, width, rows int) []draw.Line {
	if g.plan == nil {
		return nil
	}
	if n := g.plan.Dropped; n > 0 {
		said := draw.L(draw.S("What was said since goes: "+story.Plural(n, "prompt")+". Another undo brings it back.", draw.Attention)).Truncate(width, p.O)
		return append([]draw.Line{said}, g.onDisk(p, width, rows-1)...)
	}
	return g.onDisk(p, width, rows)
}

func (g *rewinding) onDisk(p dialog.Paper, width, rows int) []draw.Line {
	if !g.o.Code {
		return []draw.Line{draw.L(draw.S("Files stay as they are.", draw.Quiet)).Truncate(width, p.O)}
	}
	added, removed := 0, 0
	var out []draw.Line
	for _, f := range g.plan.Files {
		added, removed = added+f.Added, removed+f.Removed
		out = append(out, g.file(p, f, width))
	}
	for _, l := range g.plan.Lost {
		out = append(out, append(draw.L(p.Mark(draw.Warning, draw.Attention), draw.S("cannot be put back: ", draw.Attention)), draw.Exact(l, draw.Plain)...).Truncate(width, p.O))
	}
	if len(out) == 0 {
		return []draw.Line{draw.L(draw.S("No file would change.", draw.Quiet))}
	}
	head := draw.Beside(draw.L(draw.S(story.Plural(len(g.plan.Files), "file")+" would change on disk", draw.Plain)), p.PlusMinus(added, removed), width, p.O)
	room := max(rows-1, 1)
	if n := len(out) - room; n > 0 {
		out = append(out[:max(room-1, 0)], draw.L(draw.S(fmt.Sprintf("%s %d more", p.Sign(draw.Ellipsis), len(out)-max(room-1, 0)), draw.Attention)))
	}
	return append([]draw.Line{head}, out...)
}

func (g *rewinding) file(p dialog.Paper, f event.FileChange, width int) draw.Line {
	l := draw.L(draw.S("  "+story.Pad(draw.String(f.Kind), 8), draw.Quiet))
	path := paths.Short(g.dir, f.Path)
	facts := draw.Line{}
	if f.Added+f.Removed > 0 {
		facts = p.PlusMinus(f.Added, f.Removed)
	}
	if f.Foreign {
		facts = append(draw.L(draw.S("changed since by something else  ", draw.Attention)), facts...)
	}
	return draw.Beside(append(l, draw.Exact(path, draw.Plain)...), facts, width, p.O)
}

// A goingBack is a rewind that runs.
type goingBack struct {
	began    time.Time
	done, of int  // files that were put back, and all
	stopped  bool // a person wants its end
	told     bool // it was cut off, and that is in the conversation
}

// stopGoing has a rewind that runs put back what it changed.
func (m *Model) stopGoing() []effect {
	m.back.stopped = true
	return m.stop(nil)
}

// goingLine is the spinner of a rewind.
func (m *Model) goingLine(p dialog.Paper) draw.Line {
	dot := " " + p.Sign(draw.Middot) + " "
	verb, facts := "Going back", dot+m.keys.Hint(keymap.Cancel)+" stops it"
	if m.back.of > 0 {
		facts = dot + clip.Thousands(m.back.done) + " of " + story.Plural(m.back.of, "file") + facts
	}
	if m.back.stopped {
		verb, facts = "Stopping: files become what they were before the rewind", ""
	}
	return draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent), draw.S(verb, draw.Accent), draw.S(facts, draw.Quiet)).Truncate(p.Cols(), p.O)
}

// carryOut carries out what was chosen.
func (g *rewinding) carryOut(m *Model, c Choice) []effect {
	o := g.o
	switch c.ID {
	case "":
		return nil
	case "talk":
		o.Code = false
	case "code":
		o.Conversation = false
	case fromHere, upToHere:
		return m.compactPart(c.ID, g.was.ID, "")
	}
	m.back = &goingBack{began: m.now}
	if m.screen.plain {
		m.say("going back …", draw.Quiet)
	}
	return []effect{submit{op: o, then: func(m *Model, err error) []effect {
		b := m.back
		m.back = nil
		switch {
		case err != nil && b != nil && b.told: // the conversation says it
			return nil
		case err != nil && b != nil && b.stopped:
			m.note("info", "The rewind was stopped before it changed a file.", "")
			return nil
		case err != nil:
			return m.fail(err)
		}
		m.cutOff = m.cutOff && !o.Conversation
		if o.Conversation && g.was != nil {
			m.editAgain(g.was)
		} else if o.Conversation && m.box.Text() == m.backIn {
			m.box.Clear() // it is in the conversation again
		}
		return nil
	}}}
}

// editAgain puts a prompt that was taken back into the box.
func (m *Model) editAgain(was *story.Item) {
	m.backIn = was.Text
	m.box.Restore(edit.Prompt{Text: was.Text, Shown: was.Text})
	if was.Pics > 0 {
		m.say("the prompt is here again, without its "+story.Plural(was.Pics, "image"), draw.Attention)
	}
}

// wentBack brings the screen in line with a rewind.
func (m *Model) wentBack() []effect {
	for _, g := range []*pager{m.pager, m.scroll} {
		if g != nil {
			g.resized()
		}
	}
	m.closeAll(func(is dialog.Kind) bool { return is.Rank == dialog.RankRewind })
	return m.changed()
}
