package permcheck_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/permcheck"
	"github.com/adze-agent/adze/internal/policy"
)

var update = flag.Bool("update", false, "write the golden files")

// A stack is a kind of project: its rules, and the commands of a day in it.
type stack struct {
	name     string
	rules    []policy.Rule
	commands []dayCommand
}

type dayCommand struct{ kind, text string }

// dayFiles are there in the project.
var dayFiles = strings.Fields(`src/app.go src/util.go src/list.go src/app_test.go src/app.ts src/app.test.ts src/main.rs app/main.py app/__pycache__/x tests/test_app.py
	web/package.json packages/a/package.json packages/b/package.json package.json data.json input.txt expected.txt VERSION scripts/run.sh examples/a.rs Cargo.toml pom.xml go.mod
	README.md a.log crates/core/Cargo.toml docker/compose.yml k8s/app.yaml infra/main.tf charts/app/Chart.yaml .venv/bin/activate migrations/001.sql schema.sql target/surefire-reports/a.txt`)

// TestDay counts the questions of which an author would say "why do you ask?", among the
// commands of a day of work: beside the rules of such a project and no sandbox, with accepted
// edits in the sandbox and no rule, and with nothing.
func TestDay(t *testing.T) {
	o := project(t)
	for _, f := range dayFiles {
		at := filepath.Join(o.Dir, f)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	settings := []struct {
		name  string
		rules bool
		o     permcheck.Options
		kinds string // the kinds of commands that it is to let run
	}{
		{"rules", true, permcheck.Options{Dir: o.Dir, Home: o.Home}, "look work"},
		{"sandbox", false, permcheck.Options{Dir: o.Dir, Home: o.Home, Mode: policy.AcceptEdits, Sandbox: true}, "look work own"},
		{"nothing", false, permcheck.Options{Dir: o.Dir, Home: o.Home}, "look"},
	}
	var list strings.Builder
	vain, all, asked := make([]int, len(settings)), 0, make([]int, len(settings))
	for _, s := range day(t, o.Dir) {
		for _, c := range s.commands {
			all++
			for i, set := range settings {
				opts := set.o
				if set.rules {
					opts.Rules.List = s.rules
				}
				r := permcheck.Check(c.text, opts)
				if r.Verdict.Effect == policy.Allow || r.Sandboxed != nil {
					continue
				}
				if asked[i]++; strings.Contains(set.kinds, c.kind) {
					vain[i]++
					fmt.Fprintf(&list, "%s, %s: %s\n\t%s\n", s.name, set.name, strings.ReplaceAll(c.text, "\n", "\n\t\t"), strings.ReplaceAll(r.Verdict.Reason, o.Dir, "PROJECT"))
				}
			}
		}
	}
	var head strings.Builder
	for i, set := range settings {
		fmt.Fprintf(&head, "%s: %d questions in %d commands, %d in vain\n", set.name, asked[i], all, vain[i])
	}
	got, golden := head.String()+"\n"+list.String(), filepath.Join("testdata", "day.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("other questions than in %s (-update writes it): \n%s", golden, got)
	}
}

// day reads the commands.
func day(t *testing.T, dir string) (out []stack) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "day.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "\n== ")
	for part := range strings.SplitSeq(body, "\n== ") {
		name, lines, _ := strings.Cut(part, "\n")
		s := stack{name: name}
		for line := range strings.SplitSeq(strings.TrimRight(lines, "\n"), "\n") {
			kind, rest, _ := strings.Cut(line, " ")
			effect, rule := map[string]policy.Effect{"allow": policy.Allow, "deny": policy.Deny}[kind]
			switch {
			case rule && len(s.commands) == 0:
				r, err := policy.ParseRule(rest, effect, policy.User, "settings.json", dir)
				if err != nil {
					t.Fatal(err)
				}
				s.rules = append(s.rules, r)
			case kind == "look:" || kind == "work:" || kind == "own:":
				s.commands = append(s.commands, dayCommand{strings.TrimSuffix(kind, ":"), rest})
			default:
				s.commands[len(s.commands)-1].text += "\n" + line
			}
		}
		out = append(out, s)
	}
	return out
}
