package tui

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// draftWait is how long changes of the prompt are gathered before it is kept.
const draftWait = 250 * time.Millisecond

// A Lost is what an earlier process in this folder left.
type Lost struct {
	Session string // that it had open and that can be gone on with, "" without
	Killed  bool   // it did not end in order
	Title   string // of that session, for people
	Ago     string // since when, for people: "3m", "a moment"
	Entry   history.Entry
	Images  []edit.Image // of it
	Taken   func() error // it was told and need not be kept any longer
}

// kept is what is known about the draft on disk.
type kept struct {
	due    time.Time // when it is written, zero is not at all
	busy   bool
	last   edit.Prompt
	asked  bool // whether an earlier process left something
	before string
	lost   *Lost // of a session that is not open: its prompt is put back when it is
}

// drafting is told that the prompt may have changed.
func (m *Model) drafting() {
	if m.host.Keep != nil && m.s != nil && m.kept.due.IsZero() {
		m.kept.due = m.now.Add(draftWait)
	}
}

// keepDraft writes the prompt to disk when it is time and has changed.
func (m *Model) keepDraft() []effect {
	if m.kept.due.IsZero() || m.now.Before(m.kept.due) || m.kept.busy || m.s == nil {
		return nil
	}
	m.kept.due = time.Time{}
	e := m.box.Prompt()
	if strings.TrimSpace(e.Shown) == "" {
		e = edit.Prompt{}
	}
	if reflect.DeepEqual(e, m.kept.last) && m.s.ID == m.kept.before {
		return nil
	}
	m.kept.last, m.kept.before, m.kept.busy = e, m.s.ID, true
	id := m.s.ID
	return []effect{work{func(context.Context) func(*Model) []effect {
		err := m.host.Keep(id, e)
		return func(m *Model) []effect {
			if m.kept.busy = false; err != nil { // it is no reason to disturb anybody, nor to try again with each key
				m.host.Keep = nil
			}
			return nil
		}
	}}}
}

// rememberStash puts what is put aside into the history: the stash ends with the run.
func (m *Model) rememberStash() {
	for m.host.Remember != nil && m.box.Stashed() > 0 {
		m.box.Take()
		m.box.ToggleStash() // the box is empty, so this one comes back
		m.host.Remember(m.box.Prompt().Entry())
	}
}

// lost asks once what an earlier process left in this folder.
func (m *Model) lost() []effect {
	if l := m.kept.lost; l != nil && m.s != nil && l.Session == m.s.ID {
		m.kept.lost = nil
		if m.box.Empty() {
			m.box.SetEntry(l.Entry, l.Images...)
			m.note("info", "What had not been sent then is in the prompt again.", "")
			m.drafting()
		}
		return nil
	}
	if m.host.Lost == nil || m.kept.asked || m.s == nil {
		return nil
	}
	m.kept.asked = true
	m.drafting() // from now on this one can leave something, too
	named := m.start.Resume != "" || m.start.Continue || m.s.Elsewhere
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		l, err := m.host.Lost(ctx, s.ID)
		return func(m *Model) []effect {
			if err != nil || l == nil || m.s != s || named && l.Session != s.ID {
				return nil // what another session left is told where one begins
			}
			return m.found(*l)
		}
	}}}
}

// found tells what was left, and puts the prompt back that was not sent.
func (m *Model) found(l Lost) []effect {
	if l.Killed && l.Session != "" && l.Session != m.s.ID {
		m.note("info", "A session of this folder was cut off "+l.Ago+" ago: "+l.Title, "/resume "+l.Session+" goes on with it")
	}
	if l.Entry.Text != "" {
		// Where somebody begins something else, or writes already, it is at hand and in
		// nobody's way: what is typed next would be one text with it.
		if m.host.Remember == nil || m.box.Empty() && l.Session == m.s.ID {
			m.box.SetEntry(l.Entry, l.Images...)
			m.note("info", "What had not been sent then is in the prompt again.", "")
			m.drafting()
		} else {
			m.host.Remember(l.Entry)
			if l.Session != m.s.ID {
				m.kept.lost = &l
			}
			without := ""
			if n := len(l.Images); n > 0 {
				without = ", without its " + story.Plural(n, "image")
			}
			where := "is in the history (" + m.keys.Hint(keymap.EditUp) + ")"
			if m.screen.plain {
				where = "was: “" + l.Entry.Text + "”"
			}
			m.note("info", "What had not been sent then "+where+without+".", "")
		}
	}
	if l.Taken == nil {
		return nil
	}
	return []effect{work{func(context.Context) func(*Model) []effect {
		_ = l.Taken() // told once more, at worst
		return nil
	}}}
}
