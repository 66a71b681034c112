package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// withAgents has /agents, with a person's, one that is off and one for people. did is what was done.
func withAgents(r *rig) (did *[]ask.Definitions) {
	did = new([]ask.Definitions)
	r.open()
	r.m.host.Reports = map[string]Report{"agents": {About: "definitions of agents"}}
	r.desk.Defined = func(q ask.Definitions) (ask.Reply, error) {
		if q.Do == "" {
			return ask.With([]ask.Definition{
				{Name: "mine", About: "Reviews.", Model: "opus", Tools: []string{"Read"}, From: "/home/u/.adze/agents/mine.md", File: "/home/u/.adze/agents/mine.md", Scope: "user"},
				{Name: "explore", About: "searches", From: "adze", Scope: "adze", Denied: true},
				{Name: "boss", About: "directs", From: "adze", Scope: "adze", Person: true},
			}), nil
		}
		*did = append(*did, q)
		if q.Name == "taken" {
			return ask.Reply{}, errors.New("there is an agent taken already")
		}
		return ask.Reply{Text: "it was done", Names: []string{"/home/u/.adze/agents/new.md"}}, nil
	}
	return did
}

// /agents lists the definitions; one is tried, edited, begun, and turned off and on.
func TestAgents(t *testing.T) {
	var edited []string
	begin := func() (*rig, *[]ask.Definitions) {
		r := newRig(t, 100, 30)
		did := withAgents(r)
		r.m.host.EditFile = func(_ context.Context, file string) error { edited = append(edited, file); return nil }
		return r.keys("'/agents", "enter").has("mine  Reviews.", "opus, yours", "off", "for people, adze", "New agent …"), did
	}
	r, _ := begin()
	r.keys("'mine", "enter").has("The agent mine", "Model: opus", "Tools: Read", "From: ").keys("enter").has("What is it to do").keys("'look at a.go", "enter").hasNot("The agent mine")
	if o, ok := last[op.Prompt](r); !ok || o.Text != "Have the agent mine do this, wait for it, and say what it reports:\nlook at a.go" {
		t.Errorf("%+v", o)
	}
	r, did := begin()
	r.keys("'mine", "enter", "down", "enter").has("it was done", "New agent")
	r.keys("'explore", "enter").hasNot("Try it").keys("enter").has("it was done")
	want := []ask.Definitions{{Name: "mine", Do: ask.DenyDefinition}, {Name: "explore", Do: ask.AllowDefinition}}
	if !slices.Equal(*did, want) {
		t.Errorf("%+v", *did)
	}
	r.keys("'boss", "enter").has("adze --agent boss begins a session as it").hasNot("Try it", "Turn it off").keys("esc").has("New agent")
	outside := func(r *rig) { r.carry(r.effects[len(r.effects)-1].(away).run(t.Context())(r.m)) }
	r, _ = begin()
	outside(r.keys("'mine", "enter", "down", "down", "enter"))
	r, did = begin()
	r.keys("'new agent", "enter").has("This project's").keys("down", "enter", "'taken", "enter").has("there is an agent taken already").keys("enter", "'new", "enter")
	outside(r)
	want = []ask.Definitions{{Name: "taken", Do: ask.BeginDefinition, Scope: policy.Project}, {Name: "new", Do: ask.BeginDefinition, Scope: policy.Project}}
	if !slices.Equal(*did, want) {
		t.Errorf("%+v", *did)
	}
	if !slices.Equal(edited, []string{"/home/u/.adze/agents/mine.md", "/home/u/.adze/agents/new.md"}) {
		t.Errorf("%q", edited)
	}
}

// An agent's name has the colour of its definition, above the prompt and where it asks.
func TestColoursOfAgents(t *testing.T) {
	r := newRig(t, 80, 24).open()
	pink := &event.Agent{ID: "a1", Name: "finder", Color: "pink"}
	r.event(event.TurnStarted{ID: "t1"}, event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "find", Agent: pink, Model: "p/m"})
	colored := func(name string) bool {
		for _, l := range r.frame() {
			for _, s := range l {
				if strings.Contains(s.Text, name) && s.Style.Fg == draw.ColorOf("pink") {
					return true
				}
			}
		}
		return false
	}
	if !colored("finder") {
		t.Error("the line of the agent has not its colour")
	}
	r.event(event.Asked{Call: "a1/c1", Tool: "Bash", Title: "make", Agent: pink})
	if !colored("The agent finder") {
		t.Error("its question has not its colour")
	}
}
