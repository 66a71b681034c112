package policy_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(strings.ReplaceAll(string(want), "\r", ""), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// The folders of a session, and what is protected in it besides known names.
func everywhere(r *policy.Rules) {
	r.Dirs = append(r.Dirs, "/w/lib")
	r.Readable, r.Writable, r.Notes = []string{"/readable"}, []string{"/scratch"}, []string{"/notes"}
	r.Protected = []policy.Steer{{Path: dir + "/build/hooks.path", Why: "the settings of git name it"}}
}

// requests are one for each fact that a decision can depend on. Paths that do
// not begin with "/" are in the session's folder.
func requests() (out []policy.Request) {
	list := func(tool string, groups ...[]policy.Action) {
		for _, as := range groups {
			out = append(out, policy.Request{Tool: tool, Actions: as})
		}
	}
	one := func(a policy.Action) []policy.Action { return []policy.Action{a} }
	in := func(p string) string {
		if strings.HasPrefix(p, "/") {
			return p
		}
		return dir + "/" + p
	}
	read := func(p string, change func(*policy.Read)) policy.Action {
		r := policy.Read{Path: in(p), Asked: p}
		if change != nil {
			change(&r)
		}
		return r
	}
	write := func(p string, change func(*policy.Write)) policy.Action {
		w := policy.Write{Path: in(p), Asked: p}
		if change != nil {
			change(&w)
		}
		return w
	}
	below := func(short string, paths ...string) *policy.Below {
		b := &policy.Below{Short: short}
		for _, p := range paths {
			b.Paths = append(b.Paths, policy.Place{Path: in(p)})
		}
		return b
	}
	standing := func(all bool, paths ...string) *policy.Standing {
		for i, p := range paths {
			paths[i] = in(p)
		}
		return policy.NewStanding(func() ([]string, bool) { return paths, all })
	}
	removed := func(p string, s *policy.Standing) []policy.Action {
		return one(write(p, func(w *policy.Write) { w.Remove, w.Tree, w.Standing = true, true, s }))
	}
	linked := &policy.Below{Paths: []policy.Place{{Path: in("x"), Named: in("secret/link")}, {Path: in("y"), Named: in("prod/link")}}}
	mk := policy.Exec{Argv: []string{"make", "all"}, Why: "make runs programs", Dir: dir}
	ls := policy.Exec{Argv: []string{"ls"}, ReadOnly: true}
	cp := policy.Exec{Argv: []string{"cp", "a", "b"}, Edits: true}

	list("Bash", one(ls), one(cp), one(mk), one(exec("python3", "x.py")), one(exec("go", "test", "./a")), one(exec()),
		one(policy.Exec{Argv: []string{"ls"}, ReadOnly: true, Reach: policy.Reach{Beyond: "it runs what -x names"}}),
		one(policy.Exec{Argv: []string{"cp"}, Edits: true, Reach: policy.Reach{Beyond: "it runs what -x names"}}),
		one(policy.Exec{Argv: []string{"make", "all"}, Reach: policy.Reach{Beyond: "it runs what -x names"}}),
		one(policy.Exec{Argv: []string{"make", "all"}, Reach: policy.Reach{Beyond: "it runs what -x names"}, Spellings: policy.Spellings{Loose: true}}),
		one(policy.Exec{Argv: []string{"bundle", "exec", "rspec"}, Reach: policy.Reach{Beyond: "it runs what is behind it", RunnerWords: 2}}),
		one(policy.Exec{Argv: []string{"git", "reset", "--hard"}, Loss: policy.Loss{Loses: "it drops changes"}}),
		one(policy.Exec{Argv: []string{"rm", "x"}, Sure: policy.Possible}), one(exec("/usr/bin/rm", "x")), one(exec(`C:\bin\RM.exe`, "x")),
		one(policy.Exec{Argv: []string{"env", "x"}, Spellings: policy.Spellings{Also: [][]string{{"rm", "x"}}}}),
		one(policy.Exec{Argv: []string{"make", "all"}, Inner: policy.Inner{Unseen: "what it runs is not known"}}),
		one(policy.Exec{Argv: []string{"make", "all"}, Inner: policy.Inner{Unseen: "what it runs is not known"}, Spellings: policy.Spellings{Loose: true}}),
		one(policy.Exec{Argv: []string{"make", "all"}, Inner: policy.Inner{Unseen: "what it runs is not known", FromFile: true}}),
		one(policy.Opaque{Source: "$x", Why: "x is not known"}), one(policy.Opaque{Source: "$x", Why: "x is not known", Listed: true}),
		[]policy.Action{ls, mk}, []policy.Action{ls, cp}, []policy.Action{ls, policy.Opaque{Source: "$x", Why: "x is not known"}},
		[]policy.Action{policy.Exec{Argv: []string{"git", "status"}, ReadOnly: true, Unpinned: "git runs what its settings say"}, mk},
		[]policy.Action{policy.Exec{Argv: []string{"git", "status"}, ReadOnly: true, Unpinned: "git runs what its settings say"}, ls},
		[]policy.Action{policy.Exec{Argv: []string{"git", "apply"}, Edits: true, Unpinned: "git runs what its settings say"}, mk},
		[]policy.Action{mk, policy.Exec{Argv: []string{"rm", "x"}, Sure: policy.Possible}}, []policy.Action{mk, exec("go", "vet")},
		one(policy.Touching(mk, read("a.go", nil))), one(policy.Touching(mk, read("/etc/hosts", nil))),
		one(policy.Touching(mk, read("secret", func(r *policy.Read) { r.Tree = true }))), one(policy.Touching(mk, read(".env", nil))),
		one(policy.Touching(mk, write("a.go", nil))), one(policy.Touching(cp, write("a.go", nil))),
		one(policy.Touching(cp, write("/etc/hosts", nil))), one(policy.Touching(cp, write("/notes/a.md", nil))), []policy.Action{mk, write("/etc/hosts", nil)},
		one(policy.Touching(exec("git", "config", "x"), write(".git/config", func(w *policy.Write) { w.Own = true }))),
		one(policy.Touching(exec("git", "config", "x"), write(".git/config", func(w *policy.Write) { w.Own, w.Steers = true, true }))),
		[]policy.Action{exec("git", "config", "x"), write(".git/config", func(w *policy.Write) { w.Own = true })},
		one(policy.Touching(exec("git", "push", "-u"), write(".git/config", func(w *policy.Write) { w.Own, w.Routine = true, true }))),
		[]policy.Action{policy.Touching(exec("git", "remote", "add"), write(".git/config", func(w *policy.Write) { w.Own, w.Routine, w.Sets = true, true, "a.b=c" })), mk},
		one(policy.Touching(exec("git", "config", "x"), write(".git/config", nil))),
		[]policy.Action{policy.Opaque{Source: "$x", Why: "x is not known"}, write(".git/config", nil)}, []policy.Action{read(".env", nil), write("/w", func(w *policy.Write) { w.Remove, w.Tree = true, true })},
		[]policy.Action{policy.Opaque{Source: "$x", Why: "x is not known"}, policy.Person{Why: "a person decides"}}, []policy.Action{mk, read(".env", nil)},
		[]policy.Action{mk, policy.Person{Why: "it runs outside", Soft: true}}, []policy.Action{mk, policy.Opaque{Source: "$x"}, policy.Person{Why: "it runs outside", Soft: true}},
		[]policy.Action{policy.Exec{Argv: []string{"rm", "x"}, Sure: policy.Possible}, policy.Person{Why: "it runs outside", Soft: true}}, one(policy.Person{Why: "it runs outside", Soft: true}),
		one(read("src", func(r *policy.Read) { r.MayWrite = true })), one(read(".git/config", func(r *policy.Read) { r.MayWrite = true })), one(read("/usr/bin/gcc", func(r *policy.Read) { r.MayWrite = true })),
		one(read(".git/config", func(r *policy.Read) { r.MayWrite, r.Sure = true, policy.Possible })), one(read("secret/a", func(r *policy.Read) { r.Sure = policy.Possible })), one(read("prod/a", func(r *policy.Read) { r.Sure = policy.Possible })),
		one(policy.Read{Path: "/x", Asked: `\\host\x`, Sure: policy.Possible}), one(read("secret", func(r *policy.Read) { r.Sure = policy.Possible })), one(read("prod", func(r *policy.Read) { r.Sure = policy.Possible })),
		one(read("prod/a", func(r *policy.Read) { r.Edits = true })), one(read("prod", func(r *policy.Read) { r.Edits = true })), one(read("src/a.go", func(r *policy.Read) { r.Edits = true })),
		one(read(".", func(r *policy.Read) { r.Sure, r.Tree, r.Below = policy.Possible, true, below("", "src/a", "secret/a") })), one(read(".", func(r *policy.Read) { r.Sure, r.Tree, r.Below = policy.Possible, true, linked })), one(read(".", func(r *policy.Read) { r.Sure, r.Tree, r.Below = policy.Possible, true, below("it is large") })), one(read("src", func(r *policy.Read) { r.Sure, r.Tree, r.Below = policy.Possible, true, below("it is large") })),
		one(write(".", func(w *policy.Write) { w.Sure, w.Within, w.Below = policy.Guessed, true, below("", "src/a", "prod/a") })), one(write(".", func(w *policy.Write) { w.Sure, w.Within, w.Below = policy.Guessed, true, below("it is large") })),
		one(read(".", func(r *policy.Read) { r.Tree, r.Below = true, below("", "a.go", "b.go") })), one(read(".", func(r *policy.Read) { r.Tree, r.Below = true, below("", "a.go", ".env") })),
		one(read(".", func(r *policy.Read) { r.Tree, r.Below = true, below("", "later/a", "secret/a") })), one(read(".", func(r *policy.Read) { r.Tree, r.Below = true, below("it is large", "a.go") })),
		one(read(".", func(r *policy.Read) { r.Tree, r.Below = true, linked })), one(read(".", func(r *policy.Read) { r.Tree, r.List, r.Below = true, true, below("", ".env") })),
		one(policy.Touching(mk, read(".", func(r *policy.Read) { r.Tree, r.Below = true, below("it is large") }))), one(policy.Touching(mk, read(".", func(r *policy.Read) { r.Tree, r.Below = true, below("", ".env") }))),
		one(write("out", func(w *policy.Write) { w.Below = below("", "out/a", "prod/a") })), one(write("out", func(w *policy.Write) { w.Below = linked })), one(write("out", func(w *policy.Write) { w.Tree, w.Below = true, below("", ".git/config") })),
		one(write("out", func(w *policy.Write) { w.Remove, w.Tree, w.Moved, w.Below = true, true, true, below("", "secret/a") })), one(write(".", func(w *policy.Write) { w.Within = true })),
		one(write("out", func(w *policy.Write) { w.Within, w.Below = true, below("", "out/a", "prod/a") })), one(write("prod", func(w *policy.Write) { w.Within = true })))
	list("Read", one(read("a.go", nil)), one(read("src/a.go", nil)), one(read("secret/a", nil)), one(read("later/a", nil)), one(read("/w/lib/a.go", nil)), one(read("/etc/hosts", nil)), one(read("/readable/a", nil)), one(read("/scratch/a", nil)), one(read("/notes/a", nil)),
		one(read(".env", nil)), one(read(".env", func(r *policy.Read) { r.List = true })), one(policy.Read{Path: dir + "/notes", Asked: ".env"}), one(policy.Read{Path: dir + "/elsewhere", Named: dir + "/secret/a", Asked: "x"}), one(policy.Read{Path: dir + "/elsewhere", Asked: "secret/a"}),
		one(read(".", func(r *policy.Read) { r.Tree = true })), one(read(".", func(r *policy.Read) { r.Tree, r.Visible = true, true })), one(read(".", func(r *policy.Read) { r.Tree, r.List = true, true })), one(read("secret", func(r *policy.Read) { r.Tree = true })), one(read("/etc", func(r *policy.Read) { r.Tree = true })),
		one(read("%x%", nil)), one(read("SECRET/a", nil)), one(read("a\x00b", nil)), one(policy.Read{Path: home + "/x", Asked: "~/x"}))
	list("Edit", one(write("a.go", nil)), one(write("src/a.go", nil)), one(write("prod/a", nil)), one(write("/w/lib/a.go", nil)), one(write("/etc/hosts", nil)), one(write("/scratch/a", nil)), one(write("/readable/a", nil)),
		one(write("/notes/a.md", nil)), one(write("/notes/a.txt", nil)), one(write("/notes/a.md", func(w *policy.Write) { w.Blind = true })), one(write("/notes/a.md", func(w *policy.Write) { w.Remove = true })), one(write("/notes/a.md", func(w *policy.Write) { w.Tree = true })),
		one(write("a.go", func(w *policy.Write) { w.Blind = true })), one(write("src/a.go", func(w *policy.Write) { w.Blind = true })), one(write("prod/a", func(w *policy.Write) { w.Sure = policy.Possible })), one(write("%x%", func(w *policy.Write) { w.Sure = policy.Possible })), one(write(".git/config", func(w *policy.Write) { w.Sure = policy.Possible })),
		one(write("src/a", func(w *policy.Write) { w.Remove = true })), one(write("src", func(w *policy.Write) { w.Remove, w.Tree = true, true })), one(write("src", func(w *policy.Write) { w.Tree = true })), one(write("src", func(w *policy.Write) { w.Remove, w.Tree, w.Moved = true, true, true })),
		one(write("secret", func(w *policy.Write) { w.Remove, w.Tree, w.Moved = true, true, true })), one(write("secret", func(w *policy.Write) { w.Remove, w.Tree, w.Moved, w.Sure = true, true, true, policy.Possible })), one(write("secret", func(w *policy.Write) { w.Remove, w.Moved = true, true })),
		one(write(".git/config", nil)), one(write(".github/workflows/x.yml", nil)), one(write("Jenkinsfile", nil)), one(write("build/hooks.path", nil)), one(policy.Write{Path: dir + "/elsewhere", Asked: ".git/config"}), one(write("/etc/crontab", nil)), one(policy.Write{Path: home + "/.bashrc", Asked: "~/.bashrc"}),
		removed("out", standing(true, "out/a")), removed(".", standing(true, "a.go")), removed(".", standing(false, "a.go")), removed(".", standing(false, "prod/a")), removed("prod", standing(true)), removed("prod", standing(false)), one(write(".", func(w *policy.Write) { w.Within, w.Standing = true, standing(true, "a.go") })),
		one(write("/w/project", func(w *policy.Write) { w.Remove, w.Tree = true, true })), one(write("/w", func(w *policy.Write) { w.Remove, w.Tree = true, true })), one(write("/w/lib", func(w *policy.Write) { w.Remove, w.Tree = true, true })), one(write("/opt", func(w *policy.Write) { w.Remove, w.Tree = true, true })),
		one(write("/opt/x", func(w *policy.Write) { w.Remove, w.Tree = true, true })), one(write("/", func(w *policy.Write) { w.Remove, w.Tree = true, true })), one(write("/home/u", func(w *policy.Write) { w.Remove, w.Tree = true, true })), one(write("/home/u", func(w *policy.Write) { w.Remove = true })), one(policy.Write{Path: "C:/", Remove: true, Tree: true}),
		one(write(`a\..\b`, nil)), one(write(`\\host\x`, nil)), one(write("//?/x", nil)), one(write("PROD/a", nil)))
	list("WebFetch", one(policy.Net{Host: "example.org"}), one(policy.Net{Host: "www.Example.org.", URL: "https://www.example.org/x"}), one(policy.Net{}))
	list("mcp__s__t", one(policy.Call{Server: "s", Tool: "t"}), one(policy.Call{Server: "s", Tool: "t", ReadOnly: true}))
	list("Agent", one(policy.Spawn{Agent: "general"}))
	list("Skill", one(policy.Skill{Name: "review"}), one(policy.Skill{Name: "review:all"}), one(policy.Skill{Name: "review all"}))
	list("PowerShell", one(exec("make", "all")), []policy.Action{exec("make", "all"), read("/etc/hosts", nil)})
	list("Flow", one(policy.Spawn{Agent: "general"}), one(policy.Skill{Name: "review"}), one(policy.Net{Host: "example.org"}), one(policy.Call{Server: "s", Tool: "t"}), one(read("src/a.go", nil)), one(write("src/a.go", nil)))
	list("ExitPlanMode", one(policy.Person{Why: "the plan needs you"}), nil)
	list("TodoWrite", one(policy.None{}))
	return out
}

// describe writes a request in one line.
func describe(q policy.Request) string {
	out := q.Tool
	touched := 0 // how many of those that follow are touched by the command before
	for a := range policy.All(q.Actions) {
		v, arg := reflect.ValueOf(a), touched > 0
		touched--
		if e, ok := a.(policy.Exec); ok {
			touched = len(e.Touches)
		}
		var facts []string
		for _, field := range reflect.VisibleFields(v.Type()) {
			f, name := v.FieldByIndex(field.Index), field.Name
			switch {
			case arg && name == "Tree":
				facts = append(facts, "Arg")
				if f.Bool() {
					facts = append(facts, name)
				}
			case f.IsZero(), name == "Touches", field.Anonymous:
			case name == "Sure":
				said := "Maybe"
				if _, read := a.(policy.Read); read || f.Interface() == policy.Guessed {
					said = "Mention"
				}
				facts = append(facts, said)
			case f.Kind() == reflect.Bool:
				facts = append(facts, name)
			case name == "Standing":
				paths, all := f.Interface().(*policy.Standing).Look()
				if facts = append(facts, fmt.Sprint("standing=", paths)); !all {
					facts = append(facts, "and more")
				}
			case f.Kind() == reflect.Pointer:
				below := f.Interface().(*policy.Below)
				for _, p := range below.Paths {
					facts = append(facts, strings.TrimSuffix(fmt.Sprint("below=", p.Path, "=", p.Named), "="))
				}
				if below.Short != "" {
					facts = append(facts, "Short="+below.Short)
				}
			case name == "Argv":
				facts = append(facts, fmt.Sprintf("%q", f))
			case name == "Path" || name == "Host" || name == "Why":
				facts = append(facts, fmt.Sprint(f))
			case name == "Asked" && (f.String() == v.FieldByName("Path").String() || dir+"/"+f.String() == v.FieldByName("Path").String()):
			default:
				facts = append(facts, fmt.Sprintf("%s=%v", name, f))
			}
		}
		out += fmt.Sprintf(" %s(%s)", v.Type().Name(), strings.Join(facts, " "))
	}
	return strings.ReplaceAll(strings.ReplaceAll(out, dir+"/", "./"), "\x00", "<NUL>")
}

// tableModes are the modes as the golden file lists them.
var tableModes = []policy.Mode{policy.Default, policy.AcceptEdits, policy.PlanMode, policy.Auto, policy.DontAsk, policy.Bypass}

// decide is what is decided in each mode, with what a question suggests and the
// call needs.
func decide(r policy.Rules, q policy.Request) map[policy.Mode]string {
	out := map[policy.Mode]string{}
	for _, m := range tableModes {
		v := policy.Decide(r, m, q)
		s := fmt.Sprint(v.Effect, " ", v.Check)
		if v.Rule != "" {
			s += " " + v.Rule
		}
		if len(v.Suggest) > 0 && m == policy.Default {
			s += fmt.Sprintf(", suggests %s", strings.Join(v.Suggest, " "))
		}
		if v.Needs.Pinned {
			s += ", pinned"
		}
		if v.Needs.Confined {
			s += ", confined"
		}
		if len(v.Needs.Writable) > 0 {
			s += fmt.Sprint(", opens ", v.Needs.Writable)
		}
		for _, set := range v.Needs.Settings {
			s += fmt.Sprint(", settings ", set.Path, set.Sets)
		}
		out[m] = strings.ReplaceAll(strings.ReplaceAll(s, "/"+dir+"/", "./"), dir+"/", "./")
	}
	return out
}

// differing says what is decided in the modes where that is not as it was before,
// those that agree together; "" when nothing differs.
func differing(got, before map[policy.Mode]string) string {
	var out []string
	said := map[policy.Mode]bool{}
	for _, m := range tableModes {
		if said[m] || got[m] == before[m] {
			continue
		}
		var same []string
		for _, n := range tableModes {
			if got[n] == got[m] && got[n] != before[n] {
				said[n] = true
				same = append(same, string(n))
			}
		}
		who := strings.Join(same, ", ")
		if len(same) == len(tableModes) {
			who = "always"
		}
		out = append(out, who+": "+got[m])
	}
	return strings.Join(out, "; ")
}

// What is decided about each request without any rule, and how rules and facts
// of the session change that: only what is then decided otherwise is listed, of
// two rules what the second one changes.
// The golden file is meant to be read: a line that changes is a decision that
// changes.
func TestDecisions(t *testing.T) {
	session := func(text string) func(*policy.Rules) {
		return func(r *policy.Rules) {
			rule, err := policy.ParseRule(text, policy.Allow, policy.Session, "this session", dir)
			if err != nil {
				t.Fatal(err)
			}
			r.List = append(r.List, rule)
		}
	}
	type situation struct {
		name      string
		and       string   // of two rules the one that makes the difference
		rules     []string // all of them
		change    func(*policy.Rules)
		sandboxed bool
	}
	situations := []situation{
		{name: "in the sandbox", sandboxed: true}, {name: "names without case", rules: []string{"deny Read(secret/**)", "deny Edit(prod/**)"}, change: func(r *policy.Rules) { r.FoldCase = true }},
		{name: "only managed rules", rules: []string{"allow Bash(make:*)", "ask Edit(src/**)", "deny Edit(prod/**)"}, change: func(r *policy.Rules) { r.ManagedOnly = true }},
		{name: "for the session, Edit(.github/**)", change: session("Edit(.github/**)")}, {name: "for the session, Edit", change: session("Edit")},
	}
	for _, text := range []string{
		"allow Bash", "allow Bash(make:*)", "allow Bash(make all)", "allow Bash(bundle exec rspec:*)", "allow Bash(bundle exec:*)", "allow Bash(git config:*)", "allow Bash(cp:*)",
		"deny Bash", "deny Bash(rm:*)", "ask Bash(make:*)", "allow PowerShell", "deny PowerShell(make:*)",
		"allow Read", "allow Read(.env)", "allow Read(//etc/**)", "deny Read", "deny Read(secret/**)", "deny Read(.env*)", "deny Read(secret)", "deny Read(~/x)", "ask Read(later/**)", "ask Read",
		"allow Edit", "allow Edit(src/**)", "deny Edit", "deny Edit(prod/**)", "ask Edit(prod/**)", "deny Edit(.git/**)",
		"allow WebFetch", "allow WebFetch(domain:example.org)", "allow WebFetch(domain:*.example.org)", "deny WebFetch(domain:example.org)", "deny WebFetch(domain:*)",
		"allow mcp__s", "deny mcp__s__t", "ask mcp__s__*", "deny Agent", "ask Agent(gen*)", "allow Skill(review)", "allow Skill(review *)", "allow Skill(review:*)", "allow Skill(rev*)", "deny ExitPlanMode", "deny TodoWrite",
	} {
		situations = append(situations, situation{name: text, rules: []string{text}})
	}
	for _, texts := range [][]string{
		{"deny Bash(rm:*)", "allow Bash(make:*)"}, {"deny Bash(rm:*)", "allow Bash(make all)"}, {"deny Read(secret/**)", "allow Bash"}, {"deny Read(secret/**)", "allow Bash(make:*)"}, {"deny Edit(prod/**)", "allow Bash(make:*)"}, {"allow Read", "deny Read(secret/**)"},
	} {
		situations = append(situations, situation{name: texts[1], and: texts[0], rules: texts})
	}

	var b strings.Builder
	decided := map[string]map[policy.Mode]string{} // by situation and request
	for _, s := range append([]situation{{name: "without a rule"}}, situations...) {
		r := rules(t, s.rules...)
		everywhere(&r)
		if s.change != nil {
			s.change(&r)
		}
		title, before := s.name, "without a rule"
		if s.and != "" {
			title, before = s.name+", and "+s.and, s.name
		}
		fmt.Fprintf(&b, "# %s\n", title)
		for _, q := range requests() {
			q.Sandboxed = s.sandboxed
			got, old := decide(r, q), decided[before+describe(q)]
			if d := differing(got, old); d != "" {
				fmt.Fprintf(&b, "%s\n\t%s\n", describe(q), d)
			}
			decided[title+describe(q)] = got
		}
		b.WriteString("\n")
	}
	golden(t, "decisions.txt", b.String())
}
