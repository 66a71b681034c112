package policy

import (
	"reflect"
	"testing"
)

// TestHide: how secrets are kept from a call, and which of them it may see.
func TestHide(t *testing.T) {
	env := func(more ...func(*Read)) Read {
		r := Read{Path: "/w/.env", Asked: ".env"}
		for _, m := range more {
			m(&r)
		}
		return r
	}
	tree := Read{Path: "/w", Asked: ".", Tree: true, Below: &Below{Paths: []Place{{Path: "/w/a"}, {Path: "/w/.env"}}}}
	kept := tree
	kept.Below = &Below{Paths: []Place{{Path: "/w/.env", Tracked: true}}}
	grep := Exec{Argv: []string{"grep"}, ReadOnly: true}
	cat := Exec{Argv: []string{"cat", "$x"}, Spellings: Spellings{Loose: true}, Handles: HandlesAny}
	zip := Exec{Argv: []string{"zip"}, Handles: HandlesAny}
	cp := Exec{Argv: []string{"cp"}, Edits: true}
	add := Exec{Argv: []string{"git", "add"}, Handles: HandlesQuietly}
	show := Exec{Argv: []string{"git", "show"}, Handles: HandlesAny}
	npm := Exec{Argv: []string{"npm", "start"}}
	source := Exec{Argv: []string{"source", ".env"}}
	given := func(r *Read) { r.Given = true }
	write := Write{Path: "/w/.env", Asked: ".env"}
	for name, c := range map[string]struct {
		as    []Action
		rules []Rule
		mode  Mode
		want  string
		hide  Hide
		shown []string
	}{
		"reading what is named":                {as: []Action{grep, Read{Path: "/w/a"}}, want: "allow", hide: HideValues},
		"reading a tree":                       {as: []Action{grep, tree}, want: "allow", hide: HideAll},
		"reading a tree, allowed by a rule":    {as: []Action{grep, tree}, rules: []Rule{{Tool: "Read", Spec: "./**", Root: "/w"}}, want: "allow", hide: HideAll},
		"reading what is not known":            {as: []Action{cat}, want: "allow", hide: HideAll},
		"packing":                              {as: []Action{zip, tree}, want: "allow", hide: HideAll},
		"a secret by name":                     {as: []Action{grep, env()}, want: "ask", hide: HideValues, shown: []string{"/w/.env"}},
		"a secret by name, beside a tree":      {as: []Action{grep, env(), tree}, want: "ask", hide: HideAll, shown: []string{"/w/.env"}},
		"names that come from elsewhere":       {as: []Action{cat, env(func(r *Read) { r.Sure, r.Code = Possible, true })}, want: "allow", hide: HideAll},
		"git, which shows nothing":             {as: []Action{add}, want: "allow", hide: HideValues},
		"git, which shows something":           {as: []Action{add, show}, want: "allow", hide: HideUntracked},
		"git beside a tree":                    {as: []Action{add, grep, tree}, want: "allow", hide: HideUntracked},
		"git beside a tree that it tracks":     {as: []Action{add, grep, kept}, want: "ask", hide: HideUntracked},
		"a copy of what is named":              {as: []Action{cp, Read{Path: "/w/a"}, write}, want: "allow", hide: HideValues},
		"a copy, and who knows what":           {as: []Action{cp, write, cat}, want: "ask", hide: HideValues},
		"a copy, and a tree":                   {as: []Action{cp, write, grep, tree}, want: "ask", hide: HideValues},
		"a program":                            {as: []Action{npm}, want: "allow", hide: HideValues},
		"a program, and a tree":                {as: []Action{npm, grep, tree}, want: "ask", hide: HideValues},
		"a program that a secret is given to":  {as: []Action{source, env(given), npm}, want: "allow", hide: HideValues},
		"a program that is named a secret":     {as: []Action{npm, env()}, want: "ask", hide: HideValues, shown: []string{"/w/.env"}},
		"a secret elsewhere that is given":     {as: []Action{source, Read{Path: "/h/.aws/credentials", Given: true}, npm}, want: "ask", hide: HideValues},
		"where everything is allowed":          {as: []Action{cat, tree}, mode: Bypass, want: "allow"},
		"where a rule asks about it":           {as: []Action{grep, tree}, rules: []Rule{{Tool: "Read", Spec: ".env", Effect: Ask}}, want: "ask", hide: HideAll},
		"where a rule denies it":               {as: []Action{grep, tree}, rules: []Rule{{Tool: "Read", Spec: ".env", Effect: Deny}}, want: "ask", hide: HideAll},
		"a part that nobody understands":       {as: []Action{cat, Opaque{Source: "x", Runs: true}}, want: "allow", hide: HideValues},
		"a file whose name is not known":       {as: []Action{grep, Opaque{Source: "< $x"}}, want: "allow", hide: HideAll},
		"a variable, read exactly":             {as: []Action{grep, Opaque{Source: "export X=1", Whole: true}}, want: "allow", hide: HideValues},
		"a program, and a name not known":      {as: []Action{npm, Opaque{Source: "< $x"}}, want: "allow", hide: HideValues},
		"a file that is not known, or written": {as: []Action{grep, write, Opaque{Source: "< $x"}}, want: "ask", hide: HideValues},
		"a part that may mean something else":  {as: []Action{cat, Exec{Argv: []string{"x"}, Sure: Possible}}, want: "allow", hide: HideAll},
		"where the secrets of a tree are many": {as: []Action{grep, many()}, want: "ask", hide: HideAll},
	} {
		mode := c.mode
		if mode == "" {
			mode = Default
		}
		rules := Rules{Dir: "/w", Dirs: []string{"/w"}, Home: "/h", List: c.rules}
		v := Decide(rules, mode, Request{Tool: "Bash", Actions: Nested(c.as...), Sandboxed: true})
		if v.Effect.String() != c.want || v.Needs.Hide != c.hide || c.shown != nil && !reflect.DeepEqual(v.Needs.Shown, c.shown) {
			t.Errorf("%s: %s (%s), hides %q, shows %v; want %s, %q, %v", name, v.Effect, v.Reason, v.Needs.Hide, v.Needs.Shown, c.want, c.hide, c.shown)
		}
		if (c.hide == HideAll || c.hide == HideUntracked) && !v.Needs.Confined {
			t.Errorf("%s: it may run outside", name)
		}
		if out := Decide(rules, mode, Request{Tool: "Bash", Actions: c.as}); out.Needs.Hide != HideNothing {
			t.Errorf("%s, outside the sandbox: %+v", name, out.Needs)
		}
	}
}

// TestShows: of which secrets the result of a tool's call may show the values.
func TestShows(t *testing.T) {
	env := Read{Path: "/w/.env", Asked: ".env"}
	for name, c := range map[string]struct {
		as    []Action
		named []string
		masks bool
	}{
		"a file":              {as: []Action{Read{Path: "/w/t.log"}}, masks: true},
		"a secret":            {as: []Action{env}, named: []string{"/w/.env"}, masks: true},
		"writing one":         {as: []Action{Write{Path: "/w/.env"}}, named: []string{"/w/.env"}, masks: true},
		"a server's tool":     {as: []Action{Call{Server: "s"}}, masks: true},
		"a command":           {as: []Action{Exec{Argv: []string{"cat"}}, env}},
		"what nobody reads":   {as: []Action{Opaque{Source: "x"}}},
		"output of a command": {as: []Action{None{}}},
	} {
		if named, masks := Shows(c.as); !reflect.DeepEqual(named, c.named) || masks != c.masks {
			t.Errorf("%s: %v, %v", name, named, masks)
		}
	}
}

// many is a tree with more secrets than are hidden one by one.
func many() Read {
	b := &Below{}
	for i := range maxHidden + 1 {
		b.Paths = append(b.Paths, Place{Path: "/w/k" + string(rune('a'+i%26)) + "/" + string(rune('a'+i/26)) + ".pem"})
	}
	return Read{Path: "/w", Asked: ".", Tree: true, Below: b}
}
