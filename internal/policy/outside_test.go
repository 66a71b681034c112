package policy

import (
	"reflect"
	"testing"
)

// TestOutside: what a person or a rule allows to change outside of the session's folders is
// opened for that call, the folder that it is in where all of the call was read. What nobody
// spoke of is not, and what a rule for the command allows only beside what was allowed as well.
func TestOutside(t *testing.T) {
	build := Exec{Argv: []string{"make"}, Why: "it runs programs"}
	status := Exec{Argv: []string{"git", "status"}, ReadOnly: true}
	f := Write{Path: "/x/f", Asked: "/x/f"}
	cp := func(changes ...func(*Write)) Exec {
		w := f
		for _, change := range changes {
			change(&w)
		}
		return Exec{Argv: []string{"cp", "a", "/x/f"}, Edits: true, Touches: []Action{w}}
	}
	in, itself := []Folder{{Path: "/x"}}, []Folder{{Path: "/x/f"}}
	for name, c := range map[string]struct {
		as        []Action
		rule      string
		mode      Mode
		sandboxed bool
		want      []Folder
	}{
		"a person is asked, of a call that was read": {as: []Action{cp(), f, status}, want: in},
		"of one that was not":                        {as: []Action{cp(), build}, want: itself},
		"something in a folder":                      {as: []Action{cp(func(w *Write) { w.Within = true })}, want: itself},
		"at the top":                                 {as: []Action{cp(func(w *Write) { w.Path = "/f" })}, want: []Folder{{Path: "/f"}}},
		"the top itself":                             {as: []Action{cp(func(w *Write) { w.Path = "/" })}},
		"only perhaps":                               {as: []Action{cp(func(w *Write) { w.Sure = Possible })}},
		"settings of a program":                      {as: []Action{cp(func(w *Write) { w.Own = true })}},
		"in the session's folder":                    {as: []Action{cp(func(w *Write) { w.Path = "/w/f" })}},
		"in the scratch folder":                      {as: []Action{cp(func(w *Write) { w.Path = "/s/f" })}},
		"the sandbox alone allows it":                {as: []Action{cp()}, sandboxed: true},
		"a rule for the path":                        {as: []Action{cp()}, rule: "Edit(//x/**)", sandboxed: true, want: in},
		"beside what nobody allowed":                 {as: []Action{cp(), build}, rule: "Edit(//x/**)", sandboxed: true, want: itself},
		"a rule for all paths":                       {as: []Action{cp(), build}, rule: "Edit", sandboxed: true, want: []Folder{{Path: "/x/f", Shut: true}}},
		"a rule for the command":                     {as: []Action{cp()}, rule: "Bash(cp * /x/f)", sandboxed: true, want: in},
		"that, beside what nobody allowed":           {as: []Action{cp(), build}, rule: "Bash(cp * /x/f)", sandboxed: true, want: []Folder{{Path: "/x/f", Shut: true}}},
		"a rule that does not say where":             {as: []Action{cp()}, rule: "Bash(cp:*)", sandboxed: true},
		"the mode":                                   {as: []Action{cp()}, mode: Bypass, sandboxed: true, want: in},
		"the mode, beside what it allows as well":    {as: []Action{cp(), build}, mode: Bypass, sandboxed: true},
	} {
		r := Rules{Dir: "/w", Dirs: []string{"/w"}, Writable: []string{"/s"}, Home: "/h"}
		if c.rule != "" {
			rule, err := ParseRule(c.rule, Allow, User, "", "")
			if err != nil {
				t.Fatal(err)
			}
			r.List = []Rule{rule}
		}
		if got := Decide(r, c.mode, Request{Tool: "Bash", Actions: Nested(c.as...), Sandboxed: c.sandboxed}).Needs.Folders; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := Decide(Rules{Dir: "/w"}, Default, Request{Tool: "Write", Actions: []Action{Write{Path: "/x/f"}}}).Needs; !got.IsZero() {
		t.Errorf("a tool that is no shell: %+v", got)
	}
}

// TestSealed: a call that names a path to write that the sandbox's settings deny says so,
// whoever allows it, and one that names none does not.
func TestSealed(t *testing.T) {
	to := func(path string) []Action {
		w := Write{Path: path, Asked: path}
		return []Action{Exec{Argv: []string{"touch", path}, Edits: true, Touches: []Action{w}}}
	}
	for name, c := range map[string]struct {
		as   []Action
		want bool
	}{
		"the path":         {to("/w/ro"), true},
		"in it":            {to("/w/ro/f"), true},
		"what it is in":    {to("/w"), true},
		"beside it":        {to("/w/rob"), false},
		"only read":        {[]Action{Exec{Argv: []string{"cat", "ro/f"}, ReadOnly: true}, Read{Path: "/w/ro/f"}}, false},
		"only perhaps":     {[]Action{Write{Path: "/w/ro/f", Sure: Possible}}, true},
		"of a file's tool": {[]Action{Write{Path: "/w/ro/f"}}, true},
	} {
		r := Rules{Dir: "/w", Dirs: []string{"/w"}, Home: "/home/u", Sealed: []string{"/w/ro"}}
		for _, m := range []Mode{Default, AcceptEdits, Bypass} {
			if v, _ := Judge(r, m, Request{Tool: "Bash", Actions: c.as, Sandboxed: true}); v.Needs.Sealed != c.want {
				t.Errorf("%s, %s: %t", name, m, v.Needs.Sealed)
			}
		}
	}
}
