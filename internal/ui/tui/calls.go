package tui

import (
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// call finds a call, or adds one.
func (s *story) call(id, name string, now time.Time) *call {
	if c := s.byID[id]; c != nil {
		return c
	}
	c := &call{id: id, name: name, at: now}
	s.byID[id] = c
	s.add(&item{kind: called, at: now, calls: []*call{c}})
	return c
}

func (s *story) started(b event.ToolStarted, now time.Time) {
	c := s.call(b.Call, b.Name, now)
	c.started, c.at, c.fold = true, now, b.Fold
	if b.Title != "" {
		c.title = b.Title
	}
	if len(b.Input) > 0 {
		c.input = b.Input
	}
	if i := s.find(b.Call); i > 0 && i >= s.printed {
		it := s.items[i]
		s.items = slices.Delete(s.items, i, i+1)
		rest := slices.Clone(s.items[i:])
		s.items = s.items[:i]
		s.join(it)
		s.items = append(s.items, rest...)
		if s.reply > len(s.items) {
			s.reply = len(s.items)
		}
	}
}

// find is the item of a call, -1 without.
func (s *story) find(id string) int {
	for i := len(s.items) - 1; i >= 0; i-- {
		if s.items[i].has(id) {
			return i
		}
	}
	return -1
}

// join adds an item of calls, to the one before it when both only look.
func (s *story) join(it *item) {
	n := len(s.items)
	if n > s.printed && it.folds() && s.items[n-1].folds() {
		s.items[n-1].calls = append(s.items[n-1].calls, it.calls...)
		return
	}
	s.items = append(s.items, it)
}

// folds reports whether all of an item only looks, and nothing of it has to be
// seen on its own.
func (it *item) folds() bool {
	if it.kind != called {
		return false
	}
	return !slices.ContainsFunc(it.calls, func(c *call) bool { return c.fold == "" || c.wrong || c.denied || isImage(c.view) })
}

// hear adds output of a running call.
func (c *call) hear(s string) {
	c.tail = append(c.tail, s...)
	if over := len(c.tail) - maxTail; over > 0 {
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
}

func (s *story) finished(b event.ToolFinished, now time.Time) {
	s.changedFiles(b)
	c := s.call(b.Call, b.Name, now)
	c.ended, c.wrong, c.denied, c.took, c.text, c.asked = true, b.IsErr, b.Denied, b.Took, b.Text, false
	if b.Denied {
		c.why = b.Verdict.Reason
	}
	if len(b.Input) > 0 {
		c.input = b.Input
	}
	if b.View != nil {
		c.view = b.View
		c.text = ""
	} else if !b.Denied {
		c.view = nil
	}
	c.tail = nil
	if i := s.find(b.Call); i >= s.printed && i >= 0 {
		s.apart(i)
	}
}

// apart takes calls that failed out of a line of several, so that they are
// seen.
func (s *story) apart(i int) {
	it := s.items[i]
	if len(it.calls) == 1 || it.folds() {
		return
	}
	var parts []*item
	for _, c := range it.calls {
		one := &item{kind: called, at: it.at, calls: []*call{c}}
		if n := len(parts); n > 0 && one.folds() && parts[n-1].folds() {
			parts[n-1].calls = append(parts[n-1].calls, c)
			continue
		}
		parts = append(parts, one)
	}
	s.items = slices.Replace(s.items, i, i+1, parts...)
	if s.reply > i {
		s.reply += len(parts) - 1
	}
}
