package tui

import (
	"fmt"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// maxRecall is how many earlier prompts a search looks at.
const maxRecall = 2000

// searchHistory opens the search over earlier prompts: those of all projects,
// or with Ctrl+S of this one.
func (m *Model) searchHistory() []effect {
	from, here := m.host.Everyone, false
	if from == nil {
		from, here = m.host.Past, true
	}
	if from == nil {
		m.say("there is no history", draw.Quiet)
		return nil
	}
	d := newMenu(m, "Earlier prompts", recalled(from), nil)
	d.chosen = func(m *Model, c Choice) []effect {
		var i int
		if _, err := fmt.Sscan(c.ID, &i); err == nil {
			if e, ok := from.Entry(i); ok {
				m.box.SetEntry(e)
				m.list = nil // as for what the arrow keys bring: the next one goes on in the history
			}
		}
		return nil
	}
	d.Context = keymap.HistorySearch
	d.Hint = m.keys.Hint(keymap.HistorySearchExecute) + " takes it, " + m.keys.Hint(keymap.HistorySearchScope) + " this project or all"
	if m.host.Past != nil && m.host.Everyone != nil {
		d.Own = []keymap.Action{keymap.HistorySearchScope}
	}
	d.own = func(m *Model, _ keymap.Action) []effect {
		if from = m.host.Past; here {
			from = m.host.Everyone
		}
		here = !here
		d.Set(recalled(from))
		return nil
	}
	m.open(d)
	return nil
}

func recalled(p edit.Past) []Choice {
	p.Renew()
	var out []Choice
	for i := range maxRecall {
		e, ok := p.Entry(i)
		if !ok {
			break
		}
		out = append(out, Choice{ID: fmt.Sprint(i), Name: story.FirstLine(e.Text)})
	}
	return out
}
