package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// A plan that a person approves in a fresh context is the first message from
// then on, in the session and after a resume; the folder's memory is told
// again, because the model that reads on has not seen it.
func TestPlanInAFreshContext(t *testing.T) {
	dir, home := scratch(t)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sub/AGENTS.md": "speak softly", "sub/f.txt": "content"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := kept(t, dir, home, sessions.Choice{})
	call := func(id, name string, in map[string]any) llm.ToolUse {
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		return llm.ToolUse{ID: id, Name: name, Input: b}
	}
	read := map[string]any{"file_path": filepath.Join(dir, "sub", "f.txt")}
	r.model.Replies = []fake.Reply{
		fake.Use(call("c1", "Read", read)), fake.Use(call("c2", "EnterPlanMode", map[string]any{})), fake.Use(call("c3", "ExitPlanMode", map[string]any{"plan": "1. write g.txt"})),
		fake.Use(call("c4", "Read", read)), fake.Use(call("c5", "Write", map[string]any{"file_path": filepath.Join(dir, "g.txt"), "content": "g"})), fake.Say("done"),
	}
	if err := r.Submit(t.Context(), op.Prompt{Text: "the old prompt"}); err != nil {
		t.Fatal(err)
	}
	for e := range r.events {
		if q, ok := e.Body.(event.Asked); ok {
			a := op.Answer{Call: q.Call, Allow: true}
			if q.Tool == "ExitPlanMode" {
				a.Choices = [][]string{{"Yes, in a fresh context, and accept edits"}}
			}
			if err := r.Submit(t.Context(), a); err != nil {
				t.Error(err)
			}
		}
		if _, ok := e.Body.(event.TurnEnded); ok {
			break
		}
	}
	requests := r.model.Requests()
	if len(requests) != 6 {
		t.Fatalf("%d requests", len(requests))
	}
	said := func(ms []llm.Message) string { return fmt.Sprintf("%+v", ms) }
	if got := said(requests[2].Messages); strings.Count(got, "speak softly") != 1 {
		t.Errorf("before the plan: %s", got)
	}
	if got := requests[3].Messages; len(got) != 1 || strings.Contains(said(got), "the old prompt") || !strings.Contains(said(got), "1. write g.txt") {
		t.Errorf("the new context: %s", said(got))
	}
	if got := said(requests[4].Messages); strings.Count(got, "speak softly") != 1 || !strings.Contains(got, "content") {
		t.Errorf("after reading again: %s", got)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "g.txt")); string(b) != "g" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	before := said(r.Session.State().Messages())
	r.close()

	again := kept(t, dir, home, sessions.Choice{Resume: r.ID})
	if got := said(again.Session.State().Messages()); got != before || strings.Contains(got, "the old prompt") {
		t.Errorf("after a resume: %s\nbefore: %s", got, before)
	}
	again.close()
}
