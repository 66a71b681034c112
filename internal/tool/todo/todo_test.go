package todo

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// kept is a Keeper of one session.
type kept struct {
	list tasklist.List
	by   string
}

func (k *kept) List() (tasklist.List, string) { return k.list, k.by }

func (k *kept) ChangeList(_ context.Context, c tasklist.Change) (tasklist.Outcome, error) {
	out := k.list.Change(c)
	k.list = out.List
	return out, nil
}

// named is the tool of that name.
func named(t *testing.T, k Keeper, name string) tool.Tool {
	t.Helper()
	for _, x := range New(k) {
		if x.Spec().Name == name {
			return x
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

func TestTodoWrite(t *testing.T) {
	for _, c := range []struct {
		in, want string
		planErr  string
		tasks    []view.Task
	}{
		{in: `{"todos":[]}`, want: "Todo list cleared.", tasks: []view.Task{}},
		{
			in:   `{"todos":[{"content":"A","status":"completed","activeForm":"Aing"},{"content":"B","status":"in_progress","activeForm":"Bing"},{"content":"C\u001b[31m","status":"pending","activeForm":""}]}`,
			want: "Todo list updated: 1 done, 1 in progress, 1 to do.",
			tasks: []view.Task{
				{ID: "1", Text: "A", Active: "Aing", Status: view.Completed},
				{ID: "2", Text: "B", Active: "Bing", Status: view.InProgress},
				{ID: "3", Text: "C", Status: view.Pending},
			},
		},
		{
			in:    `{"todos":"[{\"content\":\"A\",\"status\":\"in_progress\",\"activeForm\":\"a\"},{\"content\":\"B\",\"status\":\"in_progress\",\"activeForm\":\"b\"}]"}`,
			want:  "Todo list updated: 0 done, 2 in progress, 0 to do. Work on one item at a time: keep only that one in_progress.",
			tasks: []view.Task{{ID: "1", Text: "A", Active: "a", Status: view.InProgress}, {ID: "2", Text: "B", Active: "b", Status: view.InProgress}},
		},
		{
			in:    `{"todos":[{"content":"A","status":"pending","activeForm":"a"}]}`,
			want:  "Todo list updated: 0 done, 0 in progress, 1 to do. Set the item you work on to in_progress.",
			tasks: []view.Task{{ID: "1", Text: "A", Active: "a", Status: view.Pending}},
		},
		{in: `{"todos":[{"content":" ","status":"pending","activeForm":"a"}]}`, planErr: `field "todos[0].content" is empty`},
		{in: `{"todos":[{"content":"a","status":"done","activeForm":"a"}]}`, planErr: `field "todos[0].status": done is not one of pending, in_progress, completed`},
		{in: `{"todos":[{"content":"a","status":"pending"}]}`, planErr: `field "todos[0].activeForm" is missing; it is required`},
		{in: `{}`, planErr: `field "todos" is missing; it is required`},
		{in: `{"todos":[],"merge":true}`, planErr: `unknown field "merge"; the fields are todos`},
	} {
		td := named(t, &kept{}, Write)
		p, err := td.Plan(json.RawMessage(c.in), tool.Env{})
		if c.planErr != "" {
			if err == nil || err.Error() != c.planErr {
				t.Errorf("%s: plan error %v, want %s", c.in, err, c.planErr)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(p.Actions, []policy.Action{policy.None{}}) || p.Parallel {
			t.Errorf("%s: plan %+v %v", c.in, p, err)
		}
		r, err := td.Run(t.Context(), json.RawMessage(c.in), tool.Env{})
		r.Data = nil // see TestLists
		want := tool.Result{Text: c.want, View: view.Tasks{Items: c.tasks}}
		if err != nil || !reflect.DeepEqual(r, want) {
			t.Errorf("%s:\n got %+v %v\nwant %+v", c.in, r, err, want)
		}
	}
}

func TestSpec(t *testing.T) {
	s := named(t, &kept{}, Write).Spec()
	if len(s.Description) > 500 || s.Name != "TodoWrite" {
		t.Errorf("%s: %d bytes of description", s.Name, len(s.Description))
	}
	if !strings.Contains(string(s.Schema), `"enum":["pending","in_progress","completed"]`) {
		t.Errorf("schema %s", s.Schema)
	}
}

func TestLists(t *testing.T) {
	td := named(t, &kept{}, Write)
	run := func(in string) string {
		r, err := td.Run(t.Context(), json.RawMessage(in), tool.Env{})
		if err != nil || r.Data == nil {
			t.Fatalf("%s: %+v, %v", in, r, err)
		}
		raw, _ := json.Marshal(r.Data())
		return string(raw)
	}
	const a = `[{"content":"a","status":"pending","activeForm":"b"}]`
	for _, tt := range [][2]string{{`{"todos":` + a + `}`, `{"newTodos":` + a + `,"oldTodos":[]}`}, {`{"todos":[]}`, `{"newTodos":[],"oldTodos":` + a + `}`}} {
		if got := run(tt[0]); got != tt[1] {
			t.Errorf("%s: %s, want %s", tt[0], got, tt[1])
		}
	}
}
