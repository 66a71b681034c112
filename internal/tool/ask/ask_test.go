package ask

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

const two = `{"questions":[
 {"question":"Which database?","header":"Database","options":[{"label":"SQLite","description":"a file"},{"label":"Postgres","description":"a server"}]},
 {"question":"Which\u001b[31m tests?","header":"Tests","multiSelect":true,"options":[{"label":"Unit","description":""},{"label":"End to end","description":""}]}]}`

func TestPlan(t *testing.T) {
	p, err := New().Plan(json.RawMessage(two), tool.Env{})
	want := tool.Plan{
		Actions: []policy.Action{policy.Person{Why: "it asks you something"}},
		Title:   "Question: Which database?",
		View: view.Questions{Items: []view.Question{
			{Text: "Which database?", Header: "Database", Options: []view.Option{{Label: "SQLite", About: "a file"}, {Label: "Postgres", About: "a server"}}},
			{Text: "Which tests?", Header: "Tests", Multi: true, Options: []view.Option{{Label: "Unit"}, {Label: "End to end"}}},
		}},
	}
	if err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("got %+v %v\nwant %+v", p, err, want)
	}
}

func TestBounds(t *testing.T) {
	q := func(text string, labels ...string) string {
		var os []string
		for _, l := range labels {
			os = append(os, fmt.Sprintf(`{"label":%q,"description":"d"}`, l))
		}
		return fmt.Sprintf(`{"question":%q,"header":"h","options":[%s]}`, text, strings.Join(os, ","))
	}
	all := func(qs ...string) string { return `{"questions":[` + strings.Join(qs, ",") + `]}` }
	for _, c := range []struct{ in, want string }{
		{all(), `field "questions": expected at least 1 items, got 0`},
		{all(q("1", "a", "b"), q("2", "a", "b"), q("3", "a", "b"), q("4", "a", "b"), q("5", "a", "b")), `field "questions": expected at most 4 items, got 5`},
		{all(q("1", "a")), `field "questions[0].options": expected at least 2 items, got 1`},
		{all(q("1", "a", "b", "c", "d", "e")), `field "questions[0].options": expected at most 4 items, got 5`},
		{all(q(" ", "a", "b")), `field "questions[0].question" is empty`},
		{all(q("1", "a", "a")), `field "questions[0].options[1].label" repeats "a"`},
		{all(q("1", "a", " ")), `field "questions[0].options[1].label" is empty`},
		{all(q("1", "a", "b"), q("1", "a", "b")), `field "questions[1].question" is asked twice`},
		{`{}`, `field "questions" is missing; it is required`},
		{all(q("1", "a", "b", "c", "d")), ""},
	} {
		_, err := New().Plan(json.RawMessage(c.in), tool.Env{})
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		answer *tool.Answer
		want   string
		isErr  bool
	}{
		{nil, "no person can be reached to answer. Choose what fits the task best and go on; name the choice at the end. " +
			"If going on without an answer could do harm, end your turn with the question instead.", true},
		{&tool.Answer{Choices: [][]string{{"SQLite"}, {"Unit", "End to end"}}}, "Which database?\n→ SQLite\nWhich tests?\n→ Unit, End to end", false},
		{&tool.Answer{Choices: [][]string{{"my own: \x1b[2JDuckDB"}}}, "Which database?\n→ my own: DuckDB\nWhich tests?\n→ (no answer)", false},
		{&tool.Answer{}, "Which database?\n→ (no answer)\nWhich tests?\n→ (no answer)", false},
	} {
		r, err := New().Run(t.Context(), json.RawMessage(two), tool.Env{Answer: c.answer})
		if err != nil || r.Text != c.want || r.IsErr != c.isErr {
			t.Errorf("%+v:\n got %q %v %v\nwant %q", c.answer, r.Text, r.IsErr, err, c.want)
		}
	}
}

func TestSpec(t *testing.T) {
	if s := New().Spec(); len(s.Description) > 500 || s.Name != "AskUserQuestion" {
		t.Errorf("%s: %d bytes of description", s.Name, len(s.Description))
	}
}
