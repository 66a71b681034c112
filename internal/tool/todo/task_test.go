package todo

import (
	"encoding/json"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// Each call is of the list that the one before left; the results are those that are public.
func TestTasks(t *testing.T) {
	k := &kept{}
	for i, c := range []struct {
		by, tool, in string
		text, data   string // of the result; with text "", data is the error of the plan
	}{
		{"", List, `{}`, "There are no tasks.", `{"tasks":[]}`},
		{"", Create, `{"subject":"Parse","description":"All of it","activeForm":"Parsing","metadata":{"n":1,"no":null}}`, "Task 1 is on the list: Parse", `{"task":{"id":"1","subject":"Parse","description":"All of it"}}`},
		{"", Create, `{"subject":"Run\u001b[31m","description":""}`, "Task 2 is on the list: Run", `{"task":{"id":"2","subject":"Run","description":""}}`},
		{"", Create, `{"subject":" ","description":""}`, "", `field "subject" is empty`},
		{"", Create, `{"subject":"x"}`, "", `field "description" is missing; it is required`},
		{"", Update, `{"taskId":"2","addBlockedBy":["1"],"owner":null}`, "Task 2 is pending; it waits for 1.", `{"success":true,"taskId":"2","updatedFields":["blockedBy"]}`},
		{"", Update, `{"taskId":"2","status":"in_progress"}`, "Task 2 is as it was: task 2 waits for 1: do that first", `{"success":false,"taskId":"2","updatedFields":[],"error":"task 2 waits for 1: do that first"}`},
		{"", Update, `{"taskId":"1","addBlockedBy":["2"]}`, "Task 1 is as it was: these tasks would wait for each other: 1 waits for 2 waits for 1", `{"success":false,"taskId":"1","updatedFields":[],"error":"these tasks would wait for each other: 1 waits for 2 waits for 1"}`},
		{"", Update, `{"taskId":"2","status":"done"}`, "", `field "status": done is not one of pending, in_progress, completed, deleted`},
		{"ann", Update, `{"taskId":"1","status":"in_progress"}`, "Task 1 is in_progress (it was pending) and yours.", `{"success":true,"taskId":"1","updatedFields":["status","owner"],"statusChange":{"from":"pending","to":"in_progress"}}`},
		{"bob", Update, `{"taskId":"1","status":"in_progress","owner":"bob"}`, "Task 1 is as it was: ann works on task 1: choose another one", `{"success":false,"taskId":"1","updatedFields":[],"error":"ann works on task 1: choose another one"}`},
		{"ann", Write, `{"todos":[{"content":"Look","status":"in_progress","activeForm":"Looking"}]}`, "Todo list updated: 0 done, 1 in progress, 0 to do.", `{"newTodos":[{"content":"Look","status":"in_progress","activeForm":"Looking"}],"oldTodos":[]}`},
		{"", List, `{}`, "1 [in_progress] Parse (ann)\n2 [pending] Run, waits for 1", `{"tasks":[{"id":"1","subject":"Parse","status":"in_progress","owner":"ann","blockedBy":[]},{"id":"2","subject":"Run","status":"pending","blockedBy":["1"]}]}`},
		{"", Get, `{"taskId":"1"}`, "1 [in_progress] Parse (ann)\nAll of it\nThese come after it: 2.\nmetadata: {\"n\":1}", `{"task":{"id":"1","subject":"Parse","description":"All of it","status":"in_progress","blocks":["2"],"blockedBy":[],"owner":"ann","metadata":{"n":1}}}`},
		{"", Get, `{"taskId":"3"}`, "There is no task 3.", `{"task":null}`},
		{"", Update, `{"taskId":"1","metadata":{"n":null,"m":"x"},"subject":"Parse it"}`, "Task 1 is in_progress, that of ann.", `{"success":true,"taskId":"1","updatedFields":["subject","metadata"]}`},
		{"", Write, `{"todos":[]}`, "Todo list cleared. 1 task that agents work on stayed on the list.", `{"newTodos":[],"oldTodos":[{"content":"Parse it","status":"in_progress","activeForm":"Parsing"},{"content":"Run","status":"pending","activeForm":""}]}`},
		{"", Create, `{"subject":"Run","description":""}`, "Task 4 is on the list: Run", `{"task":{"id":"4","subject":"Run","description":""}}`},
		{"", Update, `{"taskId":"1","addBlocks":["4"]}`, "Task 1 is in_progress, that of ann.", `{"success":true,"taskId":"1","updatedFields":["blocks"]}`},
		{"ann", Update, `{"taskId":"1","status":"completed"}`, "Task 1 is completed (it was in_progress) and yours; these wait for nothing any more: 4.", `{"success":true,"taskId":"1","updatedFields":["status"],"statusChange":{"from":"in_progress","to":"completed"}}`},
		{"ann", Update, `{"taskId":"1","status":"completed"}`, "Task 1 is completed and yours; that was so before.", `{"success":true,"taskId":"1","updatedFields":[]}`},
		{"", Update, `{"taskId":"1","status":"deleted"}`, "Task 1 is not on the list any more.", `{"success":true,"taskId":"1","updatedFields":["deleted"],"statusChange":{"from":"completed","to":"deleted"}}`},
		{"", Get, `{"taskId":"1"}`, "There is no task 1.", `{"task":null}`},
	} {
		k.by = c.by
		x := named(t, k, c.tool)
		p, err := x.Plan(json.RawMessage(c.in), tool.Env{})
		if c.text == "" {
			if err == nil || err.Error() != c.data {
				t.Errorf("%d: plan: %v, want %s", i, err, c.data)
			}
			continue
		}
		if err != nil || len(p.Actions) != 1 || p.Actions[0] != (policy.None{}) || p.Title == "" {
			t.Errorf("%d: plan %+v, %v", i, p, err)
		}
		r, err := x.Run(t.Context(), json.RawMessage(c.in), tool.Env{})
		if err != nil || r.Text != c.text || r.IsErr {
			t.Errorf("%d: %q, error %t, %v\nwant %q", i, r.Text, r.IsErr, err, c.text)
		}
		if raw, err := json.Marshal(r.Data()); err != nil || string(raw) != c.data {
			t.Errorf("%d: %s, %v\nwant %s", i, raw, err, c.data)
		}
	}
}

// A plan says what the call would do to the list, for hooks: with the number that a new
// task would get, and what it is about.
func TestPlanned(t *testing.T) {
	k := &kept{}
	p, err := named(t, k, Create).Plan(json.RawMessage(`{"subject":"a","description":"all of a"}`), tool.Env{Agent: "x"})
	want := view.Task{ID: "1", Text: "a", Status: view.Pending, About: "all of a"}
	if list, ok := p.View.(view.Tasks); err != nil || !ok || len(list.Items) != 1 || list.Items[0].About != want.About || list.Items[0].ID != "1" {
		t.Errorf("%+v, %v", p, err)
	}
	if len(k.list.Tasks) != 0 {
		t.Error("a plan changed the list")
	}
}

func TestSeldom(t *testing.T) {
	for _, x := range New(&kept{}) {
		if s := x.Spec(); s.Seldom != (s.Name != Write) || len(s.Description) > 700 {
			t.Errorf("%s: seldom %t, %d bytes of description", s.Name, s.Seldom, len(s.Description))
		}
	}
}
