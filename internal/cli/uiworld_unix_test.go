//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Sessions that follow one another in the terminal UI share what the process
// has: the settings, which are loaded and complained about once and watched
// throughout, and the folder for temporary files. Hooks are told why each begins
// and ends.
func TestUISessionsShareTheirWorld(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	told := filepath.Join(p.home, "told")
	tell := func(event, field string) string {
		return `"` + event + `":[{"hooks":[{"type":"command","command":"sed 's/.*\"` + field + `\":\"\\([a-z_]*\\)\".*/` + event + ` \\1/' >>` + told + `; echo >>` + told + `"}]}]`
	}
	settings := filepath.Join(p.home, ".adze", "settings.json")
	text := `{"max_turns":"many","hooks":{` + tell("SessionStart", "source") + `,` + tell("SessionEnd", "reason") + `}}`
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := p.adze("--model", "script/"+p.put("model.txt", "> One.\n---\n> Two.\n"), "--sandbox", "off")
	x := p.inTerminal(c, 100, 30)
	x.until(`value not used`)
	x.keys("remember me", enter)
	x.until(`● One\.`)
	x.gone(`interrupts`)
	x.keys(`!touch "$TMPDIR/left"; echo it is ma''de`, enter)
	x.until(`it is made`)
	x.keys("/clear", enter)
	x.until(`What shall be done here`)
	x.keys(`!ls "$TMPDIR" | sed 's/^/there: /'`, enter)
	x.until(`│ there: left`)

	if err := os.WriteFile(settings, []byte(strings.Replace(text, `"many",`, `"many","permissions":{"deny":["Bash(never)"]},`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	x.until(`settings changed: permissions\.deny`)
	x.keys("/resume", enter)
	x.until(`❯ remember me`)
	x.keys(enter)
	x.until(`(?s)settings changed.*● One\.`)
	x.when("its hooks have begun", func(string) bool {
		got, err := os.ReadFile(told)
		return err == nil && strings.Contains(string(got), "SessionStart resume")
	})
	x.keys("/exit", enter)
	x.ended()
	if n := strings.Count(x.all(), "settings: "); n != 1 {
		t.Errorf("a setting that cannot be used is told %d times:\n%s", n, x.all())
	}
	got, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"SessionStart startup", "SessionEnd clear", "SessionStart clear", "SessionEnd resume", "SessionStart resume", "SessionEnd prompt_input_exit",
	}
	if lines := strings.Fields(strings.ReplaceAll(string(got), " ", "=")); !slices.Equal(lines, strings.Fields(strings.ReplaceAll(strings.Join(want, "\n"), " ", "="))) {
		t.Errorf("hooks were told %q, want %q", lines, want)
	}
}

// Who looks again for a model has it with a key that was saved meanwhile, although
// nothing of the settings changed.
func TestUIFindsAKeyThatWasSavedMeanwhile(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	alone := "OLLAMA_HOST=" + closedPort()
	c := p.adze("--sandbox", "off")
	c.Env = append(c.Env, alone)
	x := p.inTerminal(c, 90, 30)
	x.dialog(`There is no model yet`)
	login := p.adze("login", "anthropic")
	login.Stdin = strings.NewReader("sk-saved-meanwhile\n")
	if out, err := login.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	x.keys(down, down)
	x.until(`❯ \d Look again`)
	x.keys(enter)
	x.gone(`There is no model yet`)
	x.until(`claude`)
	x.keys("/exit", enter)
	x.ended()
}

// What of the settings is not used is said at the start and when a file changes, and so
// when a broken one counts again.
func TestUITellsWhatIsNotUsed(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(p.home, ".adze", "settings.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.startedBefore()
	write(`{"colour": 1, "permissions": {"allow": ["Bash((("]}}`)
	x := p.inTerminal(p.adze("--model", "script/"+p.put("model.txt", "> One.\n"), "--sandbox", "off"), 200, 40)
	x.until(`(?s)settings: colour: not a setting this version knows.*settings\.json:1:2\)`)
	x.until(`(?s)settings: permissions\.allow: rule "Bash\(\(\(" is not used: the closing parenthesis is missing.*settings\.json:1:41\)`)
	x.keys("say one", enter)
	x.until(`● One\.`)
	write(`{"permissions": {"allow": ["Bash(ls)"]}, "colour": 1, "max_turn": 5}`)
	x.until(`(?s)max_turn: not a setting this version knows.*did you mean "max_turns"`)
	write(`{"permissions": {"deny": ["Bash((("]}}`)
	x.until(`(?s)nothing passes without a question until this is mended: the deny rule "Bash\(\(\(" at.*settings\.json:1:27`)
	write(`{"permissions": {"deny": [`)
	x.until(`settings\.json:\d+:\d+: the file is not used`)
	write(`{"permissions": {"allow": ["Bash(pwd)"]}}`)
	x.until(`(?s)settings\.json can be read\s+again, and counts`)
	x.until(`what rules and the mode allow passes without a question again`)
	if n := strings.Count(x.all(), "colour: not a setting"); n != 1 {
		t.Errorf("it is told %d times", n)
	}
}
