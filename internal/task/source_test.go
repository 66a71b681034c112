package task_test

import (
	"context"
	"testing"

	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/tool"
)

// some is a source of one task.
type some struct{ id, call string }

func (s some) Background(call string) (string, bool) { return s.id, call == s.call }

func (s some) Stop(who string) (tool.Result, bool) {
	return tool.Result{Text: "stopped " + s.id}, who == s.id
}

func (s some) Look(_ context.Context, who string, _ task.Look) (tool.Result, bool) {
	return tool.Result{Text: "looked at " + s.id}, who == s.id
}

func (s some) Tail(who string, _ int) ([]byte, int64, bool) { return []byte(s.id), 9, who == s.id }

func (s some) Known() []string { return []string{s.id} }

// A list finds the source of a task, and names what there is.
func TestList(t *testing.T) {
	l := task.List{some{"b1", "c1"}, some{"a1", "c2"}, some{"a1", ""}}
	if id, ok := l.Background("c2"); id != "a1" || !ok {
		t.Error(id, ok)
	}
	if _, ok := l.Background("c9"); ok {
		t.Error("an unknown call went to the background")
	}
	if r := l.Look(t.Context(), "a1", task.Look{}); r.Text != "looked at a1" {
		t.Error(r.Text)
	}
	if b, n, err := l.Tail("b1", 5); string(b) != "b1" || n != 9 || err != nil {
		t.Errorf("%s %d %v", b, n, err)
	}
	const want = `there is no background task "x\n"; there are b1, a1`
	_, _, err := l.Tail("x\n", 5)
	for _, got := range []string{l.Stop("x\n").Text, l.Look(t.Context(), "x\n", task.Look{}).Text, l.Kill("x\n").Error(), err.Error()} {
		if got != want {
			t.Errorf("%q", got)
		}
	}
	if err := l.Kill("b1"); err != nil {
		t.Error(err)
	}
	if r := (task.List{}).Stop("b1"); !r.IsErr || r.Text != `there is no background task "b1", and no other one` {
		t.Error(r.Text)
	}
}
