package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

const (
	dir  = "/w/project"
	home = "/home/u"
)

// rule parses a rule as "allow Bash(ls:*)", from the settings of the project.
func rule(t testing.TB, text string) policy.Rule {
	t.Helper()
	word, spec, _ := strings.Cut(text, " ")
	effect := map[string]policy.Effect{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}[word]
	r, err := policy.ParseRule(spec, effect, policy.Project, "settings.json:3", dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rules(t testing.TB, texts ...string) policy.Rules {
	t.Helper()
	out := policy.Rules{Dir: dir, Dirs: []string{dir}, Home: home}
	for _, text := range texts {
		out.List = append(out.List, rule(t, text))
	}
	return out
}

func exec(argv ...string) policy.Exec { return policy.Exec{Argv: argv} }

// TestOrder walks the seven steps of the decision.
func TestOrder(t *testing.T) {
	lsRead := policy.Exec{Argv: []string{"ls"}, ReadOnly: true}
	edit := policy.Write{Path: dir + "/a.go", Asked: "a.go"}
	for _, c := range []struct {
		name  string
		rules []string
		mode  policy.Mode
		req   policy.Request
		want  string // effect check
	}{
		{"deny beats allow", []string{"allow Bash(rm:*)", "deny Bash(rm:*)"}, policy.Default, bash(exec("rm", "x")), "deny rule"},
		{"deny beats bypass", []string{"deny Bash(rm:*)"}, policy.Bypass, bash(exec("rm", "x")), "deny rule"},
		{"ask beats allow", []string{"allow Bash(git:*)", "ask Bash(git push:*)"}, policy.Default, bash(exec("git", "push")), "ask rule"},
		{"ask beats bypass", []string{"ask Bash(git push:*)"}, policy.Bypass, bash(exec("git", "push")), "ask rule"},
		{"person beats bypass", nil, policy.Bypass, policy.Request{Tool: "ExitPlanMode", Actions: []policy.Action{policy.Person{Why: "the plan needs you"}}}, "ask person"},
		{"protected beats bypass", nil, policy.Bypass, bash(policy.Write{Path: dir + "/.git/config"}), "ask protected-path"},
		{"protected beats allow", []string{"allow Edit"}, policy.Default, call("Edit", policy.Write{Path: dir + "/.vscode/tasks.json"}), "ask protected-path"},
		{"outside, bypassed", nil, policy.Bypass, bash(exec("make"), policy.Person{Why: "outside", Soft: true}), "allow mode"},
		{"outside, bypass forbidden by a rule", []string{"deny Bash(make)"}, policy.Bypass, bash(exec("make"), policy.Person{Why: "outside", Soft: true}), "deny rule"},
		{"outside, by a rule", []string{"allow Bash(make:*)"}, policy.Default, bash(exec("make"), policy.Person{Why: "outside", Soft: true}), "allow rule"},
		{"outside, by a rule for a part", []string{"allow Bash(make:*)"}, policy.Default, bash(exec("make"), exec("ls"), policy.Person{Why: "outside", Soft: true}), "ask person"},
		{"outside, reading", nil, policy.Default, bash(lsRead, policy.Person{Why: "outside", Soft: true}), "ask person"},
		{"outside, unclear", []string{"allow Bash(make:*)"}, policy.Default, bash(exec("make"), policy.Opaque{Source: "$x"}, policy.Person{Why: "outside", Soft: true}), "ask person"},
		{"own settings", nil, policy.Default, bash(policy.Touching(lsRead, policy.Write{Path: dir + "/.git/config", Keeps: policy.Keeps{Own: true}})), "ask protected-path"},
		{"own settings, accepting edits", nil, policy.AcceptEdits, bash(policy.Touching(lsRead, policy.Write{Path: dir + "/.git/config", Keeps: policy.Keeps{Own: true}})), "ask protected-path"},
		{"own settings, sandboxed", nil, policy.Default, policy.Request{Tool: "Bash", Actions: []policy.Action{policy.Touching(exec("git", "config", "x.y", "z"), policy.Write{Path: dir + "/.git/config", Keeps: policy.Keeps{Own: true}})}, Sandboxed: true}, "ask protected-path"},
		{"own settings, bypassed", nil, policy.Bypass, bash(policy.Touching(lsRead, policy.Write{Path: dir + "/.git/config", Keeps: policy.Keeps{Own: true}})), "allow mode"},
		{"own settings of a command that a rule allows", []string{"allow Bash(git config:*)"}, policy.Default, bash(policy.Touching(exec("git", "config", "x.y", "z"), policy.Write{Path: dir + "/.git/config", Keeps: policy.Keeps{Own: true}})), "allow rule"},
		{"own settings, denied", []string{"deny Edit(.git/config)"}, policy.Bypass, bash(policy.Touching(lsRead, policy.Write{Path: dir + "/.git/config", Keeps: policy.Keeps{Own: true}})), "deny rule"},
		{"loss beats bypass", nil, policy.Bypass, bash(policy.Exec{Argv: []string{"git", "reset", "--hard"}, Loss: policy.Loss{Loses: "it drops changes"}}), "ask dangerous-removal"},
		{"bypass", nil, policy.Bypass, bash(exec("make")), "allow mode"},
		{"plan denies writes", []string{"allow Edit"}, policy.PlanMode, call("Edit", edit), "deny mode"},
		{"plan denies commands", []string{"allow Bash(make)"}, policy.PlanMode, bash(exec("make")), "deny mode"},
		{"plan denies what a rule asks about", []string{"ask Bash(make)"}, policy.PlanMode, bash(exec("make")), "deny mode"},
		{"plan denies a loss", nil, policy.PlanMode, bash(policy.Exec{Argv: []string{"git", "reset", "--hard"}, Loss: policy.Loss{Loses: "it drops changes"}}), "deny mode"},
		{"plan denies protected paths", nil, policy.PlanMode, call("Edit", policy.Write{Path: dir + "/.git/config"}), "deny mode"},
		{"plan denies a whole folder's removal", nil, policy.PlanMode, bash(policy.Write{Path: dir, Remove: true, Tree: true}), "deny mode"},
		{"plan asks about what is read", []string{"ask Read(a.go)"}, policy.PlanMode, call("Read", policy.Read{Path: dir + "/a.go"}), "ask rule"},
		{"what was edited speaks for what was read", nil, policy.AcceptEdits, bash(lsRead, policy.Touching(policy.Exec{Argv: []string{"rm", "a"}, Edits: true}, policy.Write{Path: dir + "/a", Remove: true})), "allow mode"},
		{"what a rule allows speaks for what was read", []string{"allow Bash(make)"}, policy.Default, bash(lsRead, exec("make"), lsRead), "allow rule"},
		{"the sandbox speaks for all", []string{"allow Bash(make)"}, policy.Default, policy.Request{Tool: "Bash", Actions: []policy.Action{lsRead, exec("make"), exec("x")}, Sandboxed: true}, "allow sandbox"},
		{"plan reads", nil, policy.PlanMode, bash(lsRead), "allow read-only"},
		{"plan denies opaque", nil, policy.PlanMode, bash(policy.Opaque{Source: "$x"}), "deny mode"},
		{"acceptEdits inside", nil, policy.AcceptEdits, call("Edit", edit), "allow mode"},
		{"acceptEdits outside", nil, policy.AcceptEdits, call("Edit", policy.Write{Path: "/w/project-x/a"}), "ask outside"},
		{"acceptEdits commands", nil, policy.AcceptEdits, bash(exec("make")), "ask not-read-only"},
		{"allow rule", []string{"allow Bash(make)"}, policy.Default, bash(exec("make")), "allow rule"},
		{"read-only", nil, policy.Default, bash(lsRead), "allow read-only"},
		{"read inside", nil, policy.Default, call("Read", policy.Read{Path: dir + "/a.go"}), "allow read-only"},
		{"read outside", nil, policy.Default, call("Read", policy.Read{Path: "/etc/passwd"}), "ask outside"},
		{"read secret", nil, policy.Default, call("Read", policy.Read{Path: dir + "/.env"}), "ask secret"},
		{"read secret by rule", []string{"allow Read(.env)"}, policy.Default, call("Read", policy.Read{Path: dir + "/.env"}), "allow rule"},
		{"sandboxed", nil, policy.Default, policy.Request{Tool: "Bash", Actions: []policy.Action{exec("make")}, Sandboxed: true}, "allow sandbox"},
		{"sandboxed, asked", []string{"ask Bash(make)"}, policy.Default, policy.Request{Tool: "Bash", Actions: []policy.Action{exec("make")}, Sandboxed: true}, "ask rule"},
		{"sandboxed, protected", nil, policy.Default, policy.Request{Tool: "Bash", Actions: []policy.Action{policy.Write{Path: dir + "/.git/x"}}, Sandboxed: true}, "ask protected-path"},
		{"nothing", nil, policy.Default, bash(exec("make")), "ask not-read-only"},
		{"nothing in dontAsk", nil, policy.DontAsk, bash(exec("make")), "deny not-read-only"},
		{"nothing in auto", nil, policy.Auto, bash(exec("make")), "ask auto"},
		{"protected in auto", nil, policy.Auto, bash(policy.Write{Path: dir + "/.git/x"}), "ask protected-path"},
		{"no action", nil, policy.Bypass, policy.Request{Tool: "X"}, "ask no-action"},
		{"none", nil, policy.Default, call("TodoWrite", policy.None{}), "allow none"},
		{"strictest part", []string{"deny Read(secret)"}, policy.Default, bash(lsRead, policy.Read{Path: dir + "/secret"}), "deny rule"},
		{"NUL", nil, policy.Bypass, call("Read", policy.Read{Path: "/a\x00b"}), "deny path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := policy.Decide(rules(t, c.rules...), c.mode, c.req)
			if got := v.Effect.String() + " " + string(v.Check); got != c.want {
				t.Errorf("got %s (%s), want %s", got, v.Reason, c.want)
			}
			if v.Reason == "" {
				t.Error("no reason")
			}
			if v.Check == "rule" && (v.Rule == "" || v.Source != "settings.json:3") {
				t.Errorf("the rule is not named: %+v", v)
			}
		})
	}
}

func bash(as ...policy.Action) policy.Request { return call("Bash", as...) }

func call(tool string, as ...policy.Action) policy.Request {
	return policy.Request{Tool: tool, Actions: as}
}

// TestUnsafeKeepsDeny: settings that could not be read ask for everything but
// what a rule denies.
func TestUnsafeKeepsDeny(t *testing.T) {
	r := rules(t, "allow Bash", "deny Bash(rm:*)")
	r.Unsafe = "the permissions in settings.json could not be read"
	for _, m := range []policy.Mode{policy.Default, policy.Bypass, policy.AcceptEdits, policy.PlanMode} {
		if v := policy.Decide(r, m, bash(policy.Exec{Argv: []string{"ls"}, ReadOnly: true})); v.Effect != policy.Ask || v.Reason != r.Unsafe {
			t.Errorf("%s: %+v", m, v)
		}
		if v := policy.Decide(r, m, bash(exec("rm", "x"))); v.Effect != policy.Deny {
			t.Errorf("%s: %+v", m, v)
		}
	}
}

// TestManaged: only managed rules may allow, rules of everybody forbid and ask, and
// bypass may be forbidden.
func TestManaged(t *testing.T) {
	rule := func(effect policy.Effect, scope policy.Scope, spec string) policy.Rule {
		return policy.Rule{Tool: "Bash", Spec: spec, Effect: effect, Scope: scope}
	}
	for _, c := range []struct {
		name string
		rule policy.Rule
		want policy.Effect
	}{
		{"managed", rule(policy.Allow, policy.Managed, "make"), policy.Allow},
		{"a person's", rule(policy.Allow, policy.User, "make"), policy.Ask},
		{"for the session", rule(policy.Allow, policy.Session, "make"), policy.Ask},
		{"a skill's", rule(policy.Allow, policy.Command, "make"), policy.Ask},
		{"a person's denies", rule(policy.Deny, policy.User, "make"), policy.Deny},
	} {
		for _, m := range []policy.Mode{policy.Default, policy.Bypass} {
			r := policy.Rules{Dir: "/w", Dirs: []string{"/w"}, ManagedOnly: true, NoBypass: true, List: []policy.Rule{c.rule}}
			if v := policy.Decide(r, m, bash(exec("make"))); v.Effect != c.want || len(v.Suggest) > 0 {
				t.Errorf("%s, in the mode %s: %s, offered %q", c.name, m, v.Effect, v.Suggest)
			}
		}
	}
	r := policy.Rules{Dir: "/w", Dirs: []string{"/w"}, ManagedOnly: true, List: []policy.Rule{rule(policy.Allow, policy.Managed, "make"), rule(policy.Ask, policy.User, "make")}}
	if v := policy.Decide(r, policy.Default, bash(exec("make"))); v.Effect != policy.Ask {
		t.Errorf("a person wants to be asked: %s", v.Effect)
	}
	r.ManagedOnly = false
	if v := policy.Decide(r, policy.Default, bash(exec("touch", "x"))); len(v.Suggest) == 0 {
		t.Error("nothing is offered where everybody's rules count")
	}
}

// TestCommandRules: one line per form of a Bash rule.
func TestCommandRules(t *testing.T) {
	for _, c := range []struct {
		rule, argv string // argv split at |
		want       bool
	}{
		{"Bash(go test:*)", "go|test", true}, {"Bash(go test:*)", "go|test|./...", true}, {"Bash(go test:*)", "go|testx", false}, {"Bash(go test:*)", "go test|x", false},
		{"Bash(go test *)", "go|test", true}, {"Bash(go test *)", "go|test|x", true}, {"Bash(go test *)", "go|tests", false}, {"Bash(go test)", "go|test", true}, {"Bash(go test)", "go|test|x", false},
		{"Bash(npm run test*)", "npm|run|test:unit", true}, {"Bash(npm run test*)", "npm|run|lint", false}, {"Bash(git * main)", "git|checkout|main", true}, {"Bash(git * main)", "git|checkout|-b|main", true},
		{"Bash(git * main)", "git|checkout|mainx", false}, {"Bash(* --version)", "go|--version", true}, {"Bash(echo 'a b')", "echo|a b", true}, {"Bash(echo a\\ b)", "echo|a b", true}, {"Bash(echo '*')", "echo|x", false}, {"Bash(echo '*')", "echo|*", true},
		{"Bash", "anything", true}, {"Bash(*)", "a|b", true}, {"Bash(:*)", "a|b", true}, {"Bash()", "a", true}, {"Bash(ls)", "./ls", false}, {"Bash(ls)", "/bin/ls", false}, {"Bash(echo don't)", "echo|don't", true},
		{"Bash(git log * --oneline *)", "git|log|-5|--oneline", true}, {"Bash(git log * --oneline *)", "git|log|-5|--oneline|x", true}, {"Bash(git log * --oneline *)", "git|log|-5|--onelinex", false},
	} {
		v := policy.Decide(rules(t, "allow "+c.rule), policy.Default, bash(exec(strings.Split(c.argv, "|")...)))
		if got := v.Effect == policy.Allow; got != c.want {
			t.Errorf("%s on %q: %v, want %v", c.rule, c.argv, got, c.want)
		}
	}
}

// TestPathRules: gitignore meaning, the four bases, and both names of a link.
func TestPathRules(t *testing.T) {
	for _, c := range []struct {
		rule, path string
		want       bool
	}{
		{"Read(.env)", dir + "/.env", true}, {"Read(.env)", dir + "/a/b/.env", true}, {"Read(./.env)", dir + "/.env", true}, {"Read(./.env)", dir + "/a/.env", false}, {"Read(/.env)", dir + "/a/.env", false},
		{"Read(src/**)", dir + "/src/a", true}, {"Read(src/**)", dir + "/src/a/b", true}, {"Read(src/**)", dir + "/x/src/a", false}, {"Read(src/**)", dir + "/src", false}, {"Read(src/)", dir + "/src/a", true},
		{"Read(src)", dir + "/x/src/y", true}, {"Read(*.go)", dir + "/a/b.go", true}, {"Read(*.go)", dir + "/a/b.got", false}, {"Read(/*.go)", dir + "/a/b.go", false}, {"Read(/*.go)", dir + "/b.go", true},
		{"Read(**/x)", dir + "/a/b/x", true}, {"Read(a/**/x)", dir + "/a/x", true}, {"Read(a/**/x)", dir + "/a/b/c/x", true}, {"Read(//etc/**)", "/etc/a/b", true}, {"Read(//etc)", "/etc/passwd", true}, {"Read(//etc)", "/x/etc", false},
		{"Read(~/x)", home + "/x", true}, {"Read(~/x)", "/x", false}, {"Read(~)", home + "/y/z", true}, {"Read(../x)", "/w/x", true}, {"Read([!a].go)", dir + "/b.go", true}, {"Read([!a].go)", dir + "/a.go", false}, {"Read(a?)", dir + "/ab", true},
		{`Read(\*)`, dir + "/*", true}, {`Read(\*)`, dir + "/x", false}, {"Read", "/anything", true}, {"Edit(x)", dir + "/x", false}, {"Read(project)", "/w/project-x/project", true}, {"Read(**/x)", "/w/lib/a/x", true}, {"Read(./**/x)", "/w/lib/a/x", false}, {"Read(/**/x)", "/w/lib/a/x", true}, {"Read($HOME/x)", home + "/x", true}, {"Read(${HOME}/x/**)", home + "/x/y", true}, {"Read(/home/u/x)", home + "/x", true}, {"Read(/etc/**)", "/etc/a", true}, {"Read(/src/**)", "/src/a", false}, {"Read( ** /*key*)", dir + "/a/my.keys", true}, {"Read(.env .* )", dir + "/a/.env.local", true}, {"Read(a b)", dir + "/a b", true}, {"Read(a b)", dir + "/ab", false}, {`Read("./x")`, dir + "/x", true}, {"Read(\u00a0**\u00a0/x)", dir + "/a/x", true},
	} {
		r := rules(t, "deny "+c.rule)
		if got := policy.Decide(r, policy.Default, call("Read", policy.Read{Path: c.path})).Effect == policy.Deny; got != c.want {
			t.Errorf("%s on %s: %v, want %v", c.rule, c.path, got, c.want)
		}
		// The same when the denied name is a link to elsewhere.
		link := policy.Read{Path: dir + "/elsewhere", Named: c.path, Asked: "x"}
		if got := policy.Decide(r, policy.Default, call("Read", link)).Effect == policy.Deny; got != (c.want || c.rule == "Read") {
			t.Errorf("%s on the link %s: %v, want %v", c.rule, c.path, got, c.want)
		}
	}
	r := rules(t, "deny Edit(secrets/**)")
	for _, tool := range []string{"Edit", "Write", "MultiEdit", "NotebookEdit", "Bash"} {
		if v := policy.Decide(r, policy.Bypass, call(tool, policy.Write{Path: dir + "/secrets/a"})); v.Effect != policy.Deny {
			t.Errorf("%s: %+v", tool, v)
		}
	}
	r.FoldCase = true
	if v := policy.Decide(r, policy.Bypass, call("Edit", policy.Write{Path: dir + "/SeCrets/a"})); v.Effect != policy.Deny {
		t.Errorf("%+v", v)
	}
}

// TestOtherRules: hosts, MCP tools, agents and skills.
func TestOtherRules(t *testing.T) {
	net := func(h string) policy.Action { return policy.Net{Host: h} }
	tool := func(s, n string) policy.Action { return policy.Call{Server: s, Tool: n} }
	for _, c := range []struct {
		rule   string
		action policy.Action
		want   policy.Effect
	}{
		{"allow WebFetch(domain:docs.python.org)", net("docs.python.org"), policy.Allow}, {"allow WebFetch(domain:docs.python.org)", net("docs.python.org.evil.com"), policy.Ask},
		{"allow WebFetch(domain:python.org)", net("docs.python.org"), policy.Ask}, {"allow WebFetch(domain:*.python.org)", net("docs.python.org"), policy.Allow}, {"allow WebFetch(domain:*.python.org)", net("evilpython.org"), policy.Ask},
		{"deny WebFetch(domain:python.org)", net("Docs.Python.org."), policy.Deny}, {"allow WebFetch(domain:PYTHON.org)", net("python.org"), policy.Allow}, {"allow WebFetch", net("x"), policy.Allow},
		{"allow mcp__s", tool("s", "t"), policy.Allow}, {"allow mcp__s__*", tool("s", "t"), policy.Allow}, {"allow mcp__s__t", tool("s", "t"), policy.Allow}, {"allow mcp__s__t", tool("s", "tx"), policy.Ask},
		{"allow mcp__s", tool("sx", "t"), policy.Ask}, {"allow mcp__s__get_*", tool("s", "get_x"), policy.Allow}, {"allow mcp__s__get_*", tool("s", "set_x"), policy.Ask}, {"deny mcp__s", tool("s", "t"), policy.Deny},
		{"deny Agent(general)", policy.Spawn{Agent: "general"}, policy.Deny}, {"deny Task(general)", policy.Spawn{Agent: "general"}, policy.Deny}, {"deny Agent(x)", policy.Spawn{Agent: "general"}, policy.Allow},
		{"allow Skill(review *)", policy.Skill{Name: "review"}, policy.Allow}, {"allow Skill(review)", policy.Skill{Name: "review"}, policy.Allow}, {"allow Skill(review)", policy.Skill{Name: "reviews"}, policy.Ask}, {"allow Skill(a:*)", policy.Skill{Name: "a:b"}, policy.Allow},
		{"allow Workflow(audit)", policy.Workflow{Name: "audit"}, policy.Allow}, {"allow Workflow(audit)", policy.Workflow{Name: "audit", Inline: true}, policy.Ask}, {"allow Workflow", policy.Workflow{Name: "x", Inline: true}, policy.Allow},
		{"deny Workflow(a*)", policy.Workflow{Name: "audit", Inline: true}, policy.Deny}, {"allow Workflow(other)", policy.Workflow{Name: "audit"}, policy.Ask}, {"allow Agent", policy.Workflow{Name: "audit"}, policy.Ask},
		{"deny Skill(x)", policy.Skill{Name: "review", Plain: true}, policy.Allow}, {"deny Skill(review)", policy.Skill{Name: "review", Plain: true}, policy.Deny},
	} {
		if v := policy.Decide(rules(t, c.rule), policy.Default, call(toolOf(c.action), c.action)); v.Effect != c.want {
			t.Errorf("%s on %+v: %s, want %s", c.rule, c.action, v.Effect, c.want)
		}
	}
}

func toolOf(a policy.Action) string {
	switch a := a.(type) {
	case policy.Net:
		return "WebFetch"
	case policy.Call:
		return "mcp__" + a.Server + "__" + a.Tool
	case policy.Spawn:
		return "Agent"
	case policy.Workflow:
		return "Workflow"
	case policy.Skill:
		return "Skill"
	case policy.Exec, policy.Opaque, policy.Read, policy.Write, policy.Person, policy.None:
	}
	return "X"
}

// TestSuggest: "always" saves exact rules per inner command, which then match,
// and none for what runs anything.
func TestSuggest(t *testing.T) {
	for _, argv := range [][]string{{"make", "x y"}, {"npm", "run", "a:b"}, {"echo", "it's", "*"}, {"x", ":*"}, {"x", ""}, {"git", "tag", "-m", "a\nb"}, {"x", `a\b`, `"q"`}, {"x", `it's "a" *`, `\'`}, {"x", "a:*", "b"}} {
		v := policy.Decide(rules(t), policy.Default, bash(policy.Exec{Argv: argv}))
		if len(v.Suggest) != 1 {
			t.Fatalf("%q: %+v", argv, v)
		}
		r := rules(t, "allow "+v.Suggest[0])
		if got := policy.Decide(r, policy.Default, bash(policy.Exec{Argv: argv})); got.Effect != policy.Allow {
			t.Errorf("%q does not allow %q", v.Suggest[0], argv)
		}
		if got := policy.Decide(r, policy.Default, bash(policy.Exec{Argv: append(append([]string{}, argv...), "more")})); got.Effect == policy.Allow {
			t.Errorf("%q allows more than %q", v.Suggest[0], argv)
		}
	}
	for _, e := range []policy.Exec{exec("python3", "x.py"), exec("sudo", "ls"), exec("env", "x"), {Argv: []string{"go", "test"}, Reach: policy.Reach{Beyond: "x"}}, {Argv: []string{"x"}, Spellings: policy.Spellings{Loose: true}}} {
		if v := policy.Decide(rules(t), policy.Default, bash(e)); v.Suggest != nil {
			t.Errorf("%v suggests %q", e.Argv, v.Suggest)
		}
	}
	for argv, want := range map[string]string{"go test -v ./a": "Bash(go test:*)", "go build ./a": "Bash(go build:*) Bash(go vet:*)", "go vet ./a": "Bash(go vet:*)", "cargo build": "Bash(cargo build:*) Bash(cargo check:*)", "python3 -m pytest -q": "Bash(python3 -m pytest:*)", "git commit -m x": "Bash(git commit:*)", "go generate ./a": "Bash(go generate ./a)"} {
		if v := policy.Decide(rules(t), policy.Default, bash(exec(strings.Fields(argv)...))); fmt.Sprint(v.Suggest) != "["+want+"]" {
			t.Errorf("%s suggests %q, want %s", argv, v.Suggest, want)
		}
	}
	edit := policy.Decide(rules(t), policy.Default, call("Edit", policy.Write{Path: dir + "/a/b.go"}))
	if fmt.Sprint(edit.Suggest) != "[Edit(/"+dir+"/**)]" {
		t.Errorf("an edit suggests %q", edit.Suggest)
	}
	if v := policy.Decide(rules(t, "allow "+edit.Suggest[0]), policy.Default, call("Edit", policy.Write{Path: dir + "/.git/config"})); v.Effect != policy.Ask {
		t.Errorf("%+v", v)
	}
	if v := policy.Decide(rules(t), policy.Default, bash(exec("a"), exec("b"))); fmt.Sprint(v.Suggest) != "[Bash(a) Bash(b)]" {
		t.Errorf("%+v", v)
	}
	if v := policy.Decide(rules(t), policy.Default, bash(exec("a"), policy.Opaque{Source: "$x"})); v.Suggest != nil {
		t.Errorf("%+v", v)
	}
}

// TestLint: rules that allow too much or can never match are named.
func TestLint(t *testing.T) {
	for _, bad := range []string{
		"allow Bash(*)", "allow Bash", "allow Bash(python:*)", "allow Bash(python3 *)", "allow Bash(env:*)", "allow Bash(xargs:*)", "allow Bash(bash:*)", "allow Bash(bash -c:*)", "allow Bash(npx:*)", "allow Bash(sudo:*)", "allow Bash(node -e *)",
		"allow Bash(timeout:*)", "allow Bash(find:*)", "allow Bash(npm exec:*)", "allow Bash(*x)", "allow Bash(a > b)", "allow Bash(a | )", "deny Bash(FOO=1)", "allow Bash(git commit -m '*')", "allow WebFetch(example.com)", "allow mcp__s__t(x)", "allow Bash(a:* b)", "allow Bash(python3.11:*)", "allow Bash(ssh:*)", "allow Bash(awk:*)",
	} {
		if policy.Lint(rule(t, bad)) == "" {
			t.Errorf("no warning about %s", bad)
		}
	}
	for _, good := range []string{
		"allow Bash(go test:*)", "allow Bash(npm run lint)", "deny Bash(python:*)", "deny Bash", "ask Bash(sudo:*)", "allow Bash(python3 x.py)", "allow Bash(git log *)", "allow Read(src/**)", "deny Read(.env)", "allow WebFetch(domain:x.y)", "allow mcp__s", "allow Bash(npm run test*)", "allow Skill(x)", "allow Bash(make build)",
	} {
		if w := policy.Lint(rule(t, good)); w != "" {
			t.Errorf("%s: %s", good, w)
		}
	}
}

func TestParseRuleErrors(t *testing.T) {
	for _, bad := range []string{"", "  ", "(x)", "Bash(x", "Ba sh", "Read(!x)", "Read([a)", "WebFetch(domain:http://x)", "Bash)x("} {
		if r, err := policy.ParseRule(bad, policy.Allow, policy.User, "", ""); err == nil {
			t.Errorf("%q is read as %+v", bad, r)
		} else if !strings.HasPrefix(err.Error(), "reading") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestWithin: whole components, and nothing else.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		dir, file string
		want      bool
	}{{"/w/project", "/w/project", true}, {"/w/project", "/w/project/a", true}, {"/w/project", "/w/project-x", false}, {"/w/project", "/w", false}, {"/", "/x", true}, {"", "/x", false}, {"/w/", "/w/x", true}} {
		if got := policy.Within(c.dir, c.file, false); got != c.want {
			t.Errorf("Within(%q, %q) = %v", c.dir, c.file, got)
		}
	}
}

// TestProtected: other spellings of protected names are protected too.
func TestProtected(t *testing.T) {
	for _, p := range []string{".git/hooks/x", ".GIT/config", "a/.git/x", ".cUrSoR/Mcp.json", ".mcp.json", ".claude/settings.json", ".codex/hooks.json", ".Codex/config.toml", ".gemini/settings.json", ".gemini/hooks/x.sh", ".adze/x", ".vscode/x", ".idea/x", ".github/workflows/x.yml", ".gitlab-ci.yml", ".npmrc", ".bashrc", ".husky/pre-commit", "x/hooks/pre-commit", ".git. /x"} {
		if v := policy.Decide(rules(t), policy.Bypass, call("Write", policy.Write{Path: dir + "/" + p})); v.Effect != policy.Ask || v.Check != "protected-path" {
			t.Errorf("%s: %+v", p, v)
		}
	}
	for _, p := range []string{"git/x", "x.git", ".gitignore", ".github/README.md", "claude/x", "src/.eslintrc", ".gitattributes"} {
		if v := policy.Decide(rules(t), policy.Bypass, call("Write", policy.Write{Path: dir + "/" + p})); v.Effect != policy.Allow {
			t.Errorf("%s: %+v", p, v)
		}
	}
	// A build server's file is asked about once per session.
	ci := call("Write", policy.Write{Path: dir + "/.github/workflows/x.yml"})
	v := policy.Decide(rules(t), policy.Default, ci)
	if len(v.Suggest) != 1 {
		t.Fatalf("%+v", v)
	}
	r, err := policy.ParseRule(v.Suggest[0], policy.Allow, policy.Session, "", "")
	if err != nil {
		t.Fatal(err)
	}
	rs := rules(t)
	rs.List = append(rs.List, r)
	if v := policy.Decide(rs, policy.Default, ci); v.Effect != policy.Allow {
		t.Errorf("%+v", v)
	}
}
