package policy_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// How far a rule reaches: into trees that are read or changed as a whole, and
// no further than what it allows.
func TestRulesReachTrees(t *testing.T) {
	grep := policy.Exec{Argv: []string{"grep", "-r", "x", "sub"}, ReadOnly: true}
	make := exec("make", "all")
	sub := dir + "/sub"
	for _, c := range []struct {
		name  string
		rules []string
		mode  policy.Mode
		req   policy.Request
		want  string // effect check
	}{
		{"below **", []string{"deny Read(//w/project/**/secret)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true})), "ask denied-below"},
		{"above the tree", []string{"deny Read(//w/project/other/secret)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true})), "allow read-only"},
		{"from the folder itself", []string{"deny Read(./sub/a)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: dir, Tree: true})), "ask denied-below"},
		{"a name beside the folder is not hidden", []string{"deny Read(../other/a)", "allow Bash(grep:*)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: "/w/other", Tree: true, Visible: true})), "ask denied-below"},
		{"a bare name", []string{"deny Read(secret)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true})), "ask denied-below"},
		{"the whole tree is denied", []string{"deny Read(sub/**)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true})), "deny rule"},
		{"a rule for all below allows no tree with a denied file in it", []string{"allow Read(sub/**)", "deny Read(sub/a)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true})), "ask denied-below"},
		{"nor does one for all reading", []string{"allow Read", "deny Read(sub/a)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true})), "ask denied-below"},
		{"nor one for all commands", []string{"allow Bash", "deny Read(sub/a)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true})), "ask denied-below"},
		{"nor one for the command, elsewhere", []string{"allow Bash(grep:*)", "deny Read(//etc/secret)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: "/etc", Tree: true})), "ask denied-below"},
		{"a hidden name is not read where hidden ones are skipped", []string{"deny Read(.secret)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true, Visible: true})), "allow read-only"},
		{"another one is", []string{"deny Read(./sub/a)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true, Visible: true})), "ask denied-below"},
		{"names are no content", []string{"deny Read(secret)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: sub, Tree: true, List: true})), "allow read-only"},

		{"one file may be removed by a rule", []string{"allow Edit(sub/**)"}, policy.Default, call("Edit", policy.Write{Path: sub + "/a", Remove: true}), "allow rule"},
		{"a tree may not", []string{"allow Edit(sub/**)"}, policy.Default, call("Edit", policy.Write{Path: sub + "/a", Remove: true, Tree: true}), "ask write"},
		{"a tree that is written may", []string{"allow Edit(sub/**)"}, policy.Default, call("Edit", policy.Write{Path: sub + "/a", Tree: true}), "allow rule"},

		{"a command's rule covers its own arguments", []string{"allow Bash(make:*)"}, policy.Default, bash(policy.Touching(make, policy.Write{Path: "/opt/x"})), "allow rule"},
		{"and nothing of the command behind it", []string{"allow Bash(make:*)"}, policy.Default, bash(make, policy.Touching(grep, policy.Read{Path: "/opt/x"})), "ask outside"},
		{"nor of the one before", []string{"allow Bash(make:*)"}, policy.Default, bash(policy.Touching(grep, policy.Read{Path: "/opt/x"}), make), "ask outside"},
		{"also those that it only reads", []string{"allow Bash(make:*)"}, policy.Default, bash(policy.Touching(make, policy.Read{Path: dir + "/a"})), "allow rule"},
		{"and nothing else", []string{"allow Bash(make:*)"}, policy.Default, bash(make, policy.Write{Path: "/opt/x"}), "ask outside"},

		{"Bash covers what commands read", []string{"allow Bash"}, policy.Default, bash(make, policy.Read{Path: "/opt/x"}), "allow rule"},
		{"Bash(x) does not", []string{"allow Bash(make:*)"}, policy.Default, bash(make, policy.Read{Path: "/opt/x"}), "ask outside"},
		{"nor does Bash cover another tool", []string{"allow Bash"}, policy.Default, call("Read", policy.Read{Path: "/opt/x"}), "ask outside"},

		{"a command by its whole path", []string{"deny Bash(rm:*)"}, policy.Bypass, bash(exec("/bin/./rm", "x")), "deny rule"},
		{"its other spelling", []string{"deny Bash(rm:*)"}, policy.Bypass, bash(policy.Exec{Argv: []string{"env", "rm", "x"}, Spellings: policy.Spellings{Also: [][]string{{"/usr/bin/rm", "x"}}}}), "deny rule"},
		{"another program", []string{"deny Bash(rm:*)"}, policy.Bypass, bash(exec("/bin/rmdir", "x")), "allow mode"},
	} {
		r := rules(t, c.rules...)
		v := policy.Decide(r, c.mode, c.req)
		if got := v.Effect.String() + " " + string(v.Check); got != c.want {
			t.Errorf("%s: %s, want %s (%s)", c.name, got, c.want, v.Reason)
		}
	}
}

// The sandbox keeps what a command reads from the network, not from the model.
func TestSandboxIsNoReasonToReadSecrets(t *testing.T) {
	cat := policy.Exec{Argv: []string{"cat", ".env"}, ReadOnly: true}
	env := policy.Read{Path: dir + "/.env", Asked: ".env"}
	for _, c := range []struct {
		name  string
		rules []string
		as    []policy.Action
		want  string
	}{
		{"by its name", nil, []policy.Action{policy.Touching(cat, env)}, "ask secret"},
		{"its name alone", nil, []policy.Action{policy.Touching(cat, policy.Read{Path: dir + "/.env", List: true})}, "allow read-only"},
		{"by a program that is not known", nil, []policy.Action{exec("make")}, "allow sandbox"},
		{"as a rule allows", []string{"allow Read(.env)"}, []policy.Action{policy.Touching(cat, env)}, "allow rule"},
		{"another file", nil, []policy.Action{policy.Touching(cat, policy.Read{Path: "/opt/a"})}, "allow sandbox"},
	} {
		q := bash(c.as...)
		q.Sandboxed = true
		v, each := policy.Judge(rules(t, c.rules...), policy.Default, q)
		if last := each[len(each)-1]; last.Effect.String()+" "+string(last.Check) != c.want || v.Effect != last.Effect {
			t.Errorf("%s: %s %s, want %s", c.name, last.Effect, last.Check, c.want)
		}
	}
}

// Of two questions the one counts that the fewest may settle.
func TestGravestQuestionCounts(t *testing.T) {
	loses := policy.Exec{Argv: []string{"git", "reset", "--hard"}, Loss: policy.Loss{Loses: "it drops changes"}}
	protected := policy.Write{Path: dir + "/.git/config"}
	ruled := exec("git", "push")
	opaque := policy.Opaque{Source: "x", Why: "y"}
	plain := exec("make")
	order := []policy.Action{loses, protected, ruled, opaque, plain}
	checks := []string{"dangerous-removal", "protected-path", "rule", "opaque", "not-read-only"}
	r := rules(t, "ask Bash(git push:*)")
	for i := range order {
		for j := i + 1; j < len(order); j++ {
			for _, q := range []policy.Request{bash(order[i], order[j]), bash(order[j], order[i])} {
				if v := policy.Decide(r, policy.Default, q); v.Effect != policy.Ask || v.Check != policy.Check(checks[i]) {
					t.Errorf("%s beside %s: %s %s", checks[i], checks[j], v.Effect, v.Check)
				}
			}
		}
	}
}

// FuzzRule: no rule text panics, and no deny rule makes anything looser.
func FuzzRule(f *testing.F) {
	for _, s := range []string{"Bash(ls:*)", "Read(//a/**/b[!c]?)", "mcp__a__*", "WebFetch(domain:x)", "Bash('a b' *)", "Edit(../../x)", "Bash", "Read"} {
		f.Add(s, "ls -la", "/w/project/a")
	}
	f.Fuzz(func(t *testing.T, text, command, path string) {
		r, err := policy.ParseRule(text, policy.Deny, policy.User, "", dir)
		if err != nil {
			return
		}
		policy.Lint(r)
		without := policy.Rules{Dir: dir, Dirs: []string{dir}, Home: home}
		with := without
		with.List = []policy.Rule{r}
		for _, m := range []policy.Mode{policy.Default, policy.AcceptEdits, policy.Bypass} {
			q := bash(exec(strings.Fields(command+" x")...), policy.Read{Path: path}, policy.Write{Path: path, Remove: true, Tree: true})
			a, b := policy.Decide(without, m, q), policy.Decide(with, m, q)
			if b.Effect < a.Effect {
				t.Errorf("deny %s makes %s of %s", text, b.Effect, a.Effect)
			}
			if text == "Bash" && b.Effect != policy.Deny {
				t.Errorf("deny Bash lets a command pass: %+v", b)
			}
		}
	})
}

// A folder that is moved takes no denied file out of a rule's reach.
func TestMovesKeepDeniedFilesWhereTheyAre(t *testing.T) {
	moved := policy.Write{
		Path: dir + "/secrets", Remove: true, Moved: true, Tree: true,
		Below: &policy.Below{Paths: []policy.Place{{Path: dir + "/secrets/x"}, {Path: dir + "/secrets/y"}}},
	}
	mv := policy.Exec{Argv: []string{"mv", "secrets", "s2"}, Edits: true}
	for _, c := range []struct {
		rule string
		want policy.Effect
	}{{"deny Read(secrets/**)", policy.Deny}, {"deny Read(secrets/y)", policy.Deny}, {"deny Read(other/**)", policy.Allow}} {
		for _, m := range []policy.Mode{policy.AcceptEdits, policy.Bypass} {
			if v := policy.Decide(rules(t, c.rule), m, bash(policy.Touching(mv, moved))); v.Effect != c.want {
				t.Errorf("%s in %s: %s (%s)", c.rule, m, v.Effect, v.Reason)
			}
		}
	}
}

// A folder that holds too much to list is moved only with a person's word where
// a rule may deny some of it.
func TestMovesThatWereNotListed(t *testing.T) {
	moved := policy.Write{Path: dir + "/big", Remove: true, Moved: true, Tree: true}
	mv := policy.Exec{Argv: []string{"mv", "big", "b2"}, Edits: true}
	for rule, want := range map[string]policy.Effect{"deny Read(big/x/*.pem)": policy.Ask, "deny Read(other/**)": policy.Allow} {
		if v := policy.Decide(rules(t, rule), policy.AcceptEdits, bash(policy.Touching(mv, moved))); v.Effect != want {
			t.Errorf("%s: %s (%s)", rule, v.Effect, v.Reason)
		}
	}
}

// Where a rule denies commands, neither the sandbox nor a rule for all commands
// excuses what nobody could read.
func TestUnseenCommandsAsk(t *testing.T) {
	unread := policy.Opaque{Source: "$X f", Why: "not known"}
	awk := policy.Exec{Argv: []string{"awk", "x"}, Inner: policy.Inner{Unseen: "it uses system"}}
	for _, a := range []policy.Action{unread, awk} {
		for _, c := range []struct {
			rules []string
			boxed bool
			want  policy.Effect
		}{
			{nil, true, policy.Allow}, {[]string{"deny Bash(touch:*)"}, true, policy.Ask}, {[]string{"deny Bash(touch:*)", "allow Bash"}, false, policy.Ask},
			{[]string{"allow Bash"}, false, policy.Allow}, {[]string{"deny Read(x)"}, true, policy.Allow},
		} {
			q := bash(a)
			q.Sandboxed = c.boxed
			if v := policy.Decide(rules(t, c.rules...), policy.Default, q); v.Effect != c.want {
				t.Errorf("%v with %v: %s (%s)", a, c.rules, v.Effect, v.Reason)
			}
		}
	}
	listed := policy.Opaque{Source: "cat $X", Why: "not known", Listed: true}
	for mode, want := range map[policy.Mode]policy.Effect{policy.Default: policy.Ask, policy.Bypass: policy.Allow} {
		if v := policy.Decide(rules(t, "deny Bash(touch:*)", "allow Bash"), mode, bash(listed)); v.Effect != want {
			t.Errorf("of which the commands are listed, %s: %s (%s)", mode, v.Effect, v.Reason)
		}
	}
	if v := policy.Decide(rules(t, "deny Bash(touch:*)", "allow Bash(awk x)"), policy.Default, bash(awk)); v.Effect != policy.Allow {
		t.Errorf("spelled out: %s (%s)", v.Effect, v.Reason)
	}
}

// TestWhatMayBeMeant: a file that a command may mean, and a rule denies, is a
// question; in the sandbox, where it can do nothing to it, none.
func TestWhatMayBeMeant(t *testing.T) {
	below := &policy.Below{Paths: []policy.Place{{Path: dir + "/a"}, {Path: dir + "/secrets/x"}}}
	short := &policy.Below{Short: "there are too many"}
	for _, c := range []struct {
		name, rule string
		a          policy.Action
		boxed      bool
		want       policy.Effect
	}{
		{"may be read", "deny Read(secrets/**)", policy.Read{Path: dir, Tree: true, Sure: policy.Possible, Below: below}, false, policy.Ask},
		{"may be read, not written", "deny Edit(secrets/**)", policy.Read{Path: dir, Tree: true, Sure: policy.Possible, Below: below}, false, policy.Allow},
		{"may be written", "deny Edit(secrets/**)", policy.Write{Path: dir, Within: true, Sure: policy.Guessed, Below: below}, false, policy.Ask},
		{"may be written, not read", "deny Read(secrets/**)", policy.Write{Path: dir, Within: true, Sure: policy.Guessed, Below: below}, false, policy.Allow},
		{"another file", "deny Read(other/**)", policy.Read{Path: dir, Tree: true, Sure: policy.Possible, Below: below}, false, policy.Allow},
		{"in the sandbox", "deny Read(secrets/**)", policy.Read{Path: dir, Tree: true, Sure: policy.Possible, Below: below}, true, policy.Allow},
		{"too many to look at", "deny Read(secrets/**)", policy.Read{Path: dir, Tree: true, Sure: policy.Possible, Below: short}, false, policy.Ask},
		{"too many, elsewhere", "deny Read(//opt/**)", policy.Read{Path: dir, Tree: true, Sure: policy.Possible, Below: short}, false, policy.Allow},
		{"a folder that is named", "deny Read(secrets/**)", policy.Read{Path: dir + "/secrets", Sure: policy.Possible}, false, policy.Ask},
		{"a word of a program nobody knows", "deny Edit(secrets/**)", policy.Read{Path: dir + "/secrets/x", Edits: true}, false, policy.Ask},
		{"and its folder", "deny Edit(secrets/**)", policy.Read{Path: dir + "/secrets", Edits: true}, false, policy.Ask},
		{"in the sandbox it cannot", "deny Edit(secrets/**)", policy.Read{Path: dir + "/secrets/x", Edits: true}, true, policy.Allow},
		{"a folder that is named in the sandbox", "deny Read(secrets/**)", policy.Read{Path: dir + "/secrets", Sure: policy.Possible}, true, policy.Allow},
		{"a file that is named, and may not be edited", "deny Edit(secrets/**)", policy.Read{Path: dir + "/secrets/x", Sure: policy.Possible}, false, policy.Ask},
		{"too many outside, and nothing may be read", "deny Read", policy.Read{Path: "/opt", Tree: true, Sure: policy.Possible, Below: short}, false, policy.Ask},
		{"another name of a folder, by what was asked", "deny Read(secrets/**)", policy.Read{Path: "/opt/x", Asked: dir + "/secrets/../secrets/x"}, false, policy.Deny},
		{"one that leaves it alone", "deny Edit(secrets/**)", policy.Read{Path: dir + "/secrets/x"}, false, policy.Allow},
	} {
		q := bash(exec("x"), c.a)
		q.Sandboxed = c.boxed
		if v := policy.Decide(rules(t, "allow Bash", c.rule), policy.Default, q); v.Effect != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, v.Effect, v.Reason, c.want)
		}
	}
}

// TestSecretsNamedInCode: a secret that code names which reads files by name is a
// question, where no rule allows to read it. A name elsewhere is none.
func TestSecretsNamedInCode(t *testing.T) {
	env := policy.Read{Path: dir + "/.env", Asked: ".env", Sure: policy.Possible, Code: true}
	link := policy.Read{Path: dir + "/notes", Asked: "notes", Named: dir + "/.env", Sure: policy.Possible, Code: true}
	word := env
	word.Code = false
	plain := policy.Read{Path: dir + "/a.go", Asked: "a.go", Sure: policy.Possible, Code: true}
	for _, c := range []struct {
		name  string
		rules []string
		mode  policy.Mode
		a     policy.Read
		want  string
	}{
		{"in code", nil, policy.Default, env, "ask secret"},
		{"by a link", nil, policy.Default, link, "ask secret"},
		{"in plan mode", nil, policy.PlanMode, env, "ask secret"},
		{"where a classifier decides", nil, policy.Auto, env, "ask auto"},
		{"where nobody is asked", nil, policy.DontAsk, env, "deny secret"},
		{"where nothing is asked", nil, policy.Bypass, env, "allow maybe"},
		{"allowed by a rule", []string{"allow Read(.env)"}, policy.Default, env, "allow maybe"},
		{"denied by a rule", []string{"deny Read(.env)"}, policy.Bypass, env, "ask rule"},
		{"in a word", nil, policy.Default, word, "allow maybe"},
		{"another file", nil, policy.Default, plain, "allow maybe"},
	} {
		_, each := policy.Judge(rules(t, c.rules...), c.mode, bash(policy.Touching(policy.Exec{Argv: []string{"python3", "-c", "x"}}, c.a)))
		if v := each[1]; v.Effect.String()+" "+string(v.Check) != c.want || v.Part != c.a.Path {
			t.Errorf("%s: %s %s of %s (%s), want %s", c.name, v.Effect, v.Check, v.Part, v.Reason, c.want)
		}
	}
}

// TestWhereRulesReach: a row for each thing that decides whether a rule about files
// speaks of what a command does.
func TestWhereRulesReach(t *testing.T) {
	grep := policy.Exec{Argv: []string{"grep", "-r", "x"}, ReadOnly: true}
	sub := dir + "/sub"
	read := func(change func(*policy.Read)) policy.Read {
		r := policy.Read{Path: sub, Asked: "sub", Tree: true}
		change(&r)
		return r
	}
	listed := &policy.Below{Paths: []policy.Place{{Path: sub + "/a"}}}
	for _, c := range []struct {
		name  string
		rules []string
		a     policy.Action
		want  string
	}{
		{"all in the folder", []string{"deny Read(/sub/**)"}, read(func(*policy.Read) {}), "deny rule"},
		{"all in the folder, listed", []string{"deny Read(/sub/**)"}, read(func(r *policy.Read) { r.Below = listed }), "deny rule"},
		{"the names of all in the folder", []string{"deny Read(/sub/**)"}, read(func(r *policy.Read) { r.List = true }), "allow read-only"},
		{"some of it", []string{"deny Read(/sub/b/**)"}, read(func(*policy.Read) {}), "ask denied-below"},
		{"some that is hidden", []string{"deny Read(/sub/.b/**)"}, read(func(r *policy.Read) { r.Visible = true }), "allow read-only"},
		{"some beside the session's folder", []string{"deny Read(../x/**)"}, read(func(r *policy.Read) { r.Path, r.Visible = "/w", true }), "ask denied-below"},
		{"the system's name", nil, policy.Read{Path: "/etc/os-release"}, "allow read-only"},
		{"another file beside it", nil, policy.Read{Path: "/etc/hosts"}, "ask outside"},
	} {
		v := policy.Decide(rules(t, c.rules...), policy.Default, bash(policy.Touching(grep, c.a)))
		if got := v.Effect.String() + " " + string(v.Check); got != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, got, v.Reason, c.want)
		}
	}
	nowhere := rules(t, "deny Read(~/x)")
	nowhere.Home = "" // where nobody's home is known, a rule about it is about nothing
	if v := policy.Decide(nowhere, policy.Default, call("Read", policy.Read{Path: "/x"})); v.Effect == policy.Deny {
		t.Errorf("without a home: %s (%s)", v.Effect, v.Reason)
	}
	other := policy.Exec{Argv: []string{"x"}, Spellings: policy.Spellings{Also: [][]string{{"/bin/env", "A=b", "x"}, {"rm", "x"}}}}
	for text, want := range map[string]policy.Effect{
		"deny Bash(/usr/bin/rm:*)": policy.Deny, "deny Bash(/usr/bin/cp:*)": policy.Allow,
		"deny Bash(/usr/bin/env:*)": policy.Deny, "deny Bash(/usr/bin/env A=b:*)": policy.Deny, "deny Bash(/usr/bin/env A=c:*)": policy.Allow,
	} {
		if v := policy.Decide(rules(t, text), policy.Bypass, bash(other)); v.Effect != want {
			t.Errorf("%s, by another spelling: %s (%s)", text, v.Effect, v.Reason)
		}
	}
}
