package policy_test

import (
	"fmt"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// Conditions that count one by one: each row differs from one that is ruled on
// in another way in a single fact.
func TestEachConditionCounts(t *testing.T) {
	edit := policy.Write{Path: dir + "/a.go", Asked: "a.go"}
	for _, c := range []struct {
		name  string
		rules []string
		mode  policy.Mode
		req   policy.Request
		want  string // effect, check
	}{
		{"edits", nil, policy.AcceptEdits, call("Edit", edit), "allow mode"},
		{"a disk", nil, policy.Bypass, call("Edit", policy.Write{Path: "/dev/sda", Asked: "/dev/sda"}), "ask dangerous-removal"},
		{"a blind write", nil, policy.AcceptEdits, call("Edit", policy.Write{Path: dir + "/a.go", Asked: "a.go", Blind: true}), "ask write"},
		{"outside", nil, policy.AcceptEdits, call("Edit", policy.Write{Path: "/w/other/a.go", Asked: "../other/a.go"}), "ask outside"},
		{"a removal", nil, policy.AcceptEdits, call("Edit", policy.Write{Path: dir + "/a.go", Asked: "a.go", Remove: true}), "allow mode"},
		{"a removal of a tree", nil, policy.AcceptEdits, call("Edit", policy.Write{Path: dir + "/a", Asked: "a", Remove: true, Tree: true}), "ask write"},
		{"a tree that is moved", nil, policy.AcceptEdits, call("Edit", policy.Write{Path: dir + "/a", Asked: "a", Remove: true, Tree: true, Moved: true}), "allow mode"},
		{"every edit is denied", []string{"deny Edit"}, policy.AcceptEdits, call("Edit", edit), "deny rule"},
		{"every read is denied", []string{"deny Read"}, policy.Default, call("Read", policy.Read{Path: dir + "/a.go", Asked: "a.go"}), "deny rule"},
		{"here", []string{"deny Edit(./a.go)"}, policy.AcceptEdits, call("Edit", edit), "deny rule"},
		{"not below", []string{"deny Edit(./a.go)"}, policy.AcceptEdits, call("Edit", policy.Write{Path: dir + "/sub/a.go", Asked: "sub/a.go"}), "allow mode"},
		{"at home", []string{"deny Edit(~/a.go)"}, policy.Default, call("Edit", policy.Write{Path: home + "/a.go", Asked: "~/a.go"}), "deny rule"},
		{"below home", []string{"deny Edit(~/a.go)"}, policy.Default, call("Edit", policy.Write{Path: home + "/sub/a.go", Asked: "~/sub/a.go"}), "ask outside"},
		{"anywhere by its whole path", []string{"deny Edit(//w/project/a.go)"}, policy.AcceptEdits, call("Edit", edit), "deny rule"},
	} {
		v := policy.Decide(rules(t, c.rules...), c.mode, c.req)
		if got := fmt.Sprint(v.Effect, " ", v.Check); got != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, got, v.Reason, c.want)
		}
	}
}

// A rule whose effect is none that there is asks.
func TestRuleOfNoEffect(t *testing.T) {
	for _, e := range []policy.Effect{policy.Allow - 1, policy.Deny + 1} {
		r := rules(t, "allow Edit")
		r.List[0].Effect = e
		if v := policy.Decide(r, policy.AcceptEdits, call("Edit", policy.Write{Path: dir + "/a.go", Asked: "a.go"})); v.Effect != policy.Ask || v.Check != policy.CheckRule {
			t.Errorf("%d: %s %s (%s)", e, v.Effect, v.Check, v.Reason)
		}
	}
}

// That bypassPermissions is forbidden changes nothing for other modes.
func TestNoBypassIsOfOneMode(t *testing.T) {
	r := rules(t)
	r.NoBypass = true
	edit := call("Edit", policy.Write{Path: dir + "/a.go", Asked: "a.go"})
	for m, want := range map[policy.Mode]policy.Effect{policy.AcceptEdits: policy.Allow, policy.Bypass: policy.Ask, policy.Default: policy.Ask} {
		if v := policy.Decide(r, m, edit); v.Effect != want {
			t.Errorf("%s: %s (%s)", m, v.Effect, v.Reason)
		}
	}
}

// What names a secret is one by the path it leads to, and by the one it is
// asked for, inside the sandbox, too.
func TestSecretByEitherName(t *testing.T) {
	for name, c := range map[string]struct {
		read policy.Read
		want policy.Effect
	}{
		"plain":       {policy.Read{Path: "/other/notes", Asked: "/other/notes"}, policy.Allow},
		"by its path": {policy.Read{Path: dir + "/.env", Asked: "notes"}, policy.Ask},
		"by a link":   {policy.Read{Path: "/other/notes", Asked: "x", Named: dir + "/.env"}, policy.Ask},
		"by its name": {policy.Read{Path: "/other/notes", Asked: ".env"}, policy.Ask},
	} {
		v := policy.Decide(rules(t), policy.Default, policy.Request{Tool: "Bash", Actions: []policy.Action{policy.Exec{Argv: []string{"make"}, Why: "it runs programs"}, c.read}, Sandboxed: true})
		if v.Effect != c.want {
			t.Errorf("%s: %s (%s)", name, v.Effect, v.Reason)
		}
	}
}

// No rule is suggested for what none can cover.
func TestNothingToSuggest(t *testing.T) {
	for name, c := range map[string]struct {
		a    policy.Action
		some bool
	}{
		"an edit":     {policy.Write{Path: dir + "/a.go", Asked: "a.go"}, true},
		"a removal":   {policy.Write{Path: dir + "/a.go", Asked: "a.go", Remove: true}, false},
		"a blind one": {policy.Write{Path: dir + "/a.go", Asked: "a.go", Blind: true}, false},
		"a host":      {policy.Net{Host: "Example.org"}, true},
		"no host":     {policy.Net{}, false},
	} {
		if v := policy.Decide(rules(t), policy.Default, call("Edit", c.a)); v.Effect != policy.Ask || (len(v.Suggest) > 0) != c.some {
			t.Errorf("%s: %s, %q", name, v.Effect, v.Suggest)
		}
	}
}

// A search leaves out what rules name, and nothing else.
func TestCoversWhatRulesName(t *testing.T) {
	covers := policy.Covers(rules(t, "deny Read(./private/**)", "ask Read(./later/**)"))
	for path, want := range map[string]bool{"private/a": true, "later/a": true, "src/a": false, ".env": true} {
		if got := covers(policy.Default, dir+"/"+path, dir+"/"+path) != 0; got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
	if covers(policy.Default, "/elsewhere/a", dir+"/private/a") == 0 {
		t.Error("a link into a denied folder is not covered by its name")
	}
	for _, c := range []struct {
		mode        policy.Mode
		noBypass    bool
		path, named string
		want        policy.Cover
	}{
		{policy.Bypass, false, "/.env", "/.env", policy.Uncovered}, {policy.Bypass, true, "/.env", "/.env", policy.Secret}, {policy.Default, true, "/.env", "/.env", policy.Secret},
		{policy.Default, false, "/notes", "/.env", policy.Secret}, {policy.Default, false, "/.env", "/notes", policy.Secret}, {policy.Default, false, "/notes", "/notes", policy.Uncovered},
		{policy.Default, false, "/notes", "/link", policy.Uncovered}, {policy.Default, false, "/mine/.env", "/mine/.env", policy.Uncovered}, {policy.Default, false, "/notes", "/mine/.env", policy.Uncovered},
		{policy.Bypass, false, "/private/.env", "/private/.env", policy.Denied}, {policy.Bypass, false, "/later/.env", "/later/.env", policy.Asked},
	} {
		r := rules(t, "deny Read(./private/**)", "ask Read(./later/**)", "allow Read(./mine/**)")
		r.NoBypass = c.noBypass
		if got := policy.Covers(r)(c.mode, dir+c.path, dir+c.named); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A path that begins with "/" in a rule counts from the folder of the settings
// that hold it.
func TestRulesCountFromTheirFolder(t *testing.T) {
	r := rules(t)
	deny, err := policy.ParseRule("Read(/a)", policy.Deny, policy.Project, "settings.json", "/w/other")
	if err != nil {
		t.Fatal(err)
	}
	r.List = append(r.List, deny)
	for path, want := range map[string]bool{"/w/other/a": true, dir + "/a": false} {
		if v := policy.Decide(r, policy.Bypass, call("Read", policy.Read{Path: path})); (v.Effect == policy.Deny) != want {
			t.Errorf("%s: %s", path, v.Effect)
		}
	}
}

// Nobody is proposed to open a whole home, or the system.
func TestNoRuleForAWholeHome(t *testing.T) {
	for in, want := range map[string]string{home: "Edit(/" + home + "/a.go)", "/": "Edit(//home/u/a.go)", home + "/work": "Edit(/" + home + "/a.go)"} {
		r := policy.Rules{Dir: in, Home: home}
		if v := policy.Decide(r, policy.Default, call("Edit", policy.Write{Path: home + "/a.go"})); len(v.Suggest) != 1 || v.Suggest[0] != want {
			t.Errorf("in %s: %q, want %s", in, v.Suggest, want)
		}
	}
}

// The rule that is proposed for a file means that file, whatever its name would mean as a pattern.
func TestRuleForOneFile(t *testing.T) {
	for name, want := range map[string]string{"a.go": "a.go", "a*.go": `a\*.go`, "[ab]?": `\[ab]\?`} {
		r := policy.Rules{Dir: home, Home: home}
		v := policy.Decide(r, policy.Default, call("Edit", policy.Write{Path: home + "/" + name}))
		if len(v.Suggest) != 1 || v.Suggest[0] != "Edit(/"+home+"/"+want+")" {
			t.Errorf("%s: %q", name, v.Suggest)
			continue
		}
		rule, err := policy.ParseRule(v.Suggest[0], policy.Allow, policy.Session, "", home)
		if err != nil {
			t.Fatal(err)
		}
		r.List = []policy.Rule{rule}
		for other, effect := range map[string]policy.Effect{name: policy.Allow, "ab.go": policy.Ask, "ax": policy.Ask} {
			if v := policy.Decide(r, policy.Default, call("Edit", policy.Write{Path: home + "/" + other})); v.Effect != effect {
				t.Errorf("%s allows %s: %s", rule.Text(), other, v.Effect)
			}
		}
	}
}
