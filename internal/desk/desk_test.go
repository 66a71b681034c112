package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/settings"
)

var _ client.Client = (*desk.Desk)(nil)

// a is a desk in a folder with these files, and the folder.
func a(t *testing.T, files map[string]string) (*desk.Desk, string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, home := filepath.Join(top, "calc"), filepath.Join(top, "home")
	for _, d := range []string{dir, home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return desk.New(desk.Config{Surroundings: app.Surroundings{Environment: settings.Environment{Dir: dir, Home: home, Env: func(string) string { return "" }}}}), dir
}

// What is asked about the run is answered before any session is open.
func TestAsksBeforeAnySession(t *testing.T) {
	d, dir := a(t, map[string]string{"main.go": "package main\n"})
	do := func(q ask.Query) ask.Reply {
		t.Helper()
		r, err := d.Ask(t.Context(), "", q)
		if err != nil {
			t.Fatalf("%s: %v", ask.Name(q), err)
		}
		return r
	}
	if r := do(ask.Files{}); !slices.Contains(r.Names, "main.go") {
		t.Errorf("the files are %q", r.Names)
	}
	if l, err := ask.Data[ask.SessionList](do(ask.Sessions{All: true})); err != nil || len(l.List) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	files := do(ask.Memory{}).Choices
	if len(files) != 3 || files[0].ID != filepath.Join(dir, "AGENTS.md") {
		t.Fatalf("%+v", files)
	}
	do(ask.Note{File: files[0].ID, Line: "run the\ntests"})
	if raw, err := os.ReadFile(files[0].ID); err != nil || string(raw) != "- run the tests\n" {
		t.Errorf("%q, %v", raw, err)
	}
	do(ask.Save{Key: "ui.theme", Value: json.RawMessage(`"dark"`)})
	if _, cfg, err := d.Loaded(); err != nil || cfg.UI.Theme != "dark" {
		t.Errorf("%+v, %v", cfg, err)
	}
	if r := do(ask.Trust{}); r.Data != nil {
		t.Errorf("a folder without anything is asked about: %s", r.Data)
	}
}

// A session that is not open is a refusal by its code, whatever is asked of it.
func TestNoSession(t *testing.T) {
	d, _ := a(t, nil)
	none := &op.Refusal{Code: op.NoSession}
	for _, q := range []ask.Query{ask.Status{}, ask.Diff{}, ask.Context{}, ask.Remembered{}, ask.Rules{}, ask.Aside{Question: "why?"}} {
		if _, err := d.Ask(t.Context(), "x", q); !errors.Is(err, none) {
			t.Errorf("%s: %v", ask.Name(q), err)
		}
	}
	if err := d.Submit(t.Context(), "x", op.Interrupt{}); !errors.Is(err, none) {
		t.Error(err)
	}
	for _, err := range d.Follow(t.Context(), "x", 0, event.Durable) {
		if !errors.Is(err, none) {
			t.Error(err)
		}
	}
	if _, err := d.Ask(t.Context(), "", ask.Report{Name: "stats"}); !errors.Is(err, &op.Refusal{Code: op.Unsupported}) {
		t.Errorf("a report without anybody who makes it: %v", err)
	}
}

// Two terminals may ask at once. A no that comes after a yes does not pretend to count.
func TestNoAfterAYes(t *testing.T) {
	d, _ := a(t, map[string]string{".adze/settings.json": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`})
	r, err := d.Ask(t.Context(), "", ask.Trust{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := ask.Data[ask.Claims](r)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		yes bool
		why string
	}{{false, ""}, {true, ""}, {false, "trusted the folder meanwhile"}, {true, ""}} {
		_, err := d.Ask(t.Context(), "", ask.Decide{Sum: c.Sum, Trust: x.yes})
		if (err == nil) != (x.why == "") || err != nil && !strings.Contains(err.Error(), x.why) {
			t.Errorf("%v: %v", x.yes, err)
		}
	}
}

// A decision is about what was shown, and about nothing else.
func TestTrustIsWhatWasShown(t *testing.T) {
	const name = ".adze/settings.json"
	d, dir := a(t, map[string]string{name: `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`})
	claims := func() ask.Claims {
		t.Helper()
		r, err := d.Ask(context.Background(), "", ask.Trust{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := ask.Data[ask.Claims](r)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := claims()
	if first.Sum == "" || !strings.Contains(strings.Join(first.List, "\n"), name) {
		t.Fatalf("%+v", first)
	}
	if _, err := d.Ask(t.Context(), "", ask.Decide{Sum: "other", Trust: true}); err == nil {
		t.Error("something else was trusted")
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"hooks": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Ask(t.Context(), "", ask.Decide{Sum: first.Sum, Trust: true}); err != nil {
		t.Fatal(err)
	}
	if c := claims(); c.Changed == "" {
		t.Errorf("what was written since is trusted: %+v", c)
	}
}
