package auto

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of a history in bytes: of all that people wrote, of all calls, and
// of one of either.
const (
	maxSaid    = 24_000
	maxDone    = 12_000
	maxOneSaid = 4_000
	maxOneDone = 600
	maxSteps   = 500
)

// maxWhole is the size in bytes up to which a step waits to be cut until
// somebody wants to see it: most never are.
const maxWhole = 2_000

// A History is what people wrote and which calls the model made, in order. It
// is a pure fold of the log, and a value: Apply returns a new one, in constant
// time. It never looks at a result, at the model's prose, or at input that no
// person wrote.
type History struct {
	Facts Facts // what of calls may speak here

	last   *link // the newest step, nil without one
	n      int   // how many there are
	queued []event.InputQueued
}

// A link is a step and those before it, which many histories share.
type link struct {
	step
	before *link
}

// A step is what a person said, or a call (then tool is set). It is cut when
// it is as it is shown.
type step struct {
	said, tool, input string
	cut               bool
}

func (h History) shown(s step) step {
	switch {
	case s.cut:
	case s.tool == "":
		s.said = clip.Middle(visible(s.said), maxOneSaid, "")
	default:
		s.input = clip.Middle(compact(h.Facts.raw(s.tool, json.RawMessage(s.input))), maxOneDone, "")
		s.tool = clip.Line(visible(s.tool), 100)
	}
	s.cut = true
	return s
}

// Apply returns h after e.
func (h History) Apply(e event.Event) History {
	switch b := e.Body.(type) {
	case event.InputQueued:
		h.queued = append(slices.Clip(h.queued), b)
	case event.InputRemoved:
		h.queued = without(h.queued, b.ID)
	case event.InputAccepted:
		text := b.Text
		if i := slices.IndexFunc(h.queued, func(q event.InputQueued) bool { return q.ID == b.ID }); i >= 0 && text == "" {
			text = h.queued[i].Text
		}
		h.queued = without(h.queued, b.ID)
		if !b.Hidden && text != "" {
			h = h.add(step{said: text})
		}
	case event.Answered:
		if text := answered(b); text != "" {
			h = h.add(step{said: text})
		}
	case event.Replied:
		for _, p := range b.Message.Parts {
			if u, ok := p.(llm.ToolUse); ok {
				h = h.add(step{tool: cmp.Or(u.Name, "?"), input: string(u.Input)})
			}
		}
	default: // results, prose and everything else must not speak here
	}
	return h
}

// answered is what a person chose and wrote when they were asked. Hooks and
// rules that settle a question are no persons.
func answered(b event.Answered) string {
	if !b.By.Person() {
		return ""
	}
	var out []string
	for _, c := range b.Choices {
		out = append(out, "chose, in the agent's words: "+strings.Join(c, ", "))
	}
	if b.Comment != "" {
		out = append(out, b.Comment)
	}
	return strings.Join(out, "\n")
}

func without(list []event.InputQueued, id string) []event.InputQueued {
	return slices.DeleteFunc(slices.Clone(list), func(q event.InputQueued) bool { return q.ID == id })
}

func (h History) add(s step) History {
	if len(s.said)+len(s.input) > maxWhole {
		s = h.shown(s)
	}
	if h.n >= 2*maxSteps { // seldom, because it takes its time
		was := h.steps()
		h.last, h.n = nil, 0
		for _, s := range was {
			h.last, h.n = &link{s, h.last}, h.n+1
		}
	}
	h.last, h.n = &link{s, h.last}, h.n+1
	return h
}

// steps are the newest ones, at most maxSteps, oldest first. Calls go before
// what people said, which stays as long as it can.
func (h History) steps() []step {
	out := make([]step, h.n)
	for i, l := h.n-1, h.last; i >= 0; i, l = i-1, l.before {
		out[i] = l.step
	}
	over := len(out) - maxSteps
	out = slices.DeleteFunc(out, func(s step) bool {
		if s.tool == "" || over <= 0 {
			return false
		}
		over--
		return true
	})
	return out[max(0, len(out)-maxSteps):]
}

// compact is a call's input without what cannot be seen.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return visible(string(raw))
	}
	return visible(b.String())
}

// render lists the newest steps that fit, oldest first, and counts the rest.
func (h History) render() (out []map[string]any, left int) {
	said, did := maxSaid, maxDone
	for _, s := range slices.Backward(h.steps()) {
		s = h.shown(s)
		room, size, m := &said, len(s.said), map[string]any{"person": s.said}
		if s.tool != "" {
			room, size, m = &did, len(s.tool)+len(s.input), map[string]any{"call": s.tool, "input": s.input}
		}
		if *room -= size; *room < 0 {
			*room = -1 // and nothing older of the kind
			left++
			continue
		}
		out = append(out, m)
	}
	slices.Reverse(out)
	if out == nil {
		out = []map[string]any{}
	}
	return out, left
}
