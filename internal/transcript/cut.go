package transcript

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
)

// subjects are the members of a call's input that say what it was about.
var subjects = []string{"file_path", "path", "notebook_path", "command", "pattern", "url", "query"}

// ResultPath stands before the ID of a call, as a path, for what the call returned.
const ResultPath = "result:"

// clearedText is what takes the place of a cleared result, for ever the same.
func clearedText(u llm.ToolUse) string {
	about := Subject(u)
	if about != "" {
		about = " " + about
	}
	return fmt.Sprintf("[the result of %s%s was cleared to save room; Read %s%s has it as it was]", u.Name, about, ResultPath, u.ID)
}

// Subject is what a call is about, on one line: a path, a command; "" when its
// input does not say.
func Subject(u llm.ToolUse) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(u.Input, &in) != nil {
		return ""
	}
	for _, key := range subjects {
		about := ""
		if json.Unmarshal(in[key], &about) == nil && about != "" {
			return clip.Line(about, 200)
		}
	}
	return ""
}

// clear replaces the results of these calls by one line each.
func (c conversation) clear(calls []string) conversation {
	set := make(map[string]string, len(calls)) // call → its line
	for _, id := range calls {
		set[id] = ""
		c.cleared = c.cleared.set(id, struct{}{})
	}
	return c.rewrite(c.oldest(set), func(p llm.Part) llm.Part {
		switch p := p.(type) {
		case llm.ToolUse:
			if _, ok := set[p.ID]; ok {
				set[p.ID] = clearedText(p)
			}
		case llm.ToolResult:
			if line, ok := set[p.ID]; ok && line != "" {
				return llm.ToolResult{ID: p.ID, Text: line, IsErr: p.IsErr, Loaded: p.Loaded}
			}
		case llm.Text, llm.Thinking, llm.Image, llm.Document:
		}
		return p
	})
}

// bound puts what is left of long results in their place.
func (c conversation) bound(cuts []event.Cut) conversation {
	set, calls := make(map[string]string, len(cuts)), make(map[string]string, len(cuts))
	for _, x := range cuts {
		set[x.Call], calls[x.Call] = x.Text, ""
	}
	c.partial = true
	return c.rewrite(c.oldest(calls), func(p llm.Part) llm.Part {
		if r, ok := p.(llm.ToolResult); ok {
			if text, ok := set[r.ID]; ok {
				r.Text = text
				return r
			}
		}
		return p
	})
}

// strip replaces every image and document by a line that says so.
func (c conversation) strip(seq event.Seq) conversation {
	c.stripped = seq
	return c.rewrite(0, func(p llm.Part) llm.Part {
		switch p := p.(type) {
		case llm.Image:
			return llm.Text{S: "[an image was removed here: " + p.Media + "]"}
		case llm.Document:
			return llm.Text{S: "[a document was removed here: " + p.Name + " " + p.Media + "]"}
		case llm.ToolResult:
			if len(p.Images) > 0 {
				p.Text += fmt.Sprintf("\n[%d images were removed here]", len(p.Images))
				p.Images = nil
			}
			return p
		case llm.Text, llm.Thinking, llm.ToolUse:
		}
		return p
	})
}

// oldest is the index of the first message that makes one of these calls.
func (c conversation) oldest(calls map[string]string) int {
	left, at := len(calls), c.done.len()
	for i := at - 1; i >= 0 && left > 0; i-- {
		for _, p := range c.done.at(i).Parts {
			if u, ok := p.(llm.ToolUse); ok {
				if _, ok := calls[u.ID]; ok {
					at, left = i, left-1
				}
			}
		}
	}
	return at
}

// rewrite maps the parts of the conversation from a message on. Messages that
// stay the same are shared with the states before.
func (c conversation) rewrite(from int, f func(llm.Part) llm.Part) conversation {
	before := c.gauge.Bytes
	rewriteParts := func(ps []llm.Part) []llm.Part {
		out := ps
		for i, p := range ps {
			q := f(p)
			if same(p, q) {
				continue
			}
			if &out[0] == &ps[0] {
				out = slices.Clone(ps)
			}
			out[i] = q
			c.gauge.Bytes += Size(q) - Size(p)
		}
		return out
	}
	c.done = c.done.mapFrom(from, func(e Entry) Entry {
		e.Parts = rewriteParts(e.Parts)
		return e
	})
	c.tail = newList(slices.Clone(rewriteParts(c.tail.items)))
	if c.round != nil {
		c.round = slices.Clone(c.round)
		for i, s := range c.round {
			f(s.use)
			c.round[i].result, _ = f(s.result).(llm.ToolResult)
		}
	}
	if c.gauge.Bytes != before {
		c.gauge.cut = true
	}
	return c
}

// same reports whether a rewrite left p alone.
func same(p, q llm.Part) bool {
	switch p := p.(type) {
	case llm.ToolResult:
		r, ok := q.(llm.ToolResult)
		return ok && p.Text == r.Text && len(p.Images) == len(r.Images)
	case llm.Image, llm.Document:
		_, text := q.(llm.Text)
		return !text
	case llm.Text, llm.Thinking, llm.ToolUse:
	}
	return true
}
