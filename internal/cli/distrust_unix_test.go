//go:build unix

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A skill of a trusted folder that is edited while a session runs is not used any
// more, which is said with the difference; it counts again as soon as the folder is
// trusted again.
func TestSkillChangesWhileASessionRuns(t *testing.T) {
	p := newPlace(t)
	const file = ".claude/skills/deploy/SKILL.md"
	skill := func(text string) {
		p.settings(filepath.Join(p.dir, file), "---\nname: deploy\ndescription: deploys\n---\n"+text+"\n")
	}
	trusted := func() {
		t.Helper()
		if out, err := p.adze("trust", "--yes").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	p.put("script.txt", "> one\n---\n> two\n---\n> three\n")
	skill("Deploy it.")
	trusted()
	k := p.talk("--model", "script/script.txt")
	k.prompt("/deploy")
	skill("Deploy anew.")
	k.until("notice", func(m map[string]any) bool {
		s, _ := m["content"].(string)
		return strings.Contains(s, "not used until it is trusted again (adze trust), because it changed: "+file) && strings.Contains(s, "\n-Deploy it.\n+Deploy anew.")
	})
	k.prompt("/deploy")
	trusted()
	k.until("the command", func(m map[string]any) bool {
		b, _ := json.Marshal(m["commands"])
		return m["subtype"] == "commands_changed" && strings.Contains(string(b), `"deploy"`)
	})
	k.prompt("/deploy")
	if err := k.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := k.wait(); err != nil {
		t.Errorf("%v\n%s", err, k.errs)
	}
	st, _ := p.history()
	var read []string
	for _, m := range st.Messages() {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"Deploy it.", `"/deploy"`, "Deploy anew."} {
			if strings.Contains(string(text), part) {
				read = append(read, part)
			}
		}
	}
	// In between the command is not known, and the model is not asked.
	if want := "Deploy it. Deploy anew."; strings.Join(read, " ") != want {
		t.Errorf("the model read %q, want %s", read, want)
	}
}

// A script beside a SKILL.md that changes while a session runs takes the skill away
// until the folder is trusted again.
func TestScriptOfASkillChangesWhileASessionRuns(t *testing.T) {
	p := newPlace(t)
	p.settings(filepath.Join(p.dir, ".claude/skills/deploy/SKILL.md"), "---\nname: deploy\ndescription: deploys\nallowed-tools: Bash(sh .claude/skills/deploy/run.sh)\n---\nIt says !`sh .claude/skills/deploy/run.sh`\n")
	script := filepath.Join(p.dir, ".claude/skills/deploy/run.sh")
	p.settings(script, "echo fine\n")
	if out, err := p.adze("trust", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.put("script.txt", "> one\n---\n> two\n")
	k := p.talk("--model", "script/script.txt", "--sandbox", "off")
	if got := k.prompt("/deploy"); strings.Contains(got, "trust") {
		t.Fatal(got)
	}
	p.settings(script, "touch "+filepath.Join(p.dir, "PWNED")+"\n")
	got := k.prompt("/deploy")
	if _, err := os.Stat(filepath.Join(p.dir, "PWNED")); err == nil || !strings.Contains(got, "nobody trusted this content (adze trust)") {
		t.Errorf("%v: %s", err, got)
	}
}

// A repository's hooks for Codex are asked about in full, refuse once it is trusted, and
// stay what they were when the file changes.
func TestUIHooksForCodex(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	file := filepath.Join(p.dir, ".codex", "hooks.json")
	hooks := func(why string) {
		p.settings(file, `{"hooks":{"PreToolUse":[{"matcher":"^Bash$","hooks":[{"type":"command","command":"echo `+why+` >&2; exit 2"}]}]}}`)
	}
	hooks("codex says no")
	model := p.put("model.txt", "@ Bash {\"command\":\"touch made\"}\n---\n> One.\n---\n@ Bash {\"command\":\"touch made\"}\n---\n> Two.\n")
	x := p.inTerminal(p.adze("--model", "script/"+model, "--sandbox", "off", "--dangerously-skip-permissions"), 120, 40)
	x.dialog(`hook PreToolUse \^Bash\$: echo codex says no >&2; exit 2`)
	x.keys(down)
	x.until(`❯ \d Yes, I know`)
	x.keys(enter)
	x.gone(`Yes, I know`)
	x.until(`What shall be done here`)
	x.keys("go", enter)
	x.until(`(?s)codex says no \(the hook.*● One\.`)
	hooks("something else")
	x.until(`(?s)its hooks stay what they were when it was trusted.*\.codex/hooks\.json.*\+.*something else`)
	x.keys("/hooks", enter)
	x.until(`(?s)/hooks.*PreToolUse +\^Bash\$ +command +echo codex says no.*\.codex/hooks\.json`)
	x.keys("on", enter)
	x.until(`(?s)› on.*codex says no \(the hook.*● Two\.`)
	x.keys("/exit", enter)
	x.ended()
	if _, err := os.Stat(filepath.Join(p.dir, "made")); err == nil {
		t.Error("a call ran that the hook refuses")
	}
}
