package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// plantHook leaves a hook in a way that nobody reads from the command, and in
// one step: what is there is taken while the command still runs.
const plantHook = "sh ./build"

func withBuild(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "build"), []byte("mkdir -p .git/hooks; printf '#!/bin/sh\\necho evil\\n' > h; mv h .git/hooks/pre-commit; echo planted\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLeftIsAsked: what a command left where it steers other programs is a
// question, with its content; yes puts it back, no leaves it out.
func TestLeftIsAsked(t *testing.T) {
	dir, home := scratch(t)
	withBuild(t, dir)
	r := connectRig(t, dir, home, nil, plantHook, plantHook, "mkdir sub && cd sub && git init -q && ls -A")
	hook := filepath.Join(r.dir, ".git/hooks/pre-commit")
	r.prompt()
	q := r.question()
	if q.Tool != confine.KeepTool || !strings.Contains(string(q.Input), "echo evil") || !strings.Contains(q.Verdict.Reason, "protected") || q.View == nil || !strings.Contains(q.Title, "pre-commit") {
		t.Errorf("%+v", q)
	}
	if _, err := os.Lstat(hook); err == nil {
		t.Error("it is there while it is asked about")
	}
	r.answer(q, op.Answer{Comment: "what for?"})
	text, _ := r.result()
	want(t, text, "planted")
	want(t, text, "was moved to "+filepath.Join(r.place.Paths.Folders.State, "sandbox", "quarantine"))
	want(t, text, "the person said no: what for?")
	if _, err := os.Lstat(hook); err == nil {
		t.Error("no was said, and it is there")
	}

	if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	r.prompt()
	r.answer(r.question(), op.Answer{Allow: true})
	text, _ = r.result()
	want(t, text, "it was kept: approved by test")
	if b, err := os.ReadFile(hook); err != nil || !strings.Contains(string(b), "echo evil") {
		t.Errorf("%q %v", b, err)
	}

	r.prompt() // what git itself makes is no question
	text, _ = r.result()
	want(t, text, ".git")
	r.unasked()
}

// TestLeftUnattended: nobody there means no, but in the mode that lets
// everything pass.
func TestLeftUnattended(t *testing.T) {
	for _, x := range []struct {
		mode policy.Mode
		kept bool
	}{{policy.Default, false}, {policy.DontAsk, false}, {policy.AcceptEdits, false}, {policy.Bypass, true}} {
		t.Run(string(x.mode), func(t *testing.T) {
			dir, home := scratch(t)
			withBuild(t, dir)
			settings := filepath.Join(home, ".adze", "settings.json")
			if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(settings, []byte(`{"permissions":{"defaultMode":"`+string(x.mode)+`"}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			r := connectRig(t, dir, home, func(o *options) {
				o.Person, o.Skip = false, x.mode == policy.Bypass
				env := o.Env
				o.Env = func(n string) string {
					if n == "ADZE_BYPASS_AS_ROOT" {
						return "1"
					}
					return env(n)
				}
			}, plantHook)
			hook := filepath.Join(r.dir, ".git/hooks/pre-commit")
			r.prompt()
			text, _ := r.result()
			_, err := os.Lstat(hook)
			if kept := err == nil; kept != x.kept || kept == strings.Contains(text, "was moved to") {
				t.Errorf("kept %v: %s", kept, text)
			}
		})
	}
}
