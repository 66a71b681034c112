//go:build unix

package cli_test

import (
	"encoding/json"
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
	if want := `Deploy it. "/deploy" Deploy anew.`; strings.Join(read, " ") != want {
		t.Errorf("the model read %q, want %s", read, want)
	}
}
