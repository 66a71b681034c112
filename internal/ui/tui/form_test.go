package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

func limit(n float64) *float64 { return &n }

var wanted = view.Form{From: "the MCP server db", Message: "Which database shall be opened?", Fields: []view.Field{
	{Name: "name", Title: "Name", About: "as the server knows it", Kind: view.StringField, Required: true, Min: limit(2), Max: limit(20)},
	{Name: "port", Title: "Port", Kind: view.IntegerField, Default: json.RawMessage(`5432`), Min: limit(1), Max: limit(65535)},
	{Name: "ro", Title: "Read only", Kind: view.BooleanField},
	{Name: "region", Kind: view.ChoiceField, Default: json.RawMessage(`"eu"`), Options: []view.FieldOption{{Value: "us", Title: "America"}, {Value: "eu", Title: "Europe"}}},
	{Name: "tags", Kind: view.ChoicesField, Options: []view.FieldOption{{Value: "a"}, {Value: "b"}, {Value: "c"}}, Max: limit(2)},
}}

func formAsked(r *rig, f view.Form) *rig {
	return r.event(event.Asked{Call: "f", Tool: "mcp__db", View: f}).pass(time.Second)
}

func TestFormIsFilled(t *testing.T) {
	r := formAsked(newRig(t, 80, 24).open(), wanted)
	r.has("The MCP server db asks", "Which database", "Name (needed)", "Port: 5432", "region: Europe")
	r.keys("'x", "enter").has("at least 2 characters") // stays where it is
	r.keys("'y", "enter", "backspace", "'x", "enter").has("a number is needed")
	r.keys("backspace", "enter", "'n", "enter", "enter", "space", "down", "down", "space")
	r.keys("up", "space", "tab").has("at most 2 choices")
	r.keys("enter") // to send: the mistake is gone to
	if _, ok := last[op.Answer](r); ok {
		t.Fatal("it was sent with a mistake")
	}
	r.keys("space", "tab", "enter")
	a, ok := last[op.Answer](r)
	if !ok || !a.Allow || a.Call != "f" || string(a.Values) != `{"name":"xy","port":543,"region":"eu","ro":false,"tags":["a","c"]}` {
		t.Errorf("%+v %s", a, a.Values)
	}
	if err := wanted.Check(a.Values); err != nil {
		t.Error(err)
	}
}

func TestFormIsDeclinedOrClosed(t *testing.T) {
	r := formAsked(newRig(t, 80, 24).open(), wanted)
	r.keys("esc")
	if a, ok := last[op.Answer](r); !ok || a.Allow || !a.Dismissed {
		t.Errorf("closed: %+v", a)
	}
	r = formAsked(newRig(t, 80, 24).open(), wanted)
	r.keys("tab", "tab", "tab", "tab", "tab", "down", "enter")
	if a, ok := last[op.Answer](r); !ok || a.Allow || a.Dismissed {
		t.Errorf("declined: %+v", a)
	}
	r = formAsked(newRig(t, 80, 24).open(), wanted)
	r.keys("tab", "tab", "tab", "tab", "tab", "enter").has("a value is needed")
	if _, ok := last[op.Answer](r); ok {
		t.Error("sent without what is needed")
	}
}

// What other rows hold is taken as it is, and nothing that is empty is sent.
func TestFormSendsOnlyWhatItHolds(t *testing.T) {
	r := formAsked(newRig(t, 80, 24).open(), view.Form{Fields: []view.Field{
		{Name: "a", Kind: view.StringField}, {Name: "b", Kind: view.NumberField}, {Name: "c", Kind: view.BooleanField},
		{Name: "d", Kind: view.StringField, Default: json.RawMessage(`7`)}, // no text, so it is not used
	}})
	r.keys("tab", "tab", "tab", "tab", "enter")
	if a, _ := last[op.Answer](r); !a.Allow || string(a.Values) != `{}` {
		t.Errorf("%s", a.Values)
	}
}

// In plain mode a menu is printed when its choices are there, with numbers, and
// taken by one; what there is only to read asks for nothing.
func TestMenusInPlainMode(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.screen.plain = true
	var came func() ([]Choice, error)
	r.m.host.Models = func(context.Context) ([]Choice, error) { return came() }
	r.open()
	said := func() string { return draw.TextOf(r.m.announce()) }
	came = func() ([]Choice, error) {
		if got := said(); !strings.Contains(got, "looking") || strings.Contains(got, "number") {
			t.Errorf("while it looks:\n%s", got)
		}
		var all []Choice
		for i := range 30 {
			all = append(all, Choice{ID: fmt.Sprint("p/m", i), Name: fmt.Sprint("model ", i)})
		}
		return all, nil
	}
	r.keys("'/model", "enter")
	if got := said(); !strings.Contains(got, "30 model 29") || !strings.Contains(got, "The number of a choice, or letters of one") {
		t.Errorf("then:\n%s", got)
	}
	r.keys("'12", "enter")
	if o, _ := last[op.SetModel](r); o.Name != "p/m11" {
		t.Errorf("took %+v", o)
	}
	r.keys("'/model", "enter")
	r.keys("'nosuch", "enter")
	if got := said(); !strings.Contains(got, "nothing matches nosuch") || strings.Contains(got, "model 3") || !strings.Contains(got, "Enter alone leaves") {
		t.Errorf("a line that names none:\n%s", got)
	}
	r.keys("enter")
	if o, _ := last[op.SetModel](r); o.Name != "p/m11" || len(r.m.dialogs) > 0 {
		t.Errorf("an empty line took %+v", o)
	}
	came = func() ([]Choice, error) { return nil, nil }
	r.keys("'/model", "enter")
	if got := said(); !strings.Contains(got, "No provider has a key") || len(r.m.dialogs) > 0 {
		t.Errorf("without a model:\n%s", got)
	}
	r.keys("'/mode", "enter")
	if got := said(); !strings.Contains(got, "3 plan") || !strings.Contains(got, "The number of a choice takes it") || strings.Contains(got, "y and n") {
		t.Errorf("the mode:\n%s", got)
	}
	r.keys("3")
	if o, _ := last[op.SetMode](r); o.Mode != "plan" {
		t.Errorf("took %+v", o)
	}
	r.keys("'/help", "enter")
	if got := said(); !strings.Contains(got, "Begin a prompt with") || strings.Contains(got, "number of") {
		t.Errorf("the help:\n%s", got)
	}
	r.event(asked("c", "ls", verdict()))
	if got := said(); !strings.Contains(got, "1 Yes") || !strings.Contains(got, "y and n do, too") {
		t.Errorf("a question:\n%s", got)
	}
}

// In plain mode one thing is asked after the other.
func TestFormInPlainMode(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.screen.plain = true
	formAsked(r.open(), wanted)
	said := func(want string) {
		t.Helper()
		var b strings.Builder
		for _, l := range r.m.announce() {
			b.WriteString(l.String() + "\n")
		}
		if !strings.Contains(b.String(), want) {
			t.Fatalf("%q is missing:\n%s", want, b.String())
		}
		if again := r.m.announce(); again != nil {
			t.Fatalf("printed twice: %v", again)
		}
	}
	said("Name (needed)")
	r.keys("'calc", "enter")
	said("Port")
	r.keys("enter")
	said("2 ○ no")
	r.keys("2", "enter")
	said("Europe")
	r.keys("1", "enter")
	said("tags")
	r.keys("enter")
	said("1 Send")
	r.keys("1")
	if a, _ := last[op.Answer](r); !a.Allow || string(a.Values) != `{"name":"calc","port":5432,"region":"us","ro":false}` {
		t.Errorf("%+v %s", a, a.Values)
	}
}

func TestPageIsOpenedOnlyOnYes(t *testing.T) {
	var opened []string
	ask := func(url string) *rig {
		r := newRig(t, 80, 24)
		opened = nil
		r.m.host.Browse = func(_ context.Context, address string) error {
			opened = append(opened, address)
			if strings.Contains(address, "nobrowser") {
				return errors.New("no")
			}
			return nil
		}
		return formAsked(r.open(), view.Form{From: "the MCP server db", Message: "Sign in", URL: url})
	}
	r := ask("https://login.example.com/a?b").has("opens login.example.com", "https://login.example.com/a?b", "Open it in the browser").hasNot("not encrypted")
	r.keys("down", "enter")
	if a, ok := last[op.Answer](r); !ok || a.Allow || a.Dismissed || opened != nil {
		t.Errorf("a no: %+v, %v", a, opened)
	}
	r = ask("https://login.example.com/a?b")
	r.keys("enter")
	if a, _ := last[op.Answer](r); !a.Allow || a.Values != nil || len(opened) != 1 || opened[0] != "https://login.example.com/a?b" {
		t.Errorf("a yes: %+v, %v", a, opened)
	}
	ask("https://nobrowser.example.com/").keys("y").has("Open this page in one", "https://nobrowser.example.com/")
	ask("http://example.com/").has("not encrypted")
	ask("http://127.0.0.1:80/").hasNot("not encrypted")
	ask("https://xn--pple-43d.com/").has("look like others")
	for _, never := range []string{"file:///etc/passwd", "javascript:alert(1)", "https://good.com@evil.com/", "smb://host/x", "::"} {
		r := ask(never).hasNot("Open it in the browser")
		r.keys("enter")
		if a, ok := last[op.Answer](r); !ok || a.Allow || opened != nil {
			t.Errorf("%s: %+v, %v", never, a, opened)
		}
	}
}
