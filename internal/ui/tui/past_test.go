package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
)

// longLog is a log of turns with a call each; the last one goes on for long.
func longLog(turns, last int) (es []event.Event) {
	add := func(b event.Body) {
		es = append(es, event.Event{Seq: event.Seq(len(es) + 1), Time: start, Body: b})
	}
	for n := range turns {
		add(event.InputAccepted{ID: fmt.Sprint("p", n), Text: fmt.Sprint("prompt ", n)})
		add(event.TurnStarted{ID: fmt.Sprint("t", n), Model: "m/x"})
		steps := 1
		if n == turns-1 {
			steps = last
		}
		for step := range steps {
			call := fmt.Sprint("c", n, ".", step)
			add(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "I look."}, llm.ToolUse{ID: call, Name: "Bash"}}}, Stop: llm.WantTools, Usage: llm.Usage{In: 1}})
			add(event.ToolStarted{Call: call, Name: "Bash", Title: "Bash: make " + call})
			add(event.ToolFinished{Call: call, Name: "Bash", Text: "done " + call})
		}
		add(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: fmt.Sprint("answer ", n)}}}, Stop: llm.EndTurn, Usage: llm.Usage{In: 1}})
		add(event.TurnEnded{ID: fmt.Sprint("t", n), How: event.Done})
	}
	return es
}

// resume opens a session on a log, and is told what the loop would ask for.
func resume(t *testing.T, es []event.Event, late bool) (r *rig, followed int) {
	r = newRig(t, 80, 24)
	s := &Session{Facts: ask.Facts{Dir: "~/src/calc", Branch: "main", Model: "m/x"}, After: event.Seq(len(es))}
	if late {
		for _, e := range es {
			s.Was = s.Was.Apply(e)
		}
		r.desk.Past = es
	}
	r.do(openedMsg{s, nil})
	from := r.m.shownAfter
	r.do(eventsMsg{of: r.m.s, events: es[from:]})
	r.frame()
	return r, len(es) - int(from)
}

// whole is the conversation as the transcript shows it, and the figures of the
// footer.
func whole(r *rig) string {
	g := &pager{cache: map[*story.Item][]draw.Line{}}
	var out []draw.Line
	for i := range r.m.story.Items {
		out = append(out, g.lines(r.m.leaf(), i)...)
	}
	return draw.TextOf(out) + fmt.Sprint(r.m.st.Total, r.m.st.Turns, r.m.st.First, r.m.st.Seq, r.m.st.Running)
}

// A session that is shown from its newest events on has all of it in the end,
// and the same on the screen.
func TestALongSessionIsReadFromItsEnd(t *testing.T) {
	for name, es := range map[string][]event.Event{"many turns": longLog(300, 1), "one long turn": longLog(20, 400)} {
		t.Run(name, func(t *testing.T) {
			all, n := resume(t, es, false)
			late, few := resume(t, es, true)
			if n != len(es) || few > firstEvents {
				t.Errorf("followed %d events, and %d of %d", n, few, len(es))
			}
			if late.m.shownAfter != 0 || late.m.s.Was.Seq != 0 {
				t.Errorf("events up to %d were not read back", late.m.shownAfter)
			}
			if d := cmp.Diff(whole(all), whole(late)); d != "" {
				t.Errorf("(-all +late)\n%s", d)
			}
			tail := func(r *rig) string {
				lines := strings.Split(r.text(), "\n")
				return strings.Join(lines[len(lines)-40:], "\n")
			}
			if d := cmp.Diff(tail(all), tail(late)); d != "" {
				t.Errorf("the screen: (-all +late)\n%s", d)
			}
			if !strings.Contains(late.text(), "earlier items") {
				t.Error("nothing says that there is more")
			}
			late.seq, all.seq = event.Seq(len(es)), event.Seq(len(es))
			for _, r := range []*rig{all, late} {
				r.event(event.InputAccepted{ID: "n", Text: "go on"}, event.TurnStarted{ID: "n"}, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "yes"}}}}, event.TurnEnded{ID: "n", How: event.Done})
			}
			if d := cmp.Diff(tail(all), tail(late)); d != "" {
				t.Errorf("afterwards: (-all +late)\n%s", d)
			}
		})
	}
}

// Of a session that is too large to be shown as a whole, the newest part is.
func TestAHugePastIsBounded(t *testing.T) {
	es := longLog(900, 1)
	for i, e := range es {
		if b, ok := e.Body.(event.ToolFinished); ok {
			b.Text = strings.Repeat("x", 100_000)
			es[i].Body = b
		}
	}
	r, _ := resume(t, es, true)
	if r.m.shownAfter == 0 || int(r.m.shownAfter) > len(es)-firstEvents {
		t.Errorf("shown after %d of %d", r.m.shownAfter, len(es))
	}
	r.keys("ctrl+o")
	if text := r.text(); !strings.Contains(text, "without its first") {
		t.Errorf("the transcript does not say that it is a part:\n%s", text)
	}
}

// Where a hook put the last call off, Enter with an empty prompt goes on with it.
func TestEnterGoesOnWithWhatWasPutOff(t *testing.T) {
	es := longLog(1, 1)[:3] // up to the reply that calls
	es = append(es, event.Event{Seq: 4, Time: start, Body: event.TurnEnded{ID: "t0", How: event.Done, Reason: event.ToolDeferred}})
	for _, late := range []bool{false, true} {
		r, _ := resume(t, es, late)
		r.has("A hook put the last call off. Enter with an empty prompt goes on with it.", "put off").hasNot("interrupted")
		r.ops = nil
		r.keys("enter")
		if want := []op.Op{op.Prompt{ID: "id1"}}; !cmp.Equal(r.ops, want) {
			t.Errorf("sent: %#v", r.ops)
		}
		r.event(event.TurnStarted{ID: "t1"}, event.ToolStarted{Call: "c0.0", Name: "Bash"}, event.ToolFinished{Call: "c0.0", Name: "Bash", Text: "it ran"}, event.TurnEnded{ID: "t1"})
		r.ops = nil
		r.keys("enter")
		if len(r.ops) != 0 {
			t.Errorf("went on again: %#v", r.ops)
		}
	}
}

// What the next turn goes by stands below the prompt from the first frame on, not what
// earlier runs of the session went by.
func TestAResumedSessionShowsItsOwnModeAndModel(t *testing.T) {
	es := []event.Event{
		{Seq: 1, Body: event.InputAccepted{ID: "p", Text: "go"}}, {Seq: 2, Body: event.TurnStarted{ID: "t", Model: "a/old", Mode: policy.Default}},
		{Seq: 3, Body: event.ModeChanged{Mode: policy.DontAsk}}, {Seq: 4, Body: event.TurnEnded{ID: "t", How: event.Done}},
	}
	r := newRig(t, 80, 24)
	r.do(openedMsg{&Session{Facts: ask.Facts{Dir: "~/src/calc", Model: "b/new", Mode: policy.AcceptEdits}, After: 4}, nil})
	r.do(eventsMsg{of: r.m.s, events: es})
	if text := r.text(); r.m.mode() != policy.AcceptEdits || !strings.Contains(text, "accepts edits") || !strings.Contains(text, "new") || strings.Contains(text, "old") {
		t.Errorf("mode %s:\n%s", r.m.mode(), text)
	}
	r.do(eventsMsg{of: r.m.s, events: []event.Event{{Seq: 5, Body: event.ModeChanged{Mode: policy.PlanMode}}}}) // what happens now counts
	if r.m.mode() != policy.PlanMode {
		t.Errorf("mode %s", r.m.mode())
	}
}
