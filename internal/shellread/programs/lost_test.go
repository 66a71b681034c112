package programs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// TestRulesNameLosses: of each row of the tables of losses, a rule that has all the words
// which lose something means that, whatever stands beside them; one that lacks one of
// them does not, and a rule that denies wins.
func TestRulesNameLosses(t *testing.T) {
	subs, known := map[string]bool{}, map[string]bool{}
	n := 0
	for _, f := range programs.LossForms() {
		known[strings.Join(append([]string{f.Program}, f.Named...), " ")] = true
	}
	for _, f := range programs.LossForms() {
		if f.Program == "git" {
			subs[f.Own[0]] = true
		}
		named := append([]string{f.Program}, f.Named...)
		own := append([]string{f.Program}, f.Own...)
		for _, command := range [][]string{own, append(slices.Clone(own), "operand"), append(slices.Clone(own), "-q", "operand")} {
			n++
			line := policy.QuoteCommand(command)
			if v := judged(t, line); v.Effect != policy.Ask || v.Check != policy.CheckRemoval && v.Check != policy.CheckProtected {
				t.Errorf("%s: %s (%s), and it loses something", line, v.Effect, v.Reason)
			}
			if v := judged(t, line, allow(own...)); v.Check == policy.CheckRemoval {
				t.Errorf("%s with %s: %s (%s)", line, allow(own...), v.Effect, v.Reason)
			}
			if v := judged(t, line, allow(named...)); prefixed(own, named) && v.Check == policy.CheckRemoval {
				t.Errorf("%s with %s: %s (%s)", line, allow(named...), v.Effect, v.Reason)
			}
			for i, word := range own {
				if lacks := slices.Delete(slices.Clone(named), max(0, slices.Index(named, word)), slices.Index(named, word)+1); i == 0 || !slices.Contains(named, word) || known[strings.Join(lacks, " ")] {
					continue
				}
				if v := judged(t, line, without(own, i)); v.Effect == policy.Allow {
					t.Errorf("%s with %s: %s (%s)", line, without(own, i), v.Effect, v.Reason)
				}
			}
			if v := judged(t, line, allow(own...), "deny:"+allow(f.Program)); v.Effect != policy.Deny {
				t.Errorf("%s with a rule that denies %s: %s (%s)", line, f.Program, v.Effect, v.Reason)
			}
		}
	}
	for _, sub := range programs.GitLosses() {
		if !subs[sub] {
			t.Errorf("no form of git %s was tried", sub)
		}
	}
	t.Logf("%d commands", n)
}

// TestRulesNameEachLoss: what loses something in two ways asks until a rule has both.
func TestRulesNameEachLoss(t *testing.T) {
	forms := programs.LossForms()
	for _, a := range forms {
		for _, b := range forms {
			if a.Program != b.Program || len(a.Named) == 0 || len(b.Named) == 0 || a.Program == "git" && a.Own[0] != b.Own[0] {
				continue
			}
			more := b.Own
			if a.Program == "git" {
				more = more[1:]
			}
			if len(more) != 1 || slices.Contains(a.Own, more[0]) || !strings.ContainsAny(more[0][:1], "-+:") {
				continue
			}
			line := policy.QuoteCommand(append(append([]string{a.Program}, a.Own...), more...))
			if v := judged(t, line, allow(append([]string{a.Program}, a.Own...)...)); v.Effect != policy.Ask {
				t.Errorf("%s with a rule for %s %q: %s (%s)", line, a.Program, a.Own, v.Effect, v.Reason)
			}
		}
	}
}

// TestRulesNameLossesBehind: a rule that goes on into what a runner starts means what that
// loses, one for the runner does not.
func TestRulesNameLossesBehind(t *testing.T) {
	for _, c := range []struct {
		line, rule string
		want       bool
	}{
		{"timeout 5 git branch -D x", "Bash(timeout 5 git branch -D:*)", true}, {"timeout 5 git branch -D x", "Bash(timeout:*)", false},
		{"sudo git branch -D x", "Bash(sudo git branch -D:*)", true}, {"sudo git branch -D x", "Bash(sudo:*)", false}, {"sudo git branch -D x", "Bash(sudo git branch:*)", false},
		{"bundle exec rails db:drop", "Bash(bundle exec rails db:drop:*)", true}, {"bundle exec rails db:drop", "Bash(bundle exec:*)", false},
		{"bash -c 'git reset --hard'", "Bash(bash:*)", false}, {"git -C sub branch -D x", "Bash(git -C sub branch -D:*)", true}, {"git -C sub branch -D x", "Bash(git -C sub branch:*)", false},
		{"git push --force origin x && git push --force", "Bash(git push --force origin x && git push:*)", false}, {"ls && git push --force", "Bash(ls && git push --force:*)", true},
		{"git branch -D $x", "Bash(git branch -D:*)", false}, {`git branch -D "x$y"`, "Bash(git branch -D:*)", true}, {"git branch $x y", "Bash(git branch:*)", true}, {"git push --force $x", "Bash(git push --force:*)", false}, {"rm -rf $x", "Bash(rm -rf:*)", false},
		{"git -c alias.p=push p --force", "Bash(git *)", false}, {"kubectl delete pod x", "Bash(kubectl delete:*)", true},
	} {
		if v := judged(t, c.line, c.rule); (v.Check != policy.CheckRemoval) != c.want {
			t.Errorf("%s with %s: %s (%s)", c.line, c.rule, v.Effect, v.Reason)
		}
	}
}

// TestRulesNameOutputs: a rule that names a flag which writes covers it in the folders that may
// be written; one for the program alone, or for another flag, does not, and none covers
// what the same command does besides.
func TestRulesNameOutputs(t *testing.T) {
	n := 0
	for _, words := range programs.OutputForms() {
		at := slices.IndexFunc(words, func(w string) bool { return w == "VALUE" })
		flag := words[len(words)-1]
		if at > 0 {
			flag = words[at-1]
		}
		with := func(value string) string {
			return policy.QuoteCommand(append(slices.Clone(words[:max(at, 0)]), append([]string{value}, words[max(at, 0)+1:]...)...))
		}
		inside, outside := with("out.txt"), with("/srv/out.txt")
		if at < 0 {
			inside, outside = policy.QuoteCommand(words), ""
		}
		if judged(t, inside, "Bash("+words[0]+":*)").Effect == policy.Allow {
			continue // a rule for the program speaks of it
		}
		n++
		rule := "Bash(" + words[0] + " * " + flag + " *)"
		if words[1] == flag {
			rule = "Bash(" + words[0] + " " + flag + " *)"
		}
		if v := judged(t, inside, rule); v.Effect != policy.Allow {
			t.Errorf("%s with %s: %s (%s)", inside, rule, v.Effect, v.Reason)
		}
		if other := "Bash(" + words[0] + " * --other*)"; judged(t, inside+" --other", other).Effect == policy.Allow {
			t.Errorf("%s --other with %s is allowed", inside, other)
		}
		if v := judged(t, inside, rule, "deny:Edit(**)"); at > 0 && v.Effect == policy.Allow {
			t.Errorf("%s with a rule that denies edits: %s (%s)", inside, v.Effect, v.Reason)
		}
		if outside == "" {
			continue
		}
		if v := judged(t, outside, rule); v.Effect != policy.Ask {
			t.Errorf("%s with %s: %s (%s)", outside, rule, v.Effect, v.Reason)
		}
		if v := judged(t, with("$x"), rule); v.Effect != policy.Ask {
			t.Errorf("%s with %s: %s (%s)", with("$x"), rule, v.Effect, v.Reason)
		}
		if v := judged(t, with(".git/hooks/pre-commit"), rule); v.Effect != policy.Ask {
			t.Errorf("%s with %s: %s (%s)", with(".git/hooks/pre-commit"), rule, v.Effect, v.Reason)
		}
	}
	t.Logf("%d flags", n)
	for _, c := range [][2]string{
		{"curl -o a -K b https://x.example", "Bash(curl -o *)"}, {"curl -o a https://x.example -D /srv/b", "Bash(curl -o *)"}, {"xargs curl -o a", "Bash(curl -o *)"}, {"curl -OJ https://x.example/a", "Bash(curl -OJ *)"}, {"curl -O -J https://x.example/a", "Bash(curl -O *)"},
		{"find . -delete", "Bash(find * -delete)"}, {"find . -not -name abc -delete", "Bash(find * -delete)"}, {"find . -name abc -o -delete", "Bash(find * -delete)"}, {"find src -name abc -delete -exec make {} +", "Bash(find * -delete *)"}, {"find . -name '*' -delete", "Bash(find * -delete)"},
		{"rg --pre x -o a", "Bash(rg --pre:*)"}, {"psql -o a -c b", "Bash(psql -o *)"}, {"git -c core.pager=x diff --output=a", "Bash(git * --output*)"},
	} {
		if v := judged(t, c[0], c[1]); v.Effect != policy.Ask {
			t.Errorf("%s with %s: %s (%s)", c[0], c[1], v.Effect, v.Reason)
		}
	}
}

// TestRulesSpellFlags: a rule that spells out a flag with its value means that flag; one that
// has the flag alone, or another value, does not, nor does it mean a second one.
func TestRulesSpellFlags(t *testing.T) {
	spelled := 0
	for name, flags := range programs.LaunchFlags() {
		outputs := map[string]bool{}
		for _, o := range programs.OutputForms() {
			outputs[o[0]+" "+o[len(o)-1]], outputs[o[0]+" "+o[max(0, len(o)-2)]] = true, true
		}
		for i, flag := range flags {
			line := name + " " + flag + " value operand"
			if outputs[name+" "+flag] || judged(t, line, allow(name)).Effect == policy.Allow {
				continue
			}
			if judged(t, line, allow(name, flag, "value")).Effect == policy.Allow {
				spelled++
			}
			second := flags[(i+1)%len(flags)]
			for _, rule := range []string{allow(name), allow(name, flag), "Bash(" + name + " " + flag + " *)", "Bash(" + name + " " + flag + " * operand)", allow(name, flag, "other")} {
				if v := judged(t, line, rule); v.Effect == policy.Allow {
					t.Errorf("%s with %s: %s (%s)", line, rule, v.Effect, v.Reason)
				}
			}
			if v := judged(t, line+" "+second+" more", allow(name, flag, "value")); second != flag && v.Effect == policy.Allow {
				t.Errorf("%s %s more with %s: %s (%s)", line, second, allow(name, flag, "value"), v.Effect, v.Reason)
			}
		}
	}
	if spelled < 80 {
		t.Errorf("a rule speaks of %d flags", spelled)
	}
}

func prefixed(words, begin []string) bool {
	return len(words) >= len(begin) && slices.Equal(words[:len(begin)], begin)
}

func allow(words ...string) string { return "Bash(" + policy.QuoteCommand(words) + ":*)" }

// without is a rule with a star for one of the words.
func without(words []string, at int) string {
	out := make([]string, len(words))
	for i := range words {
		if out[i] = policy.QuoteCommand(words[i : i+1]); i == at {
			out[i] = "*"
		}
	}
	return "Bash(" + strings.Join(out, " ") + ":*)"
}

func judged(t *testing.T, line string, rules ...string) policy.Verdict {
	t.Helper()
	w := world.World{Dir: "/w", Home: "/home/u", Glob: func(string) []string { return []string{} }, Real: func(p string) (string, error) { return p, nil },
		Tree: func(dir string, _ int) (world.Listing, bool) {
			return world.Listing{Entries: []world.Entry{{Name: "src", Dir: true}, {Name: "src/abc"}, {Name: "b"}}}, dir == "/w"
		}}
	r := policy.Rules{Dir: "/w", Dirs: []string{"/w"}, Home: "/home/u"}
	for _, text := range rules {
		effect := policy.Allow
		if s, ok := strings.CutPrefix(text, "deny:"); ok {
			text, effect = s, policy.Deny
		}
		rule, err := policy.ParseRule(text, effect, policy.CLI, "test", "/w")
		if err != nil {
			t.Fatal(err)
		}
		r.List = append(r.List, rule)
	}
	return policy.Decide(r, policy.Default, policy.Request{Tool: "Bash", Actions: shellread.Read(line, w).Actions})
}
