package policy

import "testing"

// A question says that something would be lost for good, whichever check asks.
func TestLoses(t *testing.T) {
	r := Rules{Dir: "/src/calc", Home: "/home/u"}
	asking, err := ParseRule("Bash(git push:*)", Ask, User, "", "/")
	if err != nil {
		t.Fatal(err)
	}
	push := Exec{Argv: []string{"git", "push", "--force"}, Loss: Loss{Loses: "git push --force replaces what others may have"}}
	tree := func(p string) Write { return Write{Path: p, Asked: p, Remove: true, Tree: true} }
	for name, c := range map[string]struct {
		rules []Rule
		a     Action
		want  bool
	}{
		"a force push":                {nil, push, true},
		"that a rule asks about":      {[]Rule{asking}, push, true},
		"the repository itself":       {nil, tree("/src/calc/.git"), true},
		"the folder":                  {nil, tree("/src/calc"), true},
		"a folder that can be built":  {nil, tree("/src/calc/build"), false},
		"a file that steers programs": {nil, Write{Path: "/src/calc/.git/hooks/x", Asked: ".git/hooks/x"}, false},
		"a device":                    {nil, Write{Path: "/dev/sda", Asked: "/dev/sda"}, true},
		"a command":                   {nil, Exec{Argv: []string{"make"}}, false},
	} {
		r.List = c.rules
		if v := Decide(r, Default, Request{Tool: "Bash", Actions: []Action{c.a}}); v.Effect != Ask || v.Loses != c.want {
			t.Errorf("%s: %s, loses %t, want %t", name, v.Effect, v.Loses, c.want)
		}
	}
}
