package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

// What each line answers to a permission.
func TestPlainPermission(t *testing.T) {
	for text, c := range map[string]struct {
		says   string
		answer *op.Answer // nil: it waits on
	}{
		"1":                    {"", &op.Answer{Allow: true}},
		"y":                    {"", &op.Answer{Allow: true}},
		" Yes ":                {"", &op.Answer{Allow: true}},
		"2":                    {"", &op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}, Keep: op.ForSession}},
		"3":                    {"", &op.Answer{}},
		"No":                   {"", &op.Answer{}},
		"push to a fork first": {"No, and: “push to a fork first”", &op.Answer{Comment: "push to a fork first"}},
		"no, use a fork":       {"No, and: “no, use a fork”", &op.Answer{Comment: "no, use a fork"}},
		"":                     {"It waits for an answer: 1 or y: yes. 3 or n: no.", nil},
		"4":                    {"4 is no number of an answer", nil},
		"0":                    {"0 is no number", nil},
		"1,":                   {"One answer is wanted", nil},
		"1 2":                  {"One answer is wanted", nil},
		"yess":                 {"Nothing was answered: is “yess” a yes or a no?", nil},
		"nope":                 {"Nothing was answered", nil},
		"yes please do it":     {"Nothing was answered", nil},
		"2 files are wrong":    {"Nothing was answered", nil},
		"/comment":             {"“/comment” means nothing here", nil},
		"/accept":              {"means nothing here", nil},
		"/more":                {"Make this", nil},
		"?":                    {"/rule RULE changes the rule of", nil},
		"/for ever":            {"/for takes session, folder, project or everywhere", nil},
		"/rule Bash((":         {"The rule stays as it was", nil},
	} {
		r := plainRig(t)
		r.event(event.TurnStarted{ID: "t"}, asked("7", "git push origin main", verdict()))
		want(t, r.said(), "Run this command?", "1 Yes", "3 No\n", "1 or y: yes. 3 or n: no. A sentence: no, and do that instead. ?: more.", "1 to 3>")
		got := r.seen().line(text)
		if text == "/more" {
			c.says = "rm -r"
			want(t, got, "Run this command?", "1 to 3>")
		} else {
			want(t, got, c.says)
		}
		a, ok := last[op.Answer](r)
		if ok != (c.answer != nil) || ok && (a.Allow != c.answer.Allow || a.Comment != c.answer.Comment || !slices.Equal(a.Rules, c.answer.Rules) || a.Keep != c.answer.Keep) {
			t.Errorf("%q: answered %v with %+v", text, ok, a)
		}
		if c.answer == nil {
			want(t, got, "1 to 3>")
		}
	}
}

func TestPlainPermissionWords(t *testing.T) {
	r := plainRig(t)
	r.event(event.TurnStarted{ID: "t"}, asked("7", "git push origin main", verdict()))
	r.said()
	r.seen()
	want(t, r.line("/comment but not the tags"), "It goes along with the answer")
	want(t, r.line("/rule Bash(git push origin main)"), "2 is now: Yes, and do not ask again for Bash(git push origin main) in this session")
	want(t, r.line("/for project"), "in this project, for everybody")
	r.line("2")
	if a, _ := last[op.Answer](r); !a.Allow || a.Comment != "but not the tags" || a.Keep != op.ForProject || a.Rules[0] != "Bash(git push origin main)" {
		t.Errorf("%+v", a)
	}
	r = plainRig(t)
	r.event(event.TurnStarted{ID: "t"}, event.Asked{Call: "5", Tool: "Edit", Title: "Edit a", View: view.Diff{Path: "a", Unified: diffText}, Verdict: policy.Verdict{Effect: policy.Ask}})
	r.said()
	r.seen().line("/accept")
	if a, _ := last[op.Answer](r); !a.Allow || a.Mode != policy.AcceptEdits {
		t.Errorf("%+v", a)
	}
}

// A line that was begun before a question came answers nothing.
func TestPlainLinesOfBeforeAnswerNothing(t *testing.T) {
	r := plainRig(t)
	r.event(event.TurnStarted{ID: "t"}, asked("7", "rm -r build", verdict()))
	r.said()
	r.m.painted(r.m.unseen(), r.m.now)
	want(t, r.line("y"), "That came too soon", "1 to 3>")
	want(t, r.line("also look at main.go"), "counts as a prompt", "1 to 3>")
	r.unanswered()
	if p, _ := last[op.Prompt](r); p.Text != "also look at main.go" {
		t.Errorf("%+v", p)
	}
	r.seen().line("y")
	if _, ok := last[op.Answer](r); !ok {
		t.Error("it cannot be answered any more")
	}
}

// A prompt that came back into the box keeps nobody from answering: what is typed in plain
// mode is a line of its own.
func TestPlainAnswersBesideAPromptThatWaits(t *testing.T) {
	r := plainRig(t)
	r.m.box.Set("and then test")
	r.event(event.TurnStarted{ID: "t"}, asked("7", "rm -r build", verdict()))
	r.said()
	r.seen().line("y")
	if a, ok := last[op.Answer](r); !ok || !a.Allow {
		t.Errorf("%v %+v", ok, a)
	}
}

func TestPlainQuestions(t *testing.T) {
	ask := func(v view.Block) *rig {
		r := plainRig(t)
		r.event(event.TurnStarted{ID: "t"}, event.Asked{Call: "q", Tool: "AskUserQuestion", View: v})
		r.said()
		return r.seen()
	}
	r := ask(survey2)
	want(t, r.line("y"), "Nothing was answered: “y” is none of the answers. The number of an answer, or an answer in your own words.", "number or words>")
	want(t, r.line("7"), "7 is no number of an answer: there are 1 to 3.")
	want(t, r.line(""), "It waits for an answer")
	want(t, r.line("1 2"), "One answer is wanted")
	want(t, r.line("?"), "/skip declines to answer")
	want(t, r.line("/nothing"), "means nothing here")
	want(t, r.line("3"), "Say it in your own words", "your answer>")
	want(t, r.line(""), "1 SQLite", "number or words>")
	want(t, r.line("post"), "Checks (2 of 2)", "1 lint", "The numbers of answers", "numbers or words>")
	want(t, r.line("/back"), "Database (1 of 2)")
	want(t, r.line("banana"), "Your answer: “banana”", "Checks (2 of 2)")
	r.line("1, 2")
	if a, _ := last[op.Answer](r); !a.Allow || !slices.EqualFunc(a.Choices, [][]string{{"banana"}, {"lint", "race"}}, slices.Equal) {
		t.Errorf("%+v", a)
	}
	r = ask(survey2)
	r.line("/skip")
	if a, ok := last[op.Answer](r); !ok || a.Allow {
		t.Errorf("%+v", a)
	}
	r = ask(view.Questions{Items: []view.Question{{Text: "Go on?", Options: []view.Option{{Label: "Yes, all of it"}, {Label: "No"}}}}})
	r.line("y")
	if a, _ := last[op.Answer](r); a.Choices[0][0] != "Yes, all of it" {
		t.Errorf("%+v", a)
	}

	want(t, draw.TextOf(ask(plan).printed), "Carry out this plan?", "1 or 2: yes. 3 or n: no. A sentence: no, and change that.")
	for text, comment := range map[string]string{"also run the tests": "also run the tests", "n": "", "yess": "-", "y": "-"} {
		r = ask(plan)
		got := r.line(text)
		a, ok := last[op.Answer](r)
		if ok == (comment == "-") || ok && (a.Allow || a.Comment != comment) {
			t.Errorf("%q: %v %+v\n%s", text, ok, a, got)
		}
	}
	for _, text := range []string{"less", "n"} {
		r = ask(plan)
		want(t, r.line("3"), "Say what to change", "what to change>")
		r.line(text)
		if a, ok := last[op.Answer](r); !ok || a.Allow || a.Comment != text {
			t.Errorf("%+v", a)
		}
	}
}

func TestPlainForms(t *testing.T) {
	r := plainRig(t)
	formAsked(r, wanted)
	want(t, r.line(""), "That cannot be taken: a value is needed.", "text>")
	want(t, r.line("calc"), "Port", "An empty line keeps “5432”", "number>")
	want(t, r.line("many"), "That cannot be taken")
	want(t, r.line("/back"), "Name", "keeps “calc”")
	r.line("")
	want(t, r.line(""), "-Port", "1 or y is yes, 2 or n is no", "yes or no>")
	want(t, r.line("perhaps"), "is none of the answers")
	want(t, r.line("n"), "Europe")
	want(t, r.line("europe"), "tags")
	want(t, r.line("1 9"), "1 9 is no number of an answer")
	want(t, r.line(""), "Name (needed): calc", "1 Send", "2 Decline", "3 Change something", "1 to 3>")
	want(t, r.line("3"), "Name", "keeps “calc”")
	for range 5 {
		r.line("")
	}
	r.line("1")
	if a, _ := last[op.Answer](r); !a.Allow || string(a.Values) != `{"name":"calc","port":5432,"region":"eu","ro":false}` {
		t.Errorf("%+v %s", a, a.Values)
	}
	r = plainRig(t)
	formAsked(r, wanted)
	r.line("/decline")
	if a, ok := last[op.Answer](r); !ok || a.Allow {
		t.Errorf("%+v", a)
	}
	r = plainRig(t)
	formAsked(r, view.Form{Server: "db", Message: "Sign in", URL: "https://login.example.com/a"})
	want(t, draw.TextOf(r.printed), "opens login.example.com", "1 Open it in the browser")
	want(t, r.line("maybe"), "is none of the answers. There are 1 or 2")
	r.line("n")
	if a, ok := last[op.Answer](r); !ok || a.Allow {
		t.Errorf("%+v", a)
	}
}

func TestPlainMenus(t *testing.T) {
	r := plainRig(t)
	var came func() ([]Choice, error)
	r.desk.Models = func(context.Context) ([]Choice, error) { return came() }
	came = func() (all []Choice, _ error) {
		want(t, r.said(), "-number", "->")
		for i := range 50 {
			all = append(all, Choice{ID: fmt.Sprint("p/m", i), Name: fmt.Sprint("model ", i)})
		}
		return all, nil
	}
	want(t, r.line("/model"), "40 model 39", "10 more: letters of a name narrow the list", "The number of one takes it, letters of some narrow the list and take one that is left alone, an empty line leaves.", "number or letters>")
	want(t, r.line("nosuch"), "Nothing matches “nosuch”", "-model 3")
	want(t, r.line("odel 4"), "1 model 4\n", "2 model 40")
	r.line("2")
	if o, _ := last[op.SetModel](r); o.Name != "p/m40" {
		t.Errorf("took %+v", o)
	}
	r.line("/model")
	want(t, r.line("l 33"), "It is model 33.")
	if o, _ := last[op.SetModel](r); o.Name != "p/m33" {
		t.Errorf("took %+v", o)
	}
	r.line("/model")
	n := len(r.ops)
	if want(t, r.line(""), "$>"); len(r.ops) != n || len(r.m.shown) > 0 {
		t.Error("an empty line took something")
	}
	came = func() ([]Choice, error) { return nil, nil }
	want(t, r.line("/model"), "No provider has a key", "$>")
	want(t, r.line("/mode"), "3 plan", "The number of one takes it, an empty line leaves.")
	want(t, r.line("9"), "9 is no number of an answer")
	want(t, r.line("y"), "“y” is none of the answers")
	r.line("plan")
	if o, _ := last[op.SetMode](r); o.Mode != "plan" {
		t.Errorf("took %+v", o)
	}
	want(t, r.line("/mode"), "3 plan")
	r.keys("ctrl+c")
	want(t, r.said(), "$>")
	want(t, r.line("/help"), "the prompt goes on in the next line", "/exit, Ctrl+D twice", "$>")

	want(t, r.line("/resume"), "The first one", "/all: those of all", "/rename N TITLE")
	want(t, r.line("/preview 1"), "began")
	want(t, r.line("/preview"), "The number of one has to follow")
	want(t, r.line("/rename 1 taken"), "The title stays: it is open elsewhere.", "-1 taken")
	want(t, r.line("/rename 1 Another name"), "1 Another name")
	want(t, r.line("/all"), "Elsewhere")
	want(t, r.line(""), "$>")

	r.event(event.TaskStarted{ID: "b1", Call: "1", Text: "make watch"})
	want(t, r.line("/tasks"), "b1  make watch", "The number of one shows what it wrote", "/stop N: stops it")
	r.line("/stop 1")
	if o, ok := last[op.StopTask](r); !ok || o.ID != "b1" {
		t.Errorf("stopped %+v", o)
	}
}

// A yes to the trust of a folder can be a word; what becomes dear needs an answer.
func TestPlainTrustAndCost(t *testing.T) {
	for line, granted := range map[string]bool{"y": true, "yes": true, "2": true, "n": false, "1": false, "": false} {
		r := newRig(t, 80, 24)
		r.m.screen.plain = true
		first := false
		r.desk.Trust = func() ask.Claims {
			return ask.Claims{Folder: "~/src/calc", List: []string{"x: y"}}
		}
		r.open()
		want(t, r.said(), "Trust ~/src/calc?", "1 No, use none of it", "The number of one takes it, an empty line decides later.", "1 or 2>")
		r.seen().line(line)
		for _, e := range r.effects {
			if o, ok := e.(open); ok && o.first != nil {
				first = true
			}
		}
		if first != granted || len(r.m.shown) > 0 {
			t.Errorf("%q: granted %v", line, first)
		}
	}
	r := plainRig(t)
	r.event(event.TurnStarted{ID: "t"}, event.Asked{Call: "x", Title: "dear", About: event.AboutCost})
	want(t, r.said(), "Go on?", "1 Go on", "2 Stop here")
	want(t, r.seen().line(""), "The number of one takes it", "1 or 2>")
	r.line("1")
	if a, _ := last[op.Answer](r); !a.Allow {
		t.Errorf("%+v", a)
	}
}

// An answer that is refused is asked for again, with what is wrong.
func TestPlainRefusedAnswer(t *testing.T) {
	r := plainRig(t)
	r.event(event.TurnStarted{ID: "t"}, asked("7", "ls", verdict()))
	r.said()
	r.seen()
	for _, e := range r.m.carry(r.m.first(), dialog.AnswerLine(r.m.around(), r.m.first(), "1")) {
		if s, ok := e.(submit); ok {
			s.then(r.m, errors.New("it cannot be kept"))
		}
	}
	want(t, r.said(), "it cannot be kept", "1 Yes", "1 to 3>")
}
