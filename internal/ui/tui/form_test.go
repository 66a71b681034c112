package tui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/view"
)

func limit(n float64) *float64 { return &n }

var wanted = view.Form{Server: "db", Message: "Which database shall be opened?", Fields: []view.Field{
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
		return formAsked(r.open(), view.Form{Server: "db", Message: "Sign in", URL: url})
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
	ask("https://nobrowser.example.com/").keys("y", "enter").has("Open this page in one", "https://nobrowser.example.com/")
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
