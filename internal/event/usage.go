package event

import (
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/usage"
)

// Request is the request to a model that an event tells of, if it does. A
// partial reply that was dropped is one as far as it is known what it used.
func Request(b Body) (r usage.Request, ok bool) {
	switch b := b.(type) {
	case Replied:
		return usage.Request{
			Model: b.Model, Usage: b.Usage, Cost: b.Cost, Priced: b.Priced || b.Cost != 0, First: b.First, Took: b.Took, Retries: max(0, b.Attempts-1),
		}, true
	case Dropped:
		r = usage.Request{Model: b.Model, Usage: b.Usage, Cost: b.Cost, Priced: b.Priced || b.Cost != 0}
		return r, r.Usage.Prompt()+r.Usage.Out > 0 || r.Cost != 0
	case Spent:
		return usage.Request{Model: b.Model, For: b.For, Usage: b.Usage, Cost: b.Cost, Priced: b.Priced}, true
	default:
		return r, false
	}
}

// Work is the call of a tool that an event tells of, if it does.
func Work(b Body) (tool string, w usage.Work, ok bool) {
	f, ok := b.(ToolFinished)
	switch {
	case !ok:
		return "", w, false
	case f.Denied:
		w.Denied = 1
	default:
		w = usage.Work{Calls: 1, Took: f.Took}
		if f.IsErr {
			w.Errors = 1
		}
	}
	return f.Name, w, true
}

// ParseUsage decodes of a line of this kind only what Request and Work count:
// no messages, no results. The body is nil when they count nothing of it.
func ParseUsage(line []byte, kind string) (Body, error) {
	switch kind {
	case "replied":
		var r struct {
			repliedFields
			Message fastjson.Raw `json:"message"`
			Tools   fastjson.Raw `json:"tools"`
		}
		err := fastjson.Unmarshal(line, &r)
		return Replied(r.repliedFields), err
	case "dropped":
		var b Dropped
		err := fastjson.Unmarshal(line, &b)
		return b, err
	case "spent":
		var b Spent
		err := fastjson.Unmarshal(line, &b)
		return b, err
	case "tool_finished":
		var f struct {
			finishedFields
			Text   fastjson.Raw `json:"text"`
			Images fastjson.Raw `json:"images"`
		}
		err := fastjson.Unmarshal(line, &f)
		return ToolFinished(f.finishedFields), err
	default:
		return nil, nil
	}
}
