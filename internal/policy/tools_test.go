package policy_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestDead: a rule that can never match anything is known for that.
func TestDead(t *testing.T) {
	for text, want := range map[string]string{
		"Bsh": "no tool", "bash": "no tool", "Bsh(ls)": "no tool", "*": "no tool", "edit(src/**)": "no tool", "mcp_x": "no tool",
		"WebFetch(example.com)": "WebFetch takes", "mcp__a__b(x)": "no parentheses", "TodoWrite(x)": "takes nothing", "ExitPlanMode(a)": "takes nothing",
		"Bash(ls && rm x)": "", "Bash(A=1 ls)": "", "Bash(A=1)": "names no program", "Bash(ls && )": "a command is missing", "Bash(&& ls)": "a command is missing", "Bash(ls > x)": "", "Bash(ls < x)": "redirects", "Bash(:(){ :|:& };:)": "",
		"Bash(curl:x)": "no program has a colon in its name; commands that begin with curl are Bash(curl:*)", "Bash(curl:**)": "", "Bash(a:b c:*)": "no program has a colon",
		"Bash(npm run test:unit)": "", "Bash(npm run test:*)": "", "Bash(C:/x/y.exe:*)": "", "Bash(curl http://x:80)": "",
		"Bash(rm:＊)": "full-width", "Bash(rm：*)": "are Bash(rm:*)", `Bash("rm:*")`: "quotes", "Bash(curl:*\nrm:*)": "several lines", "Bash({rm,curl}:*)": "no program", "Bash(^rm)": "no program", "Bash(!rm:*)": "no program", "Bash(rm, curl:*)": "no program",
		"Read(.env, .env.local)": "several paths", "Edit(a/**,b/**)": "several paths", "Read(Smith, John.pdf)": "", `Bash("/opt/my tool" x:*)`: "", "Bash(!)": "", "Bash([:*)": "",
		"TodoWrite": "", "Bash": "", "Bash(*)": "", "Bash(ls:*)": "", "Read(src/**)": "", "Grep(src/**)": "", "Write(x)": "", "mcp__a": "", "mcp__a__*": "", "mcp__09azAZ": "", "Bash(1=2 ls)": "", "Task(x)": "", "Skill(x)": "", "WebFetch(domain:x.org)": "",
	} {
		got := policy.Dead(rule(t, "deny "+text))
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestWholly: a tool that a rule speaks of whatever it is asked to do, as Decide
// sees it.
func TestWholly(t *testing.T) {
	for _, c := range []struct {
		rule, tool string
		want       bool
	}{
		{"Bash", "Bash", true}, {"Bash(*)", "Bash", true}, {"Bash(:*)", "Bash", true}, {"Bash(rm:*)", "Bash", false}, {"Bash", "BashOutput", false},
		{"Read", "Grep", true}, {"Read", "Glob", true}, {"Read(**)", "Read", false}, {"Edit", "Write", true}, {"Write", "Edit", true}, {"Edit", "MultiEdit", true}, {"MultiEdit", "MultiEdit", true}, {"MultiEdit", "Edit", false}, {"NotebookEdit", "Edit", false}, {"WebFetch", "WebFetch", true}, {"Grep", "Bash", false}, {"Grep", "Grep", true}, {"Grep", "Read", false}, {"LS", "Glob", false}, {"NotebookRead", "Read", false},
		{"KillShell", "TaskStop", true}, {"BashOutput", "TaskOutput", true}, {"BashOutput", "TaskStop", false}, {"ReadMcpResourceTool", "ReadMcpResource", true}, {"TaskStop", "KillShell", false},
	} {
		if got := rule(t, "deny "+c.rule).Wholly(c.tool); got != c.want {
			t.Errorf("%s and %s: %v", c.rule, c.tool, got)
		}
	}
}

// TestRulesForSpecialEdits: a rule that forbids MultiEdit or NotebookEdit leaves Edit and
// Write, and notebooks are changed by nothing then.
func TestRulesForSpecialEdits(t *testing.T) {
	for _, c := range []struct {
		rule, tool, file string
		want             policy.Effect
	}{
		{"MultiEdit", "MultiEdit", "a.go", policy.Deny}, {"MultiEdit", "Edit", "a.go", policy.Allow}, {"MultiEdit", "Bash", "a.go", policy.Allow},
		{"NotebookEdit", "NotebookEdit", "a.ipynb", policy.Deny}, {"NotebookEdit", "Edit", "a.go", policy.Allow}, {"NotebookEdit", "Bash", "a.go", policy.Allow},
		{"NotebookEdit", "Edit", "b/a.ipynb", policy.Deny}, {"NotebookEdit", "Bash", "a.ipynb", policy.Deny}, {"MultiEdit(*.go)", "Edit", "a.go", policy.Deny},
	} {
		v := policy.Decide(rules(t, "deny "+c.rule), policy.AcceptEdits, policy.Request{Tool: c.tool, Actions: []policy.Action{policy.Write{Path: dir + "/" + c.file, Asked: c.file}}})
		if v.Effect != c.want {
			t.Errorf("deny %s: %s of %s: %v (%s)", c.rule, c.tool, c.file, v.Effect, v.Reason)
		}
	}
}

// TestRulesForSpecialReads: neither does a rule that allows to search or to list let files be
// read, nor does one that forbids it take Read away.
func TestRulesForSpecialReads(t *testing.T) {
	out := "/elsewhere/id_rsa"
	for _, c := range []struct {
		rule, tool, path string
		want             policy.Effect
	}{
		{"allow Glob", "Read", out, policy.Ask}, {"allow Glob", "Bash", out, policy.Ask}, {"allow LS", "Read", out, policy.Ask}, {"allow Grep", "Read", out, policy.Ask}, {"allow NotebookRead", "Read", out, policy.Ask},
		{"allow Grep(src/**)", "Read", dir + "/src/.env", policy.Ask}, {"allow Grep", "Grep", out, policy.Allow}, {"allow Glob", "Glob", out, policy.Allow}, {"allow Read", "Grep", out, policy.Allow},
		{"deny Grep", "Read", dir + "/a.go", policy.Allow}, {"deny Grep", "Bash", dir + "/a.go", policy.Allow}, {"deny Grep", "Grep", dir + "/a.go", policy.Deny}, {"deny Glob", "Read", dir + "/a.go", policy.Allow},
		{"deny Grep(x/**)", "Read", dir + "/x/a.go", policy.Deny}, {"deny Grep(x/**)", "Bash", dir + "/x/a.go", policy.Deny}, {"deny NotebookRead", "Read", dir + "/a.ipynb", policy.Deny}, {"deny Read", "Grep", dir + "/a.go", policy.Deny},
	} {
		v := policy.Decide(rules(t, c.rule), policy.Default, policy.Request{Tool: c.tool, Actions: []policy.Action{policy.Read{Path: c.path, Asked: c.path}}})
		if v.Effect != c.want {
			t.Errorf("%s: %s of %s: %v (%s)", c.rule, c.tool, c.path, v.Effect, v.Reason)
		}
	}
	for rule, want := range map[string]policy.Effect{"allow NotebookEdit": policy.Ask, "allow MultiEdit": policy.Ask, "allow Edit": policy.Allow, "allow Write": policy.Allow} {
		v := policy.Decide(rules(t, rule), policy.Default, policy.Request{Tool: "Write", Actions: []policy.Action{policy.Write{Path: dir + "/a.go", Asked: "a.go"}}})
		if v.Effect != want {
			t.Errorf("%s: Write: %v (%s)", rule, v.Effect, v.Reason)
		}
	}
}

// TestBracesInPaths: a rule that forbids means each of the paths that its braces stand for.
func TestBracesInPaths(t *testing.T) {
	for spec, files := range map[string]string{"**/*.{key,pem}": "a.key b/c.pem", "{.env,.env.*}": ".env x/.env.local", "{a,b/{c,d}}/**": "a/x b/c/x b/d/x", "a{b": "a{b"} {
		for file := range strings.FieldsSeq(files) {
			if v := policy.Decide(rules(t, "deny Read("+spec+")"), policy.Default, policy.Request{Tool: "Read", Actions: []policy.Action{policy.Read{Path: dir + "/" + file, Asked: file}}}); v.Effect != policy.Deny {
				t.Errorf("%s: %s: %s", spec, file, v.Effect)
			}
		}
	}
}

// TestSeveralRules: a text that holds more than a rule is no rule, whatever stands between.
func TestSeveralRules(t *testing.T) {
	for text, want := range map[string]string{
		"Bash(npm publish:*), Bash(rm:*)": "more than one rule", "Bash(a:*)\nBash(b:*)": "more than one rule", "Bash(a:*);bash(b:*)": "more than one rule", "Bash(a) Read(b)": "more than one rule", "Bash(a) or Bash(b)": "more than one rule", "Read(.env), Edit(x)": "more than one rule",
		"Bash(rm:*) // comment": "stands outside", "Bash(rm:*),": "stands outside", `"Bash(rm:*)"`: "stands outside", "Bash(rm -rf *) (never)": "stands behind", "Bash(rm:*))": "stands behind",
		"Bash（rm:*）": "cannot stand in a tool's name", "Bash(rm:*), Read": "stands outside", "Bash, Read": "cannot stand",
		"Bash(echo $(date))": "", `Bash(echo "a) b(")`: "", `Bash(sed 's/)/(/':*)`: "", "Bash(f() { g; })": "", "Bash(echo done\\) (x)": "", "Read(a (1).txt)": "",
	} {
		_, err := policy.ParseRule(text, policy.Deny, policy.User, "", "/")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
