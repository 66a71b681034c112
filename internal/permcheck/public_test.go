package permcheck_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/permcheck"
	"github.com/adze-agent/adze/internal/policy"
)

// TestPublicRules reads rules as people write them in public settings files, with commands
// that their authors mean to stop and to let run, through the function behind
// `adze permissions check --batch`. All that is to be stopped is, in every mode; of what
// is to run, at most two in a hundred ask.
func TestPublicRules(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "public_rules.txt"))
	if err != nil {
		t.Fatal(err)
	}
	o := project(t)
	for _, file := range []string{"scripts/x.sh", ".venv/bin/activate", "x.py", "a.txt", "src/main.c", "sub/a.cs", "web/package.json", "secrets/a", "sub/secrets/a", "sub/my.keys", ".env", ".env.local", "sub/.env"} {
		at := filepath.Join(o.Dir, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rules, stops, stopped, runs, ran := 0, 0, 0, 0, 0
	rule := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] != '\t' {
			effect, spec, _ := strings.Cut(line, " ")
			rule = effect + ":" + spec
			rules++
			continue
		}
		want, command, _ := strings.Cut(line[1:], " ")
		command, reason, excused := strings.Cut(command, " ## ")
		mode := policy.Default
		if want == "stop" || want == "ask" {
			mode = policy.Bypass
		}
		got := batch(t, o, mode, rule, command)
		ok := false
		switch want {
		case "stop":
			stops++
			if ok = got.Verdict == policy.Deny && got.Rule != ""; ok {
				stopped++
			}
		case "ask":
			stops++
			if ok = got.Verdict == policy.Ask && strings.HasPrefix(got.Reason, "a rule asks about it"); ok || got.Check == policy.CheckSecret {
				ok = true
				stopped++
			}
		case "run":
			runs++
			if ok = got.Verdict == policy.Allow; ok {
				ran++
			}
		case "other":
			ok = got.Rule == "" || got.Verdict == policy.Allow && !strings.HasPrefix(rule, "allow")
			ok = ok && !(strings.HasPrefix(rule, "allow") && got.Verdict == policy.Allow) || got.Check == policy.CheckReadOnly
		default:
			t.Fatalf("%q", line)
		}
		if !ok && !excused {
			t.Errorf("%s: %s %q: %s (%s)", rule, want, command, got.Verdict, got.Reason)
		} else if !ok {
			t.Logf("%s: %q asks: %s", rule, command, reason)
		} else if excused {
			t.Errorf("%s: %q is what its author means by now: take the reason away", rule, command)
		}
	}
	t.Logf("%d rules: %d of %d commands that are to be stopped are (%.1f %%), %d of %d that are to run do (%.1f %%)", rules, stopped, stops, 100*float64(stopped)/float64(stops), ran, runs, 100*float64(ran)/float64(runs))
	if rules < 60 || stopped < stops || ran*100 < runs*98 {
		t.Errorf("of %d rules: %d of %d stopped, %d of %d run", rules, stopped, stops, ran, runs)
	}
}

func batch(t *testing.T, o permcheck.Options, mode policy.Mode, rule, command string) (out permcheck.Result) {
	t.Helper()
	row, err := json.Marshal(permcheck.Row{ID: "x", Command: command, Rules: []string{rule}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	o.Mode = mode
	if err := permcheck.Batch(bytes.NewReader(row), &b, o); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
