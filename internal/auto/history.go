package auto

import (
	"bytes"
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

// A History is what people wrote and which calls the model made, in order. It
// is a pure fold of the log, and a value: Apply returns a new one. It never
// looks at a result, at the model's prose, or at input that no person wrote.
type History struct {
	steps  []step
	queued []event.InputQueued
}

// A step is what a person said, or a call (then tool is set).
type step struct{ said, tool, input string }

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
			h = h.add(step{said: clip.Middle(plain(text), maxOneSaid, "")})
		}
	case event.Answered:
		if text := answered(b); text != "" {
			h = h.add(step{said: clip.Middle(plain(text), maxOneSaid, "")})
		}
	case event.Replied:
		for _, p := range b.Message.Parts {
			if u, ok := p.(llm.ToolUse); ok {
				h = h.add(step{tool: clip.Line(plain(u.Name), 100), input: clip.Middle(compact(claimless(u.Name, u.Input)), maxOneDone, "")})
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
	steps := slices.Clip(h.steps)
	if len(steps) >= maxSteps { // calls go first: what people said stays as long as it can
		i := max(0, slices.IndexFunc(steps, func(s step) bool { return s.tool != "" }))
		steps = slices.Concat(steps[:i], steps[i+1:])
	}
	h.steps = append(steps, s)
	return h
}

// compact is a call's input without what cannot be seen.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return plain(string(raw))
	}
	return plain(b.String())
}

// render lists the newest steps that fit, oldest first, and counts the rest.
func (h History) render() (out []map[string]any, left int) {
	said, did := maxSaid, maxDone
	for _, s := range slices.Backward(h.steps) {
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
