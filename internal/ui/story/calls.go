package story

import (
	"bytes"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// call finds a call, or adds one.
func (s *Story) call(id, name string, now time.Time) *Call {
	if c := s.ByID[id]; c != nil && !(c.off && s.Find(id) < s.Printed) { // what was put off goes on below what is printed of it
		return c
	}
	c := &Call{ID: id, name: name, at: now}
	s.ByID[id] = c
	s.Add(&Item{Kind: Called, At: now, Calls: []*Call{c}})
	return c
}

func (s *Story) started(b event.ToolStarted, now time.Time) {
	c := s.call(b.Call, b.Name, now)
	c.started, c.Ended, c.denied, c.off, c.at, c.fold, c.shell = true, false, false, false, now, b.Fold, b.Shell
	if b.Title != "" {
		c.Title = b.Title
	}
	if len(b.Input) > 0 {
		c.input = b.Input
	}
	if i := s.Find(b.Call); i >= 0 && i >= s.Printed {
		it := s.Items[i]
		s.Items = slices.Delete(s.Items, i, i+1)
		rest := slices.Clone(s.Items[i:])
		s.Items = s.Items[:i]
		s.join(it)
		if len(rest) > 0 { // calls do not start in the order that they were made in
			s.join(rest[0])
			rest = rest[1:]
		}
		s.Items = append(s.Items, rest...)
		if s.Reply > len(s.Items) {
			s.Reply = len(s.Items)
		}
	}
}

// Find is the item of a call, -1 without.
func (s *Story) Find(id string) int {
	for i := len(s.Items) - 1; i >= 0; i-- {
		if s.Items[i].has(id) {
			return i
		}
	}
	return -1
}

// join adds an item of calls, to the one before it when both only look.
func (s *Story) join(it *Item) {
	n := len(s.Items)
	if n > s.Printed && it.folds() && s.Items[n-1].folds() {
		s.Items[n-1].Calls = append(s.Items[n-1].Calls, it.Calls...)
		return
	}
	s.Items = append(s.Items, it)
}

// folds reports whether all of an item only looks, and nothing of it has to be
// seen on its own.
func (it *Item) folds() bool {
	if it.Kind != Called {
		return false
	}
	return !slices.ContainsFunc(it.Calls, func(c *Call) bool { return c.fold == "" || c.Wrong || c.denied || c.off || isImage(c.View) })
}

// own reports whether an item is a command of the person's own.
func (it *Item) own() bool { return len(it.Calls) == 1 && it.Calls[0].own }

// hear adds output of a running call.
func (c *Call) hear(s string) {
	c.tail = append(c.tail, s...)
	if over := len(c.tail) - maxTail; over > 0 {
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
}

// Stage is how far a running call says it is: the line of its output that it writes
// anew each time, "" for none.
func (c *Call) Stage() string {
	last := bytes.TrimRight(c.tail, "\r\n ")
	last = last[bytes.LastIndexByte(last, '\n')+1:]
	at := bytes.LastIndexByte(last, '\r')
	if at < 0 {
		return ""
	}
	return FirstLine(draw.String(string(last[at+1:])))
}

func (s *Story) finished(b event.ToolFinished, now time.Time) {
	s.changedFiles(b)
	c := s.call(b.Call, b.Name, now)
	c.Ended, c.Wrong, c.denied, c.off, c.took, c.text, c.asked = true, b.IsErr, b.Denied, false, b.Took, b.Text, false
	if b.Denied {
		c.why = b.Verdict.Reason
	}
	if len(b.Input) > 0 {
		c.input = b.Input
	}
	if b.View != nil {
		c.View = b.View
		c.text = ""
	} else if !b.Denied {
		c.View = nil
	}
	if c.task == "" { // of what goes on in the background it stays seen
		c.tail = nil
	}
	if i := s.Find(b.Call); i >= s.Printed && i >= 0 {
		s.apart(i)
	}
}

// apart takes calls that failed out of a line of several, so that they are
// seen.
func (s *Story) apart(i int) {
	it := s.Items[i]
	if len(it.Calls) == 1 || it.folds() {
		return
	}
	var parts []*Item
	for _, c := range it.Calls {
		one := &Item{Kind: Called, At: it.At, Calls: []*Call{c}}
		if n := len(parts); n > 0 && one.folds() && parts[n-1].folds() {
			parts[n-1].Calls = append(parts[n-1].Calls, c)
			continue
		}
		parts = append(parts, one)
	}
	s.Items = slices.Replace(s.Items, i, i+1, parts...)
	if s.Reply > i {
		s.Reply += len(parts) - 1
	}
}
