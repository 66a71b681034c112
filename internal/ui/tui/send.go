package tui

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
)

// goOn is what an interrupted turn is gone on with.
const goOn = "Go on where you were interrupted."

// enter sends what is in the prompt box.
func (m *Model) enter() []effect {
	p := m.take()
	if m.scroll != nil {
		m.scroll.follow = true // what comes of it is seen
	}
	if p.Body() == "" && len(p.Images) == 0 {
		if m.gone != nil {
			return m.without()
		}
		if m.cutOff {
			m.cutOff = false
			if m.st.Deferred() != nil {
				return []effect{submit{op: op.Prompt{ID: m.host.NewID()}, then: (*Model).fail}}
			}
			return m.send(edit.Prompt{Text: goOn, Shown: goOn})
		}
		return m.hasten()
	}
	switch p.Mode {
	case edit.Command:
		out := m.command(p.Text)
		m.box.Resume()
		return out
	case edit.Shell:
		return m.shell(p)
	case edit.Memory:
		return m.remember(p)
	case edit.Background:
		return m.startAgent(p)
	case edit.Chat:
		if leaving[strings.TrimSpace(p.Text)] && len(p.Images) == 0 {
			return m.quit()
		}
	}
	return m.send(p)
}

// leaving are prompts that mean the end: what ends shells, editors and other agents.
var leaving = map[string]bool{"exit": true, "quit": true, ":q": true, ":q!": true, ":wq": true}

// take empties the prompt box into the history.
func (m *Model) take() edit.Prompt {
	p := m.box.Take()
	m.list = nil
	if m.host.Remember != nil && (p.Body() != "" || len(p.Images) > 0) {
		m.host.Remember(p.Entry())
	}
	return p
}

// send gives a prompt to the session, or keeps it until there is one.
func (m *Model) send(p edit.Prompt) []effect { return m.sendAs(m.host.NewID(), p, false) }

// sendLater has a prompt wait until the turn that runs is over.
func (m *Model) sendLater() []effect { return m.sendAs(m.host.NewID(), m.take(), true) }

// hasten sends the prompts that wait for the end of the turn with its next
// step, and without a turn those that an earlier process left.
func (m *Model) hasten() (out []effect) {
	for _, q := range slices.Clone(m.queue) {
		if m.turn.running && !q.later || !m.turn.running && !q.left {
			continue
		}
		out = append(out, submit{op: op.Unqueue{ID: q.id}, then: func(m *Model, err error) []effect {
			m.unqueue(q.id)
			if err != nil { // the turn ended meanwhile, and it begins one
				return nil
			}
			return m.send(q.prompt)
		}})
	}
	return out
}

func (m *Model) sendAs(id string, p edit.Prompt, later bool) []effect {
	m.echoed(id, p, later)
	if m.scroll != nil {
		m.scroll.follow = true
	}
	if m.s == nil || m.past {
		m.queue = append(m.queue, queued{id: id, prompt: p})
		if m.gone != nil {
			m.queue = nil
			m.box.Restore(p)
			m.say("there is no session to send it to", draw.Wrong)
			return m.without()
		}
		return nil
	}
	o := op.Prompt{ID: id, Text: strings.TrimSpace(p.Text), Later: later, Command: p.Mode == edit.Command}
	if m.visit != nil && p.Mode == edit.Chat {
		o.Text = m.visit.toAgent(o.Text)
		m.visit.page.follow = true
	}
	if !p.Foreign {
		o.Typed = op.All(o.Text)
	}
	for _, img := range p.Images {
		o.Images = append(o.Images, op.Image{Media: img.MediaType, Data: img.Data})
	}
	left := m.underway(m.now)
	m.queue = append(m.queue, queued{id: id, prompt: p, sent: true, later: later, at: m.now})
	to := m.s
	return []effect{submit{op: o, then: func(m *Model, err error) []effect {
		if err != nil && m.s != to {
			return nil // another session came in between, and is sent what waits
		}
		if err != nil {
			m.unqueue(id)
			for i, q := range m.queue {
				m.queue[i].left = q.left || slices.Contains(left, q.id)
			}
			m.box.Restore(p) // it is not lost
		}
		return m.fail(err)
	}}}
}

// takeBack puts the newest prompt that waits into the box again.
func (m *Model) takeBack() []effect {
	q := m.queue[len(m.queue)-1]
	if m.awaited() && len(m.queue) == 1 {
		return m.recall()
	}
	if !q.sent {
		m.queue = m.queue[:len(m.queue)-1]
		m.box.Restore(q.prompt)
		return m.edited()
	}
	return []effect{submit{op: op.Unqueue{ID: q.id}, urgent: true, then: func(m *Model, err error) []effect {
		m.unqueue(q.id)
		if err != nil {
			m.say("the model has that prompt already", draw.Quiet)
			return nil
		}
		m.box.Restore(q.prompt)
		return m.edited()
	}}}
}
