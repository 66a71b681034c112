package tui

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/view"
)

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want op.Answer
	}{
		"yes": {[]string{"enter"}, op.Answer{Allow: true}},
		"y":   {[]string{"down", "down", "'y", "enter"}, op.Answer{Allow: true}},
		"no":  {[]string{"?", "esc", "tab", "'so", "enter", "esc", "esc"}, op.Answer{}}, // no turn runs that could be stopped
		"n":   {[]string{"'n", "enter", "enter"}, op.Answer{}},
		// What is typed without a look at the dialog is no answer but words.
		"words":           {[]string{"'why?", "enter"}, op.Answer{Comment: "why?"}},
		"words of y":      {[]string{"'you should not", "enter"}, op.Answer{Comment: "you should not"}},
		"words of n":      {[]string{"'no, use main", "enter"}, op.Answer{Comment: "no, use main"}},
		"words of e":      {[]string{"down", "'j", "'just explain", "enter"}, op.Answer{Comment: "jjust explain"}},
		"no, in words":    {[]string{"down", "down", "enter", "'use main", "enter"}, op.Answer{Comment: "use main"}},
		"yes, in words":   {[]string{"tab", "'mind it", "enter", "enter"}, op.Answer{Allow: true, Comment: "mind it"}},
		"session":         {[]string{"down", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}}},
		"local":           {[]string{"down", "right", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}, Keep: op.ForLocal}},
		"project":         {[]string{"down", "right", "right", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}, Keep: op.ForProject}},
		"everywhere":      {[]string{"down", "left", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}, Keep: op.ForUser}},
		"by number":       {[]string{"'2", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}}},
		"edited rule":     {[]string{"down", "e", "ctrl+u", "'Bash(git push origin *)", "enter", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push origin *)"}}},
		"rule left as is": {[]string{"down", "e", "'xx", "esc", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}}},
		"after a rule":    {[]string{"down", "e", "enter", "'2", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}}},
		"after a rule, 1": {[]string{"down", "e", "esc", "'1", "enter"}, op.Answer{Allow: true}},
		"after a rule, 3": {[]string{"down", "e", "enter", "'3do it otherwise", "enter"}, op.Answer{Comment: "do it otherwise"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 80, 24).open()
			r.event(asked("c", "git push origin main", verdict())).pass(time.Second)
			r.keys(c.keys...)
			got, ok := last[op.Answer](r)
			c.want.Call, c.want.By = "c", clientName
			if d := cmp.Diff(c.want, got); !ok || d != "" {
				t.Errorf("answered %t (-want +got):\n%s", ok, d)
			}
			if len(r.m.shown) != 0 {
				t.Error("the dialog stays")
			}
		})
	}
}

// turnPause is more than the while for which a new page of questions takes no Enter.
const turnPause = 300 * time.Millisecond

func TestSurveys(t *testing.T) {
	for name, c := range map[string]struct {
		view view.Block
		keys []string
		want op.Answer
	}{
		"choices":     {survey2, []string{"down", "enter", "space", "enter"}, op.Answer{Allow: true, Choices: [][]string{{"Postgres"}, {"lint"}}}},
		"own words":   {survey2, []string{"tab", "'DuckDB", "enter", "down", "space", "enter"}, op.Answer{Allow: true, Choices: [][]string{{"DuckDB"}, {"race"}}}},
		"up from own": {survey2, []string{"tab", "'DuckDB", "up", "enter", "tab", "'more", "up", "space", "enter"}, op.Answer{Allow: true, Choices: [][]string{{"Postgres"}, {"race", "more"}}}},
		"digits":      {survey2, []string{"'2", "enter", "'1", "enter"}, op.Answer{Allow: true, Choices: [][]string{{"Postgres"}, {"lint"}}}},
		"digit twice": {survey2, []string{"'1", "'2", "enter", "'1", "'2", "'1", "enter"}, op.Answer{Allow: true, Choices: [][]string{{"Postgres"}, {"race"}}}},
		"declined":    {survey2, []string{"esc"}, op.Answer{Comment: "closed without an answer"}},
		"plan":        {plan, []string{"down", "enter"}, op.Answer{Allow: true, Choices: [][]string{{"Yes, and ask before each edit"}}}},
		"plan change": {plan, []string{"up", "down", "down", "enter", "'smaller steps", "enter"}, op.Answer{Comment: "smaller steps"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 80, 24).open()
			r.event(event.Asked{Call: "c", Tool: "X", View: c.view}).pass(time.Second)
			for _, k := range c.keys {
				if r.keys(k); k == "enter" {
					r.pass(turnPause)
				}
			}
			got, ok := last[op.Answer](r)
			c.want.Call, c.want.By = "c", clientName
			if d := cmp.Diff(c.want, got); !ok || d != "" {
				t.Errorf("answered %t (-want +got):\n%s", ok, d)
			}
		})
	}
}

// y and n mark the answers of a page that is to be opened, as digits do in every dialog (see
// its package), and Enter answers.
func TestLettersMark(t *testing.T) {
	for key, want := range map[string]string{"'1": "❯ 1 Open it", "'y": "❯ 1 Open it", "'n": "❯ 2 Do not"} {
		page := view.Form{Server: "x", Message: "m", URL: "https://example.com/"}
		r := newRig(t, 80, 24).open().event(event.Asked{Call: "c", Tool: "X", View: page, Verdict: verdict()}).pass(time.Second)
		r.keys(key).has(want).unanswered()
	}
}

// An Enter that is held down answers one page, and one with nothing ticked ticks nothing.
func TestHeldEnter(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.Asked{Call: "c", Tool: "X", View: survey2}).pass(time.Second)
	r.keys("'2", "enter").has("(2 of 2)").keys("enter").hasNot("nothing is ticked").unanswered()
	r.pass(turnPause).keys("enter").has("nothing is ticked").unanswered().keys("'1").hasNot("nothing is ticked").keys("enter")
	if a, _ := last[op.Answer](r); !slices.Equal(a.Choices[1], []string{"lint"}) {
		t.Errorf("%+v", a)
	}
}

// Words that somebody writes in a dialog are not lost when another client answers it: they
// are in the prompt box, and a line says what was answered.
func TestAnsweredElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		ask  event.Asked
		keys []string
		by   event.Answered
		want string
	}{
		"yes":       {asked("c", "rm x", verdict()), []string{"'n", "enter", "'use git clean"}, event.Answered{Answer: op.Answer{Call: "c", Allow: true}, By: event.Client("terminal 2")}, "was answered yes in another terminal (terminal 2)"},
		"no":        {asked("c", "rm x", verdict()), []string{"'n", "enter", "'use git clean"}, event.Answered{Answer: op.Answer{Call: "c"}, By: event.Client("b")}, "was answered no in another terminal (b)"},
		"interrupt": {asked("c", "rm x", verdict()), []string{"tab", "'use git clean", "enter"}, event.Answered{Answer: op.Answer{Call: "c"}, By: event.By{Kind: event.ByInterrupt}}, "is not asked any more"},
		"question":  {event.Asked{Call: "c", View: survey2}, []string{"tab", "'use git clean"}, event.Answered{Answer: op.Answer{Call: "c"}, By: event.Client("b")}, "was answered no"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 120, 24).open().event(event.TurnStarted{ID: "t"}, c.ask).pass(time.Second)
			r.keys(c.keys...).event(c.by).has(c.want, "Your words are in the prompt box", "› use git clean").unanswered()
		})
	}
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, asked("c", "rm x", verdict())).pass(time.Second)
	r.event(event.Answered{Answer: op.Answer{Call: "c", Allow: true}}).hasNot("another terminal")
}

// To stop is never a mistake, however early.
func TestEscapeStopsWhatADialogInterrupts(t *testing.T) {
	for _, key := range []string{"esc", "ctrl+c"} {
		for _, late := range []time.Duration{0, time.Second} {
			r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, asked("c", "rm -r /", verdict())).pass(late)
			r.keys(key).hasNot("again to quit") // of a question, nobody wants to quit
			if _, ok := last[op.Interrupt](r); !ok {
				t.Errorf("%s after %s: the turn goes on", key, late)
			}
		}
	}
}

// Esc closes what was opened in the dialog first, and then stops the turn; n is a
// no with which the turn goes on.
func TestEscapeLeavesAPermission(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, asked("c", "git push origin main", verdict())).pass(time.Second)
	r.has("Esc stops the turn").keys("?").has("Esc shows less").keys("esc").has("Run this command?").hasNot("shows less")
	r.keys("tab", "'mind it", "enter").has("mind it", "Esc takes it back").keys("esc").has("Run this command?").hasNot("mind it")
	if _, ok := last[op.Interrupt](r); ok {
		t.Fatal("the turn was stopped by a key that closes something else")
	}
	r.keys("esc")
	if _, ok := last[op.Interrupt](r); !ok {
		t.Error("the turn goes on")
	}
	if a, ok := last[op.Answer](r); ok {
		t.Errorf("it was answered besides: %+v", a)
	}
}

func TestDialogsByRank(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'/mode", "enter")
	r.event(event.Asked{Call: "q", View: survey2}, asked("c", "ls", verdict())).pass(time.Second)
	r.has("Run this command?")
	r.keys("enter").pass(time.Second)
	r.has("Which database?")
	r.event(event.Answered{Answer: op.Answer{Call: "q"}}) // another client was faster
	r.has("Permission mode")
	r.keys("esc")
	r.hasNot("Permission mode")
}

// A turn that became dear waits until a person says whether it goes on; what is
// answered elsewhere, or too late, asks nobody any more.
func TestDearTurn(t *testing.T) {
	dear := event.Noted{Level: "warning", Text: "this session has cost $5.01", About: event.AboutCost}
	ask := event.Asked{Call: "x9.1", Title: dear.Text, About: event.AboutCost}
	begun := func() *rig { return newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, dear) }
	for name, c := range map[string]struct {
		keys []string
		want op.Op
	}{
		"enter": {[]string{"enter"}, op.Answer{Call: "x9.1", By: clientName, Allow: true}},
		"stop":  {[]string{"down", "enter"}, op.Interrupt{}},
		"esc":   {[]string{"esc"}, op.Interrupt{}},
	} {
		r := begun().hasNot("Go on?").event(ask).pass(time.Second)
		r.has("Go on?", "has cost $5.01", "Stop here").keys(c.keys...).hasNot("Stop here")
		if got := r.ops[len(r.ops)-1]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v", name, got)
		}
	}
	begun().event(ask).has("Stop here").event(event.TurnEnded{ID: "t"}).hasNot("Stop here").has("has cost $5.01")
	begun().event(ask).has("Stop here").event(event.Answered{Answer: op.Answer{Call: "x9.1", Allow: true}}).hasNot("Stop here")
	r := begun()
	r.keys("'what").event(ask).keys("enter").has("Stop here") // it was meant for the prompt
}

// A plan can be changed in the person's editor while it is asked about; what is
// approved is what is shown then.
func TestPlanIsEdited(t *testing.T) {
	asks := func(file string) event.Asked {
		return event.Asked{Call: "p", Tool: "ExitPlanMode", View: view.Group{Blocks: []view.Block{
			view.Text{S: "# Plan\n\n1. Look\n", File: file}, view.Questions{Items: []view.Question{{Header: "Plan", Text: "Carry out this plan?", Options: []view.Option{{Label: "Yes"}}}}},
		}}}
	}
	r := newRig(t, 80, 24)
	text, wrong := "", error(nil)
	r.m.host.EditFile = func(_ context.Context, path string) error { text = "1. Look at " + path; return wrong }
	r.m.host.ReadFile = func(string) (string, error) { return text, nil }
	edits := func() {
		t.Helper()
		r.keys("'e")
		e, ok := r.effects[len(r.effects)-1].(away)
		if !ok {
			t.Fatalf("%T", r.effects[len(r.effects)-1])
		}
		r.carry(e.run(t.Context())(r.m))
	}
	r.open().event(asks("/s/plan.md")).pass(time.Second).has("1. Look", "e edits it")
	edits()
	r.has("1. Look at /s/plan.md")
	wrong = errors.New("vi: exit status 1")
	edits()
	r.has("1. Look at /s/plan.md", "vi: exit status 1").keys("enter")
	if a, _ := last[op.Answer](r); !a.Allow || len(a.Choices) != 1 {
		t.Errorf("%+v", a)
	}
	r.event(event.Answered{Answer: op.Answer{Call: "p"}}, asks("")).pass(time.Second).hasNot("edits it").keys("'e")
	if _, ok := r.effects[len(r.effects)-1].(away); ok {
		t.Error("an editor without a file")
	}
}

// What keys do in an answer is said in the border, so that no row grows under the cursor.
func TestKeysOfAnAnswer(t *testing.T) {
	r := newRig(t, 100, 24).open().event(asked("7", "git push origin main", verdict())).pass(time.Second)
	rows := len(r.frame())
	r.hasNot("how long").keys("down").has("← → how long · e edits the rule · Tab")
	if n := len(r.frame()); n != rows {
		t.Errorf("%d rows became %d", rows, n)
	}
	newRig(t, 100, 24).open().event(askedEdit()).pass(time.Second).has("Shift+Tab yes, and accept edits").keys("down").hasNot("accept edits")
}

// The rule that asks is named once, with where it stands.
func TestRuleIsNamedOnce(t *testing.T) {
	v := policy.Verdict{Effect: policy.Ask, Reason: "asked about by a rule: Bash(git push:*)", Rule: "Bash(git push:*)", Source: "~/.adze/settings.json"}
	r := newRig(t, 80, 24).open().event(asked("7", "git push origin main", v)).pass(time.Second).has("asks because: asked about by a rule: Bash(git push:*)", "(~/.adze/settings.json)")
	if n := strings.Count(r.text(), "Bash(git push:*)"); n != 1 {
		t.Errorf("named %d times:\n%s", n, r.text())
	}
}

// A rule that cannot be read says why, as a whole, and can be mended.
func TestRuleIsMended(t *testing.T) {
	r := newRig(t, 80, 24).open().event(asked("7", "git push origin main", verdict())).pass(time.Second)
	r.keys("down", "'e", "'(", "enter").has("a rule ends with its closing", "Enter takes the rule")
	r.keys("backspace", "enter").hasNot("parenthesis", "Enter takes the rule").keys("enter")
	if a, ok := last[op.Answer](r); !ok || !slices.Equal(a.Rules, []string{"Bash(git push:*)"}) {
		t.Errorf("%+v", a)
	}
	r = newRig(t, 80, 24).open().event(asked("7", "git push origin main", verdict())).pass(time.Second)
	r.keys("down", "'e", "'(", "enter", "esc").hasNot("parenthesis", "Enter takes the rule").has("Bash(git push:*)")
}

// All of what a folder brings can be read before it is trusted: long lines are
// wrapped, and what does not fit is scrolled to.
func TestTrustShowsAll(t *testing.T) {
	for _, rows := range []int{24, 10} {
		r := newRig(t, 40, rows)
		r.desk.Trust = func() ask.Claims {
			return ask.Claims{Folder: "~/src/calc", List: []string{".adze/settings.json: hooks: " + longHook}, Changed: "-{}\n+{\"hooks\": 1}\n"}
		}
		r.open().pass(time.Second).has("It changed since you trusted it", "No, use none of it", "Yes, I know what it does")
		all := ""
		for range 40 {
			all += r.text()
			r.keys("pgdown")
		}
		for _, want := range []string{"-{}", `+{"hooks": 1}`, "collect", "and that is at", "the end"} {
			if !strings.Contains(all, want) {
				t.Errorf("%d rows: %q is never seen:\n%s", rows, want, r.text())
			}
		}
		r.keys("enter")
		if len(r.m.shown) > 0 {
			t.Error("Enter did not answer")
		}
	}
}

// A folder that brings nothing is asked about for what of the person's waits for it.
func TestTrustOfAnEmptyFolder(t *testing.T) {
	r := newRig(t, 80, 24)
	r.desk.Trust = func() ask.Claims {
		return ask.Claims{Folder: "~/src/calc", Waiting: []string{"tasks starts in a folder of its own"}}
	}
	r.open().pass(time.Second).has("Trust ~/src/calc?", "It brings nothing", "tasks starts in a folder of its own", "Yes, my servers may run what is in it")
	r.keys("enter").has("Your MCP servers stay away from this folder.", "adze trust")
}

// A no is kept; Esc decides later. What was typed before the question was seen goes out.
func TestTrustIsDeclined(t *testing.T) {
	for key, want := range map[string]int{"enter": 1, "esc": 0} {
		said := 0
		r := newRig(t, 80, 24)
		r.desk.Trust = func() ask.Claims {
			return ask.Claims{Folder: "~/src/calc", List: []string{"x"}}
		}
		r.desk.Decide = func(bool) error { said++; return nil }
		r.keys("'go").open().keys("enter").has("Trust ~/src/calc?")
		if p, _ := last[op.Prompt](r); p.Text != "go" || said > 0 {
			t.Errorf("sent %+v, %d times no", p, said)
		}
		r.pass(time.Second).keys(key)
		if len(r.m.shown) > 0 || said != want {
			t.Errorf("%s: %d times no, %d dialogs", key, said, len(r.m.shown))
		}
		if want > 0 {
			r.has("Nothing of what this folder brings is used", "adze trust")
		}
	}
}

// Yes to a folder opens the session anew, with the folder trusted before: what is
// typed meanwhile does not reach the one that knows nothing of it.
func TestTrustOpensAnew(t *testing.T) {
	granted := false
	r := newRig(t, 80, 24)
	r.desk.Trust = func() ask.Claims {
		return ask.Claims{Folder: "~/src/calc", List: []string{"x"}}
	}
	r.desk.Decide = func(trust bool) error { granted = trust; return nil }
	r.open().pass(time.Second).keys("down", "enter")
	o, ok := r.effects[len(r.effects)-1].(open)
	if !ok || o.first == nil || granted {
		t.Fatalf("%+v, granted %t", r.effects[len(r.effects)-1], granted)
	}
	if err := o.first(t.Context()); err != nil || !granted {
		t.Error(err, granted)
	}
	if r.open(); strings.Count(r.text(), "/help for keys") != 1 {
		t.Errorf("not one first line:\n%s", r.text())
	}
	if r.event(event.InputAccepted{ID: "a", Text: "hello"}).has("hello").open(); strings.Count(r.text(), "/help for keys") != 2 {
		t.Errorf("a session that is opened below another has no first line:\n%s", r.text())
	}
}

func askedEdit() event.Asked {
	return event.Asked{Call: "8", Tool: "Edit", View: view.Diff{Path: "calc.go", Unified: diffText}, Verdict: verdict()}
}

// The key that also accepts further edits is a yes only where the dialog says so: to an
// edit, with yes marked.
func TestYesToFurtherEdits(t *testing.T) {
	command := asked("7", "git push origin main", verdict())
	for name, c := range map[string]struct {
		ask  event.Asked
		rows int
		mode policy.Mode
		keys []string
		yes  bool
	}{
		"edit":                     {ask: askedEdit(), yes: true},
		"edit, rule marked":        {ask: askedEdit(), keys: []string{"down"}},
		"edit, no marked":          {ask: askedEdit(), keys: []string{"'n"}},
		"edit, a few rows":         {ask: askedEdit(), rows: 6},
		"edit, the whole decision": {ask: askedEdit(), keys: []string{"?"}},
		"edit, accepted already":   {ask: askedEdit(), mode: policy.AcceptEdits},
		"command":                  {ask: command},
		"command, no marked":       {ask: command, keys: []string{"'n"}},
		"command, no by arrows":    {ask: command, keys: []string{"down", "down"}},
		"command, yes marked":      {ask: command, keys: []string{"'y"}},
	} {
		rows := max(c.rows, 24)
		if c.rows > 0 {
			rows = c.rows
		}
		r := newRig(t, 100, rows).open()
		if c.mode != "" {
			r.event(event.ModeChanged{Mode: c.mode})
		}
		r.event(c.ask).pass(time.Second).keys(c.keys...).pass(time.Second)
		if named := strings.Contains(r.text(), "Shift+Tab yes"); named != c.yes {
			t.Errorf("%s: named %t:\n%s", name, named, r.text())
		}
		r.keys("shift+tab")
		a, answered := last[op.Answer](r)
		if answered != c.yes || c.yes && (!a.Allow || a.Mode != policy.AcceptEdits) || len(r.m.shown) > 0 == c.yes {
			t.Errorf("%s: answered %t %+v", name, answered, a)
		}
	}
}

// A digit marks the answer that keeps a rule, as it marks every answer.
func TestDigitOfARuleOnlyMarks(t *testing.T) {
	r := newRig(t, 80, 24).open().event(asked("7", "git push origin main", verdict())).pass(time.Second)
	r.keys("'2").has("❯ 2 Yes, and do not", "2 marks it · Enter takes it · ← → how long")
	r.keys("'. second thing", "enter")
	if a, ok := last[op.Answer](r); !ok || a.Allow || a.Comment != "second thing" {
		t.Errorf("%t %+v", ok, a)
	}
}

// A digit marks an answer also after the call was looked at in the editor.
func TestDigitAfterTheEditor(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.m.host.Edit = func(_ context.Context, was string) (string, error) { return was, nil }
	r.event(asked("7", "git push origin main", verdict())).pass(time.Second).keys("'e")
	r.carry(r.effects[len(r.effects)-1].(away).run(t.Context())(r.m))
	r.keys("'1").unanswered().keys("enter")
	if a, ok := last[op.Answer](r); !ok || !a.Allow || a.Comment != "" {
		t.Errorf("%t %+v", ok, a)
	}
}

// A rule that is longer than a line is seen whole while it is edited.
func TestLongRuleIsEdited(t *testing.T) {
	v := verdict()
	v.Suggest = []string{"Bash(touch x.txt)", "Bash(git push origin main)", "Bash(rm -rf build)", "Bash(go test ./internal/policy/...)"}
	for _, size := range [][2]int{{100, 30}, {60, 24}, {40, 20}} {
		r := newRig(t, size[0], size[1]).open().event(asked("7", "touch x.txt && git push origin main", v)).pass(time.Second).keys("down", "'e")
		for _, key := range []string{"end", "home"} {
			seen := strings.Join(strings.FieldsFunc(r.keys(key).text(), func(c rune) bool { return c == ' ' || c == '\n' || c == '│' }), "")
			if want := strings.ReplaceAll(strings.Join(v.Suggest, ", "), " ", ""); !strings.Contains(seen, want) {
				t.Errorf("%v, %s: not all of the rule is seen:\n%s", size, key, r.text())
			}
		}
		r.keys("end", "left", "'x", "enter", "enter")
		if a, _ := last[op.Answer](r); len(a.Rules) != 4 || a.Rules[3] != "Bash(go test ./internal/policy/...x)" {
			t.Errorf("%v: %+v", size, a)
		}
	}
}

// A plan has at least half of a small screen: what is said about the answers goes before it.
func TestPlanHasRoom(t *testing.T) {
	about := "changes of files run without a question from then on, in this session"
	steps := "# Fix things\n\n"
	for i := range 15 {
		steps += fmt.Sprintf("%d. Step\n", i+1)
	}
	long := view.Group{Blocks: []view.Block{view.Text{S: steps}, view.Questions{Items: []view.Question{{Header: "Plan", Text: "Carry out this plan?", Options: []view.Option{
		{Label: "Yes, and accept edits", About: about}, {Label: "Yes, and ask", About: about}, {Label: "Yes, anew", About: about},
	}}}}}}
	for _, c := range []struct{ rows, least, abouts int }{{20, 6, 1}, {12, 1, 0}, {40, 15, 3}} {
		r := newRig(t, 40, c.rows).open().event(event.Asked{Call: "c", Tool: "X", View: long}).pass(time.Second)
		s := r.text()
		if n := strings.Count(s, ". Step"); n < c.least {
			t.Errorf("%d rows: %d steps are seen:\n%s", c.rows, n, s)
		}
		if n := strings.Count(s, "changes"); n != c.abouts {
			t.Errorf("%d rows: %d answers are described:\n%s", c.rows, n, s)
		}
		r.has("No, and say what to change")
	}
}

// An edit of a call's arguments with a mistake in it is not lost: it is opened again.
func TestMistakeInArgumentsIsMended(t *testing.T) {
	r := newRig(t, 100, 24).open()
	var began []string
	written := []string{"{\n  \"command\": \"git push\"", `{"command": "git push"}`}
	r.m.host.Edit = func(_ context.Context, text string) (string, error) {
		began = append(began, text)
		return written[len(began)-1], nil
	}
	edits := func() {
		r.keys("'e")
		r.carry(r.effects[len(r.effects)-1].(away).run(t.Context())(r.m))
	}
	r.event(asked("7", "git push origin main", verdict())).pass(time.Second)
	edits()
	r.has("what was written is no JSON", "e opens it again", "Run this command?")
	edits()
	if len(began) != 2 || began[1] != written[0] {
		t.Errorf("opened %q", began)
	}
	if a, ok := last[op.Answer](r); !ok || !a.Allow || string(a.Input) != written[1] {
		t.Errorf("%t %+v", ok, a)
	}
}
