package fleet

import (
	"context"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// summaryEvery is how often what an agent works on is put into a line.
const summaryEvery = 30 * time.Second

// summarizes has what an agent works on put into a line every now and then, until it ends.
func (t *Tree) summarizes(life context.Context, m *member) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m.told = m.Begun.After
	m.tells = time.AfterFunc(summaryEvery, func() { t.summarize(life, m) })
}

// hush ends that. It needs t.mu.
func (t *Tree) hush(m *member) {
	if m.tells != nil {
		m.tells.Stop()
		m.tells = nil
	}
	if m.hush != nil {
		m.hush()
	}
}

// summarize makes one line.
func (t *Tree) summarize(life context.Context, m *member) {
	t.mu.Lock()
	if m.tells == nil || t.closed {
		t.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(life)
	defer cancel()
	m.hush = cancel
	of, session, before, after := m.Order.Of, m.Begun.Session, m.Said, m.told
	t.following.Add(1)
	defer t.following.Done()
	t.mu.Unlock()
	line, through := t.host.Summarize(ctx, of, session, before, after)
	t.mu.Lock()
	defer t.mu.Unlock()
	m.hush = nil
	if m.tells == nil {
		return
	}
	m.tells.Reset(summaryEvery)
	m.told = through
	if line == "" {
		return
	}
	m.Said = line
	progress := event.TaskProgress{ID: m.ID, Doing: m.Doing, Tally: m.Tally, Took: m.Active.Sub(m.Began), Summary: line}
	t.mu.Unlock()
	_ = t.host.Report(of, progress) // a session that is over needs none
	t.mu.Lock()
}
