package tui

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/view"
)

// inBackground is a command that was moved to the background after it wrote something.
func inBackground(r *rig) *rig {
	return r.open().event(
		event.InputAccepted{ID: "p", Text: "watch"}, event.TurnStarted{ID: "t"},
		event.ToolStarted{Call: "1", Name: "Bash", Title: "Bash: make watch", Shell: true}, event.ToolOutput{Call: "1", S: "tick 1\ntick 2\n"},
		event.TaskStarted{ID: "b1", Call: "1", Text: "make watch"},
		event.ToolFinished{Call: "1", Name: "Bash", View: view.Terminal{Command: "make watch", Note: "in the background as b1"}},
		event.TurnEnded{ID: "t"},
	)
}

// beside are the tasks as the session's events tell them.
func (r *rig) beside() []ask.Task {
	out := []ask.Task{}
	st := r.m.st
	for _, id := range slices.Sorted(maps.Keys(st.Background)) {
		b := st.Background[id]
		t := ask.Task{ID: id, Kind: cmp.Or(b.Kind, event.TaskShell), What: b.Text, Status: ask.TaskRuns, Started: st.Since[id], Took: r.now.Sub(st.Since[id])}
		if b.Agent != nil {
			t.Name, t.Model, t.Session = b.Agent.Name, b.Model, b.Session
		}
		out = append(out, t)
	}
	for _, p := range slices.Backward(st.Past) {
		t := ask.Task{ID: p.ID, Kind: cmp.Or(p.Kind, event.TaskShell), What: p.Text, Status: ask.TaskEnded, Started: p.At, Took: p.End.Took, Output: p.End.Output}
		switch {
		case p.End.Status != "":
			t.Status = string(p.End.Status)
		case p.End.Killed != "":
			t.Status = "stopped"
		case p.End.Exit != 0:
			t.Why = fmt.Sprintf("exit code %d", p.End.Exit)
		}
		out = append(out, t)
	}
	return out
}

// Enter shows what a task wrote, as it comes and to its end, and stops nothing; x does.
func TestTasksAreLookedAt(t *testing.T) {
	wrote := "tick 1\n"
	begin := func() *rig {
		r := inBackground(newRig(t, 80, 24))
		r.desk.Output = func(id string) string { return map[string]string{"b1": wrote}[id] }
		return r.keys("'/tasks", "enter").has("command of the session", "Enter shows what it wrote, x stops it, f waits for it")
	}
	r := begin().keys("enter").has("╭ b1  make watch", "tick 1")
	wrote += "tick 2\n"
	r.event(event.TaskOutput{ID: "b1", S: "tick 2\n"}).pass(glanceSoon).has("tick 2")
	if _, ok := last[op.StopTask](r); ok {
		t.Fatal("to look at a task stopped it")
	}
	r.keys("x")
	if o, ok := last[op.StopTask](r); !ok || o.ID != "b1" {
		t.Error("x does not stop the task that is looked at")
	}
	r.has("Background tasks")
	r = begin().keys("x")
	if o, ok := last[op.StopTask](r); !ok || o.ID != "b1" {
		t.Error("x does not stop the marked task")
	}
	r = begin().keys("enter").event(event.TaskEnded{ID: "b1"}).pass(time.Second).has("ended", "tick 2").hasNot("x stops it")
	r.keys("esc").has("Background tasks").keys("x").has("it has ended")
	// What is waited for goes when it has ended.
	r = begin().keys("f").has("╭ b1  make watch", "tick 2").event(event.TaskEnded{ID: "b1", Exit: 3}).pass(time.Second)
	r.hasNot("╭ b1").has("b1 has ended: exit 3")
	// The list itself is asked for anew.
	begin().event(event.TaskStarted{ID: "b2", Text: "make more"}).pass(glanceSoon).has("b2  make more", "b1  make watch")
}

// Where work would be lost, a stop is asked about.
func TestStopAsksWhereWorkIsLost(t *testing.T) {
	at := start.Add(-time.Hour)
	list := []ask.Task{
		{ID: "a1", Kind: event.TaskAgent, Name: "finder", What: "look", Status: ask.TaskRuns, Calls: 3, Took: 20 * time.Second},
		{ID: "b1", Kind: event.TaskShell, What: "make", Status: ask.TaskRuns, Started: at, Took: time.Hour},
		{ID: "w1", Kind: event.TaskWorkflow, What: "all", Status: ask.TaskRuns, Took: time.Second},
		{ID: "a2", Kind: event.TaskAgent, What: "new", Status: ask.TaskRuns, Took: time.Second},
		{ID: "a1/b1", Kind: event.TaskShell, What: "sleep", Status: ask.TaskRuns, Owner: "a1", Took: time.Second},
		{ID: "m1", Kind: event.TaskMonitor, What: "log", Status: ask.TaskRuns, Took: time.Hour},
	}
	for i, x := range list {
		r := newRig(t, 80, 30).open()
		r.desk.Tasks = func() []ask.Task { return list }
		r.keys("'/tasks", "enter")
		for range i {
			r.keys("down")
		}
		r.keys("x")
		o, did := last[op.StopTask](r)
		if asks := i < 3; asks == did {
			t.Errorf("%s: stopped %v at once", x.ID, o)
		} else if asks {
			r.has("Stop "+x.ID, "Let it go on").keys("enter")
			o, _ = last[op.StopTask](r)
		}
		if o.ID != x.ID {
			t.Errorf("%s: stopped %v", x.ID, o)
		}
	}
}

// The list of tasks says how each ended.
func TestHowTasksEnded(t *testing.T) {
	for want, end := range map[string]event.TaskEnded{"ended": {}, "exit 3": {Exit: 3}, "stopped": {Killed: "stopped by the person", Exit: 143}} {
		end.ID, end.Output = "b1", "/out"
		r := newRig(t, 80, 24).open().event(event.TaskStarted{ID: "b1", Text: "make watch"}, end).keys("'/tasks", "enter")
		if got := r.live(); !strings.Contains(got, want+" ") {
			t.Errorf("not %s:\n%s", want, got)
		}
	}
}

// One key stops all agents, and no command.
func TestStopAgents(t *testing.T) {
	r := inBackground(newRig(t, 80, 24))
	r.event(event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "look", Agent: &event.Agent{ID: "a1"}}).keys("ctrl+x", "ctrl+k")
	if o, ok := last[op.StopTask](r); !ok || o.ID != "a1" {
		t.Errorf("stops %v", o)
	}
}

// allTasks has a task of each kind, and some that have ended.
func allTasks(r *rig) *rig {
	at := func(ago time.Duration) time.Time { return start.Add(-ago) }
	r.desk.Output = func(id string) string { return "building\nok  calc 0.3 s\n" }
	r.desk.Tasks = func() []ask.Task {
		return []ask.Task{
			{ID: "b1", Kind: event.TaskShell, What: "make watch", Status: ask.TaskRuns, Started: at(192 * time.Second), Took: 192 * time.Second},
			{ID: "m2", Kind: event.TaskMonitor, What: "errors in the log of the server", Status: ask.TaskRuns, Started: at(time.Minute), Took: time.Minute},
			{ID: "a4bb5979d", Kind: event.TaskAgent, Name: "finder", What: "look for callers of Sum", Status: ask.TaskAsks, Why: "Bash: rm -r build", Started: at(40 * time.Second), Took: 40 * time.Second,
				Doing: "waits for an answer", Summary: "Reading the callers of Sum in calc.go", Model: "anthropic/haiku-4.5", Effort: "low", Calls: 12, Tokens: 31_000, Cost: 0.12, Waits: true},
			{ID: "a4bb5979d/b1", Kind: event.TaskShell, What: "go test ./...", Status: ask.TaskRuns, Owner: "a4bb5979d", Started: at(5 * time.Second), Took: 5 * time.Second},
			{ID: "w3", Kind: event.TaskWorkflow, What: "review", Status: ask.TaskRuns, Started: at(2 * time.Second), Took: 2 * time.Second},
			{ID: "b0", Kind: event.TaskShell, What: "make", Status: ask.TaskEnded, Why: "exit code 2", Started: at(time.Hour), Took: time.Second, Output: "/home/u/.adze/b0.output"},
			{ID: "a0", Kind: event.TaskAgent, What: "design", Status: "blocked", Why: "nobody was there to answer what it asked: Bash: make", Model: "anthropic/haiku-4.5", Started: at(2 * time.Hour), Took: time.Minute},
		}
	}
	return r.open()
}

// The conversation of an agent is seen as it goes on; what is typed there is for the agent, its
// questions are asked there, and Esc goes back.
func TestVisitAnAgent(t *testing.T) {
	begin := func(keys ...string) *rig {
		r := newRig(t, 80, 24).open()
		r.event(event.InputAccepted{ID: "p", Text: "have it looked for"}, event.TurnStarted{ID: "t"},
			event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "look around", Session: "child", Model: "a/haiku", Agent: &event.Agent{ID: "a1", Name: "finder"}}, event.TurnEnded{ID: "t", How: event.Done})
		r.keys(keys...)
		v := r.m.visit
		if v == nil {
			t.Fatal("nobody is visited")
		}
		if f, ok := r.effects[len(r.effects)-1].(follow); !ok || f.v != v || v.task.Session != "child" {
			t.Errorf("%+v", r.effects[len(r.effects)-1])
		}
		r.m.visitEvents(v, []event.Event{
			{Seq: 1, Time: start, Body: event.InputAccepted{ID: "1", Text: "look for it", From: &op.Sender{ID: "0199c5a2", N: 1}}},
			{Seq: 2, Time: start, Body: event.TurnStarted{ID: "t"}},
			{Seq: 3, Time: start, Body: event.ToolStarted{Call: "c", Name: "Bash", Title: "Bash: grep -r Sum", Shell: true}},
		})
		return r
	}
	for _, keys := range [][]string{{"ctrl+x", "ctrl+a"}, {"'/tasks", "enter", "enter"}} {
		r := begin(keys...)
		r.has("finder: look around", "Esc goes back", "A message of the session: look for it", "grep -r Sum", "thinks")
		r.event(event.TaskProgress{ID: "a1", Doing: "Bash: grep", Took: 3 * time.Second}).has("Bash: grep")
		r.keys("'also in b", "enter")
		if o, ok := last[op.Prompt](r); !ok || o.Text != "@a1 also in b" || o.Typed != op.All(o.Text) {
			t.Errorf("%+v", o)
		}
		v := r.m.visit
		r.m.visitEvents(v, []event.Event{{Seq: 4, Time: start, Body: event.InputAccepted{ID: "2", Text: "also in b", Typed: op.All("also in b"), Steer: true, From: &op.Sender{ID: "0199c5a2", N: 2, As: "the main session"}}}})
		r.has("› also in b")
		r.event(asked("a1/c", "rm -r build", verdict())).pass(time.Second).has("Run this command?", "rm -r build", "finder: look around")
		r.keys("y", "enter")
		if o, ok := last[op.Answer](r); !ok || o.Call != "a1/c" || !o.Allow {
			t.Errorf("%+v", o)
		}
		r.event(event.TaskEnded{ID: "a1", Status: event.TaskBlocked, Text: "nobody was there", Took: time.Second})
		r.carry(r.m.visitOver(v, nil))
		r.has("ended: blocked", "nobody was there", "what you type has it go on")
		r.event(event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "look around", Session: "child", N: 2, Agent: &event.Agent{ID: "a1", Name: "finder"}})
		if f, ok := r.effects[len(r.effects)-1].(follow); !ok || f.v.seq != 4 {
			t.Errorf("it is not followed any more: %+v", r.effects[len(r.effects)-1])
		}
		r.keys("'half").keys("esc").hasNot("half").has("Esc goes back").keys("esc").hasNot("Esc goes back").has("have it looked for")
		if r.m.visit != nil || len(r.ops) == 0 {
			t.Error("Esc does not go back")
		}
		if _, stopped := last[op.Interrupt](r); stopped {
			t.Error("Esc stopped the session's turn")
		}
	}
	// What is waited for goes when it has ended.
	r := begin("'/tasks", "enter", "f")
	r.event(event.TaskEnded{ID: "a1", Status: event.TaskCompleted})
	r.carry(r.m.visitOver(r.m.visit, nil))
	r.hasNot("Esc goes back").has("a1 has ended")
}

// "&" has an agent work on a prompt in the background; one that cannot be started stays in the
// box.
func TestAmpersandStartsAnAgent(t *testing.T) {
	var asked []string
	r := newRig(t, 80, 24).open()
	r.desk.Agent = func(prompt string) (string, error) {
		asked = append(asked, prompt)
		if len(asked) > 1 {
			return "", errors.New("20 agents work")
		}
		return "the agent a1 works on it in the background", nil
	}
	r.keys("'& look for callers", "enter").has("the agent a1 works on it in the background: look for callers", "Ctrl+X Ctrl+A shows what it does")
	if len(r.ops) > 0 && slices.ContainsFunc(r.ops, func(o op.Op) bool { _, is := o.(op.Prompt); return is }) {
		t.Errorf("the model was given it: %v", r.ops)
	}
	r.keys("'& more", "enter").has("20 agents work", "more")
	if !slices.Equal(asked, []string{"look for callers", "more"}) {
		t.Errorf("%q", asked)
	}
}

// Who leaves is told what would end, and a blocked agent with what it asked.
func TestWhatWouldEnd(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TaskStarted{ID: "b1", Text: "make watch"}, event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "look", Agent: &event.Agent{ID: "a1"}},
		event.TaskProgress{ID: "a1", Tally: event.Tally{Calls: 3}})
	r.keys("'/exit", "enter").has("2 tasks run in the background", "command b1: make watch", "agent a1: look (3 calls made, nothing reported)", "Quit and end them").keys("esc")
	r.event(event.TaskEnded{ID: "a1", Status: event.TaskBlocked, Text: "nobody was there to answer what it asked: Bash: make\nThe last it said:\nx"}).has("ended after 0.0 s: blocked: nobody was there to answer", "what it asked: Bash: make").hasNot("The last it said")
}

// The key that lets the call go on is named where it waits for an agent, too.
func TestWaitingAgentGoesToTheBackground(t *testing.T) {
	r := newRig(t, 100, 24).open().event(event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t"}, event.ToolStarted{Call: "c", Name: "Agent", Title: "Agent: look"},
		event.TaskStarted{ID: "a1", Call: "c", Kind: event.TaskAgent, Text: "look", Waits: true, Agent: &event.Agent{ID: "a1"}})
	r.pass(longCommand + time.Second).has("Ctrl+B moves it to the background").keys("ctrl+b")
	if o, ok := last[op.Background](r); !ok || o.Call != "c" {
		t.Errorf("%+v", o)
	}
}
