package policy

import (
	"reflect"
	"testing"
)

// TestNeeds: what a verdict rests on goes with it, whoever gives it in the end.
func TestNeeds(t *testing.T) {
	status := Exec{Argv: []string{"git", "status"}, ReadOnly: true}
	touch := Exec{Argv: []string{"touch", "z"}, Edits: true}
	build := Exec{Argv: []string{"make"}, Why: "it runs programs"}
	z := Write{Path: "/w/z", Asked: "z"}
	conf := Write{Path: "/w/.git/config", Asked: ".git/config"}
	maybe := Exec{Argv: []string{"x"}, Sure: Possible}
	given := Read{Path: "/w/.git/config", Asked: ".git/config", MayWrite: true}
	mayBe := given
	mayBe.Sure = Possible
	named := given
	named.MayWrite = false
	push := Exec{Argv: []string{"git", "push", "-u"}, Handles: HandlesQuietly}
	own := Write{Path: "/w/.git/config", Asked: ".git/config", Keeps: Keeps{Own: true, Routine: true, Sets: "a.b=c"}}
	open := []Setting{{Path: "/w/.git/config", Sets: []string{"a.b=c"}}}
	for name, c := range map[string]struct {
		as        []Action
		sandboxed bool
		want      Needs
	}{
		"reading":                          {as: []Action{status}, want: Needs{Pinned: true}},
		"reading twice":                    {as: []Action{status, status}, want: Needs{Pinned: true}},
		"editing before":                   {as: []Action{touch, z, status}, want: Needs{Pinned: true}},
		"reading, with another meaning":    {as: []Action{status, maybe}, want: Needs{Pinned: true}},
		"a command of another kind":        {as: []Action{status, build}},
		"a part nobody understands":        {as: []Action{status, Opaque{Source: "x"}}},
		"no command":                       {as: []Action{Read{Path: "/w/a"}}},
		"in the sandbox":                   {as: []Action{build}, sandboxed: true, want: Needs{Confined: true, Hide: HideValues}},
		"in the sandbox for nothing":       {as: []Action{status}, sandboxed: true, want: Needs{Pinned: true, Hide: HideValues}},
		"a protected path":                 {as: []Action{build, conf, conf}, want: Needs{Writable: []string{"/w/.git/config"}}},
		"a protected path, only perhaps":   {as: []Action{build, Write{Path: "/w/.git/config", Sure: Possible}}},
		"a protected path of an edit tool": {as: []Action{conf}, want: Needs{Writable: []string{"/w/.git/config"}}},
		"a protected path that is given":   {as: []Action{build, given, given}, want: Needs{Writable: []string{"/w/.git/config"}}},
		"one that is named in code":        {as: []Action{build, mayBe}, want: Needs{Writable: []string{"/w/.git/config"}}},
		"one that is only read":            {as: []Action{build, named}},
		"settings of its own":              {as: []Action{push, own}, sandboxed: true, want: Needs{Confined: true, Settings: open, Hide: HideValues}},
		"those, beside what only reads":    {as: []Action{status, push, own}, sandboxed: true, want: Needs{Confined: true, Settings: open, Hide: HideValues}},
		"those, beside what nobody allows": {as: []Action{build, push, own}, sandboxed: true, want: Needs{Confined: true, Hide: HideValues}},
		"beside what nobody understands":   {as: []Action{push, own, Opaque{Source: "x", Runs: true}}, sandboxed: true, want: Needs{Confined: true, Hide: HideValues}},
		"beside a git that runs others":    {as: []Action{push, own, Exec{Argv: []string{"git", "x"}, Inner: Inner{Unseen: "an alias"}}}, sandboxed: true, want: Needs{Confined: true, Hide: HideValues}},
		"where a person is asked":          {as: []Action{build, push, own, conf}, want: Needs{Settings: open, Writable: []string{"/w/.git/config"}}},
		"an ordinary one that is given":    {as: []Action{Touching(build, Read{Path: "/w/a", MayWrite: true})}},
	} {
		for _, m := range []Mode{Default, AcceptEdits, Bypass} {
			if m == Bypass && c.want.Confined {
				continue // the mode is the reason, and needs no sandbox
			}
			if m == Bypass {
				c.want.Hide = HideNothing
			}
			got := Decide(Rules{Dir: "/w", Dirs: []string{"/w"}}, m, Request{Tool: "Bash", Actions: Nested(c.as...), Sandboxed: c.sandboxed}).Needs
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, %s: %+v, want %+v", name, m, got, c.want)
			}
		}
	}
}
