package auto

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of a history in bytes: of all that people wrote, of what came with it and of
// all calls, and of one of each. Small models read 200,000 tokens, which is six times
// as much.
const (
	maxSaid        = 80_000
	maxAttached    = 12_000
	maxDone        = 16_000
	maxAgents      = 12_000
	maxOneSaid     = 16_000
	maxOneAttached = 3_000
	maxOneDone     = 600
	maxOneAgent    = 4_000
	maxSteps       = 500
)

// maxWhole is the size in bytes up to which a step waits to be cut until
// somebody wants to see it: most never are.
const maxWhole = 2_000

// A History is what people wrote, which calls the model made, and which calls agents made that
// worked for it and have ended, in order. It is a pure fold of the log, and a value: Apply
// returns a new one, in constant time. It never looks at a result, at the model's prose, at what
// an agent says, or at what the session says by itself; what came with a prompt and no person
// typed stands apart.
type History struct {
	Facts Facts // what of calls may speak here

	last    *link    // the newest step, nil without one
	n       int      // how many there are
	forbade []string // sentences of steps that are gone
	queued  []event.InputQueued
	crew    []string // the IDs of agents that worked for the session
}

// A link is a step and those before it, which many histories share.
type link struct {
	step
	before *link
}

// A step is what a person said, what came with it, a call (then tool is set), or what an
// agent did (then agent is set; did has a call a line). It is cut when it is as it is shown.
type step struct {
	said, attached, tool, input, agent, did string
	cut                                     bool
}

func (h History) shown(s step) step {
	switch {
	case s.cut:
	case s.said != "":
		s.said = shorten(judge.Visible(s.said), maxOneSaid)
	case s.agent != "": // it was made as it is shown
	case s.attached != "":
		s.attached = clip.Middle(judge.Visible(s.attached), maxOneAttached, "")
	default:
		s.input = clip.Middle(compact(h.Facts.raw(s.tool, json.RawMessage(s.input))), maxOneDone, "")
		s.tool = clip.Line(judge.Visible(s.tool), 100)
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
		text, typed := b.Text, b.Typed
		if i := slices.IndexFunc(h.queued, func(q event.InputQueued) bool { return q.ID == b.ID }); i >= 0 && text == "" {
			text, typed = h.queued[i].Text, h.queued[i].Typed
		}
		h.queued = without(h.queued, b.ID)
		if !b.Hidden && (b.From == nil || !slices.Contains(h.crew, b.From.ID)) {
			h = h.prompt(typed.Cut(text))
		}
	case event.TaskStarted:
		if b.Kind == event.TaskAgent && !slices.Contains(h.crew, b.ID) {
			h.crew = append(slices.Clip(h.crew), b.ID)
		}
	case event.TaskEnded:
		if b.Status != "" {
			h = h.agent(b)
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

// agent adds what an agent did until its end.
func (h History) agent(b event.TaskEnded) History {
	s := step{agent: "agent " + b.ID + ", " + string(b.Status), cut: true}
	if b.Doubt != "" {
		s.agent += "; a check of what it did found: " + clip.Line(judge.Visible(b.Doubt), maxReason)
	}
	s.did = strings.Join(h.Facts.deeds(b.Did, b.Left, maxOneAgent), "\n")
	return h.add(s)
}

// deeds are what an agent did, a line for each call, the newest of at most so many bytes.
func (f Facts) deeds(list []event.Deed, left int, max int) (out []string) {
	for _, d := range slices.Backward(list) {
		line := clip.Line(judge.Visible(d.Tool), 100)
		if len(d.Input) > 0 {
			line += " " + clip.Middle(compact(f.raw(d.Tool, d.Input)), maxOneDone, "")
		}
		switch {
		case d.Denied:
			line += " [refused]"
		case d.Failed:
			line += " [failed]"
		}
		if len(d.Changed) > 0 {
			line += " [changed " + clip.Line(judge.Visible(strings.Join(d.Changed, ", ")), maxOneDone) + "]"
		}
		if line = strings.ReplaceAll(line, "\n", " "); max < len(line) {
			max = 0
			left++
			continue
		}
		max -= len(line)
		out = append(out, line)
	}
	if left > 0 {
		out = append(out, clip.Count(left, "more call"))
	}
	slices.Reverse(out)
	return out
}

// prompt adds what a person typed, and what stood before and behind it.
func (h History) prompt(before, typed, behind string) History {
	if strings.TrimSpace(typed) != "" {
		h = h.add(step{said: strings.TrimSpace(typed)})
	}
	if rest := strings.TrimSpace(before + "\n" + behind); rest != "" {
		h = h.add(step{attached: rest})
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
	if len(s.said)+len(s.attached)+len(s.input) > maxWhole {
		s = h.shown(s)
	}
	if h.n >= 2*maxSteps { // seldom, because it takes its time
		was, gone := h.steps()
		h.forbade, _ = within(append(slices.Clip(h.forbade), gone...), maxSentences)
		h.last, h.n = nil, 0
		for _, s := range was {
			h.last, h.n = &link{s, h.last}, h.n+1
		}
	}
	h.last, h.n = &link{s, h.last}, h.n+1
	return h
}

// steps are the newest ones, at most maxSteps, oldest first. Calls go before what came
// with prompts, and that before what people said, of which the first stays; gone is
// what the rest of it may forbid.
func (h History) steps() (out []step, gone []string) {
	out = make([]step, h.n)
	for i, l := h.n-1, h.last; i >= 0; i, l = i-1, l.before {
		out[i] = l.step
	}
	first := slices.IndexFunc(out, func(s step) bool { return s.said != "" })
	for _, may := range []func(i int) bool{
		func(i int) bool { return out[i].tool != "" }, func(i int) bool { return out[i].attached != "" || out[i].agent != "" }, func(i int) bool { return i != first },
	} {
		over, kept := len(out)-maxSteps, out[:0:0]
		for i, s := range out {
			if over <= 0 || !may(i) {
				kept = append(kept, s)
				continue
			}
			over--
			gone = append(gone, forbidding(judge.Visible(s.said))...)
		}
		out, first = kept, slices.IndexFunc(kept, func(s step) bool { return s.said != "" })
	}
	return out, gone
}

// compact is a call's input without what cannot be seen.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return judge.Visible(string(raw))
	}
	return judge.Visible(b.String())
}

// render lists the newest steps that fit, oldest first, and counts the rest. The first
// thing that was said is always there, and of what is left out the sentences that may
// forbid something stand before everything.
func (h History) render() (out []map[string]any, left int) {
	steps, gone := h.steps()
	gone = append(slices.Clip(h.forbade), gone...)
	first := slices.IndexFunc(steps, func(s step) bool { return s.said != "" })
	room := map[string]int{"person": maxSaid, "attached": maxAttached, "call": maxDone, "agent": maxAgents}
	if first >= 0 {
		room["person"] -= len(h.shown(steps[first]).said)
	}
	var lost []string
	for i, s := range slices.Backward(steps) {
		s = h.shown(s)
		kind, m := s.entry()
		if i != first {
			room[kind] -= len(s.said) + len(s.attached) + len(s.tool) + len(s.input) + len(s.agent) + len(s.did)
		}
		if i != first && room[kind] < 0 {
			room[kind] = -1 // and nothing older of the kind
			left++
			lost = append(forbidding(s.said), lost...)
			continue
		}
		out = append(out, m)
	}
	if list := listed(within(append(gone, lost...), maxSentences)); list != "" {
		out = append(out, map[string]any{"person": list})
	}
	slices.Reverse(out)
	if out == nil {
		out = []map[string]any{}
	}
	return out, left
}

// entry is a step as it is written, and under which name.
func (s step) entry() (kind string, m map[string]any) {
	switch {
	case s.tool != "":
		return "call", map[string]any{"call": s.tool, "input": s.input}
	case s.agent != "":
		did := []string{}
		if s.did != "" {
			did = strings.Split(s.did, "\n")
		}
		return "agent", map[string]any{"agent": s.agent, "did": did}
	case s.attached != "":
		return "attached", map[string]any{"attached": s.attached}
	}
	return "person", map[string]any{"person": s.said}
}
