package desk_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// The query tasks has what runs beside the turns of the session and of its agents, and what has
// ended. What is of an agent is looked at and stopped by the agent's ID and its own.
func TestTasks(t *testing.T) {
	d, id, _ := started(t, `@ Bash {"command": "echo own; tail -f /dev/null", "run_in_background": true}
@ Agent {"description": "look around", "prompt": "Look for it.", "name": "finder"}
---
> They run.
=== prompt contains "Look for it"
@ Bash {"command": "echo inner; tail -f /dev/null", "run_in_background": true}
@ Bash {"command": "tail -f /dev/null"}
---
> Never.
`)
	list := func() (out []ask.Task, text string) {
		r, err := d.Ask(t.Context(), id, ask.Tasks{})
		if err == nil {
			out, err = ask.Data[[]ask.Task](r)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out, r.Text
	}
	if l, text := list(); l == nil || len(l) != 0 || !strings.HasPrefix(text, "Nothing runs") {
		t.Errorf("%v %s", l, text)
	}
	events := d.Follow(t.Context(), id, 0, event.Everything)
	if err := d.Submit(t.Context(), id, op.Prompt{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	var agent ask.Task
	stopped := false
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		if asked, ok := e.Body.(event.Asked); ok {
			t.Fatalf("%+v", asked)
		}
		if end, ok := e.Body.(event.TaskEnded); ok && stopped && end.ID == agent.ID {
			break
		}
		l, text := list()
		by := map[string]ask.Task{}
		for _, x := range l {
			by[x.ID] = x
			if x.Kind == event.TaskAgent {
				agent = x
			}
		}
		own, inner := by["b1"], by[agent.ID+"/b1"]
		if stopped || inner.ID == "" || own.ID == "" || agent.Doing == "" {
			continue // until the agent's second command runs
		}
		stopped = true
		switch {
		case own.Kind != event.TaskShell || own.Status != ask.TaskRuns || own.Owner != "" || own.Started.IsZero() || !strings.HasPrefix(own.What, "echo own"):
			t.Errorf("%+v", own)
		case agent.Name != "finder" || agent.Status != ask.TaskRuns || agent.Session == "" || agent.Calls == 0 || agent.Owner != "":
			t.Errorf("%+v", agent)
		case inner.Owner != agent.ID || inner.Status != ask.TaskRuns || inner.Kind != event.TaskShell:
			t.Errorf("%+v", inner)
		case !strings.Contains(text, "| "+inner.ID+" | shell | running"):
			t.Errorf("%s", text)
		}
		if r, err := d.Ask(t.Context(), id, ask.Output{Task: inner.ID}); err != nil {
			t.Errorf("%+v %v", r, err)
		}
		if err := d.Submit(t.Context(), id, op.StopTask{ID: agent.ID + "/b9"}); err == nil {
			t.Error("a task that is not there was stopped")
		}
		for _, x := range []string{inner.ID, agent.ID} {
			if err := d.Submit(t.Context(), id, op.StopTask{ID: x}); err != nil {
				t.Error(x, err)
			}
		}
	}
	l, _ := list()
	if len(l) != 2 || l[0].ID != "b1" || l[1].ID != agent.ID || l[1].Status != string(event.TaskStopped) || l[1].Took == 0 {
		t.Errorf("%+v", l)
	}
}

// The query agent starts an agent on words of the person, once there is a conversation.
func TestAgent(t *testing.T) {
	d, id, _ := started(t, `> Hello.
---
> Noted.
=== prompt contains "Look for it"
> Found.
`)
	if _, err := d.Ask(t.Context(), id, ask.Agent{Prompt: "Look for it."}); err == nil || !strings.Contains(err.Error(), "say something to the session first") {
		t.Error(err)
	}
	events := d.Follow(t.Context(), id, 0, event.Durable)
	if err := d.Submit(t.Context(), id, op.Prompt{Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	var agent string
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case event.TurnEnded:
			if agent != "" {
				continue
			}
			if _, err := d.Ask(t.Context(), id, ask.Agent{Prompt: " "}); err == nil {
				t.Error("an agent was started without a prompt")
			}
			r, err := d.Ask(t.Context(), id, ask.Agent{Prompt: "Look for it."})
			if err != nil || len(r.Names) != 1 {
				t.Fatalf("%+v %v", r, err)
			}
			agent = r.Names[0]
		case event.TaskStarted:
			if b.Call != "" || b.Waits || b.Text != "Look for it." {
				t.Errorf("%+v", b)
			}
			for e, err := range d.Follow(t.Context(), b.Session, 0, event.Durable) { // to its end
				if err != nil {
					t.Fatal(err)
				}
				if in, ok := e.Body.(event.InputAccepted); ok && in.Typed != op.All(in.Text) {
					t.Errorf("%+v", in)
				}
			}
		case event.TaskEnded:
			if b.ID != agent || b.Status != event.TaskCompleted || b.Text != "Found." {
				t.Errorf("%+v", b)
			}
			return
		default: // not of the agent
		}
	}
}
