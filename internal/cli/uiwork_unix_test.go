//go:build unix

package cli_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What /statusline, /keybindings and another program write counts in the
// session that runs.
func TestUISettingsCountAtOnce(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	editor := p.put("editor", "#!/bin/sh\ngrep -q '\"chat:cycleMode\", //' \"$1\" && printf '{\"bindings\":[{\"context\":\"Chat\",\"bindings\":{\"alt+q\":\"chat:cycleMode\"}}]}' > \"$1\"\n")
	if err := os.Chmod(editor, 0o755); err != nil {
		t.Fatal(err)
	}
	c := p.adze("--model", "script/"+p.put("model.txt", "> Yes.\n"), "--sandbox", "off")
	x := p.inTerminal(c, 80, 24, "EDITOR="+editor)
	x.until(`What shall be done here`)
	x.keys("/statusline sh -c 'echo too bad >&2; exit 3'", enter)
	x.until(`exit status 3: too bad`)
	x.keys("/statusline off", enter)
	kept := filepath.Join(p.home, ".adze", "settings.json")
	x.when("nothing is left of it", func(string) bool {
		raw, err := os.ReadFile(kept)
		return err == nil && !strings.Contains(string(raw), "statusLine")
	})
	x.keys("/statusline echo it is mine", enter)
	x.until(`it is mine`)
	x.keys("/keybindings", enter)
	x.until(`The keys count now`)
	x.keys("\x1bq")
	x.until(`accepts edits`)
	keys := filepath.Join(p.home, ".adze", "keybindings.json") // another program's turn
	if err := os.WriteFile(keys, []byte(`{"bindings":[{"context":"Chat","bindings":{"alt+w":"chat:cycleMode", "alt+e": "chat:nothing"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	x.until(`unknown action "chat:nothing"`)
	x.keys("\x1bw")
	x.until(`plan mode`)
	settings := filepath.Join(p.home, ".adze", "settings.json")
	if err := os.WriteFile(settings, []byte(`{"ui": {"editor_mode": "vim", "ascii": true}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	x.until(`INSERT`)
	x.until(`\+---`)
	x.gone(`(?m)^  it is mine$`)
}

// A plan is changed in the person's editor while it is asked about, and what is
// shown then is what the model is told was approved.
func TestUIPlanIsEdited(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	editor := p.put("editor", "#!/bin/sh\necho '2. and mind the gap' >> \"$1\"\n")
	if err := os.Chmod(editor, 0o755); err != nil {
		t.Fatal(err)
	}
	c := p.adze("--model", "script/"+p.put("model.txt", `@ ExitPlanMode {"plan": "1. Look\n"}
---
? result contains "2. and mind the gap"
> I mind it.
---
? else
> I do not.
`), "--sandbox", "off", "--permission-mode", "plan")
	x := p.inTerminal(c, 80, 24, "EDITOR="+editor)
	x.until(`What shall be done here`)
	x.keys("plan it", enter)
	x.dialog(`e edits it`)
	x.keys("e")
	x.until(`2\. and mind the gap`)
	x.keys(enter)
	x.until(`● I mind it`)
	x.keys("/exit", enter)
	x.ended()
}

// /permissions has the rules that were given in the session, and takes them back: in
// it, and out of a file.
func TestUIPermissions(t *testing.T) {
	p := newPlace(t)
	call := func(name string) string { return `@ Bash {"command": "touch ` + name + `"}` + "\n---\n> Made.\n---\n" }
	x := p.ui(100, 30, call("a")+call("b")+call("c")+"> Over.\n")
	x.until(`What shall be done here`)
	x.keys("go", enter)
	x.dialog(`Run this command\?`)
	x.keys(down, "e")
	x.until(`Enter takes the rule`)
	x.keys("\x15", "Bash(touch:*)", enter)
	x.until(`for Bash\(touch:\*\) in this session`)
	x.keys(enter)
	x.until(`Bash\(touch:\*\) is not asked about any more in this session`)
	x.until(`● Made\.`)
	x.keys("/permissions", enter)
	x.until(`❯ allow Bash\(touch:\*\) +in this session`)
	x.keys(enter)
	x.until(`taken back: this session may not do any more what Bash\(touch:\*\) allows`)
	x.keys("again", enter)
	x.dialog(`Run this command\?(?s:.*)touch b`)
	x.keys(down, "\x1b[C")
	x.until(`in this folder`)
	x.keys(enter)
	x.until(`Bash\(touch b\) is not asked about any more in this folder`)
	local := filepath.Join(p.dir, ".adze", "settings.local.json")
	has := func(rule string, want bool) { // what the screen says is written a moment later
		t.Helper()
		x.when(fmt.Sprintf("%s in the file: %v", rule, want), func(string) bool {
			raw, err := os.ReadFile(local)
			return err == nil && strings.Contains(string(raw), rule) == want
		})
	}
	has("Bash(touch b)", true)
	x.when("the folder is trusted with the rule", func(string) bool { // which is written behind the file
		raw, err := os.ReadFile(local)
		known, unread := os.ReadFile(filepath.Join(p.home, ".adze", "trust.json"))
		return err == nil && unread == nil && strings.Contains(string(known), fmt.Sprintf("%x", sha256.Sum256(raw)))
	})
	x.keys("/permissions add Bash(git push:*) --scope local", enter)
	x.until(`settings changed: permissions\.allow(?s:.*)Bash\(git push:\*\)`) // it is another process that writes it
	x.keys("/permissions", enter)
	x.until(`allow Bash\(git push:\*\)`)
	x.keys("touch b", down, enter)
	x.until(`Take a rule back\?`)
	x.keys(enter)
	x.until(`taken back: Bash\(touch b\) stood in`)
	has("Bash(touch b)", false)
	has("Bash(git push:*)", true)
	x.keys("/permissions check touch b && ls", enter)
	x.until(`ask +touch b && ls`)

	own := filepath.Join(p.home, ".adze", "settings.json")
	p.settings(own, `{"permissions": {"deny": [" Bash(curl:*)", "Bash(wget:*)"]}}`)
	x.until(`settings changed: permissions\.deny(?s:.*)Bash\(wget:\*\)`)
	x.keys("/permissions", enter)
	x.until(`deny +Bash\(curl:\*\)`)
	x.keys("curl", enter)
	x.until(`❯ \d Leave it`)
	x.keys(down, enter)
	x.until(`taken back: Bash\(curl:\*\) stood in`)
	x.when("the other rule alone", func(string) bool {
		raw, err := os.ReadFile(own)
		return err == nil && !strings.Contains(string(raw), "curl") && strings.Contains(string(raw), "wget")
	})
}

// A rule of another agent's settings is not written, and is not said to be gone.
func TestUIPermissionsOfOthers(t *testing.T) {
	p := newPlace(t)
	p.settings(filepath.Join(p.home, ".claude", "settings.json"), `{"permissions": {"ask": ["Bash(curl:*)"]}}`)
	x := p.ui(100, 30, "> One.\n")
	x.until(`What shall be done here`)
	x.keys("/permissions", enter)
	x.until(`ask +Bash\(curl:`)
	x.keys(enter)
	x.until(`❯ \d Remove it`)
	x.keys(enter)
	x.until(`which adze reads and does\s+not write`)
}

// Esc stops, and what was queued is not sent by itself: it is in the prompt box.
func TestUIEscapeHoldsTheQueue(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, `@ Bash {"command": "`+waits+`"}
---
? prompt contains "steer me"
> I was steered.
---
? else
> Another prompt.
`, "--allowed-tools", "Bash(until:*),Bash([:*),Bash(sleep:*)", "go")
	x.until(`until \[ -e go-on`)
	x.keys("steer me", enter)
	x.until(`steer me +with the next step`)
	x.keys("and this", enter)
	x.until(`and this +with the next step`)
	x.keys("\x1b")
	x.until(`Interrupted`)
	x.until(`│ › steer me +│\n│   and this`)
	x.keys(enter)
	x.until(`● I was steered\.`)
	if s := x.all(); strings.Contains(s, "Another prompt") || strings.Count(s, "› steer me") != 1 {
		t.Errorf("sent by itself:\n%s", s)
	}
}

// waits is a command that runs until the file is there.
const waits = `until [ -e go-on ]; do sleep 0.02; done`

// A prompt that is sent while the model works goes along with the next step;
// one for later begins a turn of its own.
func TestUISteers(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, `@ Bash {"command": "`+waits+`"}
---
? prompt contains "mind the gap"
> I mind it.
---
? else
> Nobody said so.
---
> Now the other thing.
`, "--allowed-tools", "Bash(until:*),Bash([:*),Bash(sleep:*)", "go")
	x.until(`until \[ -e go-on`)
	x.keys("afterwards", "\t")
	x.until(`afterwards +when the turn is over`)
	x.keys("mind the gap", enter)
	x.until(`mind the gap +with the next step`)
	p.put("go-on", "")
	x.until(`● (I mind it|Nobody said so)\.`)
	x.until(`● Now the other thing\.`)
	at := 0
	for _, want := range []string{"› go", "until [", "› mind the gap", "● I mind it.", "› afterwards", "● Now the other thing."} {
		i := strings.Index(x.all()[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or in another order:\n%s", want, x.all())
		}
		at += i
	}
}

// Each way to answer a permission dialog does what it says, on disk and for
// the calls that follow.
func TestUIApprovesEachWay(t *testing.T) {
	const model = `@ Bash {"command": "touch one"}
---
? is_error == true
> As you like.
---
? else
@ Bash {"command": "SECOND"}
---
> Both are done.
`
	for name, c := range map[string]struct {
		keys   []string
		second string // the second call, "touch one" when it is empty
		asks   bool   // about the second call, too
		file   string // where a rule is kept
		done   bool   // the first call ran
	}{
		"once":          {keys: []string{enter}, asks: true, done: true},
		"session":       {keys: []string{down, enter}, done: true},
		"folder":        {keys: []string{down, "\x1b[C", enter}, done: true, file: "work/.adze/settings.local.json"},
		"project":       {keys: []string{down, "\x1b[C", "\x1b[C", enter}, done: true, file: "work/.adze/settings.json"},
		"everywhere":    {keys: []string{down, "\x1b[D", enter}, done: true, file: "home/.adze/settings.json"},
		"edited rule":   {keys: []string{down, "e", "\x15", "Bash(touch:*)", enter, enter}, second: "touch two", done: true},
		"no":            {keys: []string{"n", enter, enter}},
		"with a remark": {keys: []string{down, down, enter, "use make", enter}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			x := p.ui(90, 30, strings.Replace(model, "SECOND", cmp.Or(c.second, "touch one"), 1))
			x.until(`What shall be done here`)
			x.keys("go", enter)
			x.dialog(`Run this command\?`)
			for _, k := range c.keys {
				x.press(k)
			}
			switch {
			case !c.done:
				x.until(`● As you like\.`)
			case c.asks:
				x.until(`✓ Bash +touch one`)
				x.dialog(`Run this command\?`)
				x.keys(enter)
				fallthrough
			default:
				x.until(`● Both are done\.`)
			}
			if _, err := os.Stat(filepath.Join(p.dir, "one")); (err == nil) != c.done {
				t.Errorf("the call ran: %v", err == nil)
			}
			if c.file != "" {
				x.when("the rule in "+c.file, func(string) bool {
					raw, err := os.ReadFile(filepath.Join(filepath.Dir(p.dir), filepath.FromSlash(c.file)))
					return err == nil && strings.Contains(string(raw), "Bash(touch one)")
				})
			}
			if name == "with a remark" && !strings.Contains(x.all(), "use make") {
				t.Errorf("the remark is not shown:\n%s", x.all())
			}
		})
	}
}

// press types a key and waits until the screen shows something for it.
func (x *terminal) press(key string) {
	x.t.Helper()
	x.mu.Lock()
	n := len(x.bytes)
	x.mu.Unlock()
	x.keys(key)
	x.when("anything for a key", func(string) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.bytes) > n
	})
}

func TestUISwitchesModel(t *testing.T) {
	p := newPlace(t)
	other := p.put("other.txt", "> I am another one.\n")
	x := p.ui(80, 24, "> I am the first.\n")
	x.until(`What shall be done here`)
	x.keys("who are you?", enter)
	x.until(`● I am the first\.`)
	x.keys("/model script/"+other, enter)
	x.until(`model: script/`)
	x.keys("and now?", enter)
	x.until(`● I am another one\.`)
}

// /diff shows what is different now: nothing, once it was put back.
func TestUIDiffIsOfNow(t *testing.T) {
	p := newPlace(t)
	p.put("calc.go", "package calc\n")
	x := p.ui(80, 24, `@ Read {"file_path": "calc.go"}
---
@ Edit {"file_path": "calc.go", "old_string": "calc", "new_string": "sums"}
---
> Renamed.
`, "--permission-mode", "acceptEdits", "rename it")
	x.until(`● Renamed\.`)
	x.gone(`interrupts`)
	x.keys("/diff", enter)
	x.until(`1 file changed \+1 −1`)
	x.until(`1 \+ package sums`)
	x.keys(esc)
	p.put("calc.go", "package calc\n")
	x.gone(`1 file changed`)
	x.keys("/diff", enter)
	x.until(`no file is different`)
}

// A folder that is added counts at once, and is kept when that is wanted.
func TestUIAddsAFolder(t *testing.T) {
	p := newPlace(t)
	lib := filepath.Join(filepath.Dir(p.dir), "lib")
	if err := os.Mkdir(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	x := p.ui(80, 24, `@ Write {"file_path": "`+lib+`/a.go", "content": "package lib\n"}
---
> Written.
`, "--permission-mode", "acceptEdits")
	x.until(`What shall be done here`)
	x.keys("/add-dir ../nowhere", enter)
	x.until(`does not exist`)
	x.keys("/add-dir ../lib", enter)
	x.until(`can\s+be\s+used\s+as\s+this\s+folder\s+is`)
	x.keys("/add-dir", enter)
	x.until(`/lib \(/add-dir\)`)
	x.keys("write it", enter)
	x.until(`● Written\.`)
	if _, err := os.Stat(filepath.Join(lib, "a.go")); err != nil {
		t.Error(err)
	}
	x.keys("/add-dir --keep ../lib", enter)
	x.until(`it\s+ends\s+at\s+once`)
	raw, err := os.ReadFile(filepath.Join(p.dir, ".adze", "settings.local.json"))
	if err != nil || !strings.Contains(string(raw), lib) {
		t.Errorf("it is not kept: %v, %s", err, raw)
	}
}

// A session of another worktree of the repository goes on here, one of another
// folder names the command that goes there.
func TestUIResumesInWorktrees(t *testing.T) {
	p := newPlace(t)
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
		c.Dir, c.Env = p.dir, append(os.Environ(), "HOME="+p.home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "begin")
	tree, apart := filepath.Join(filepath.Dir(p.dir), "tree"), filepath.Join(filepath.Dir(p.dir), "apart")
	git("worktree", "add", "-q", "-b", "side", tree)
	if err := os.Mkdir(apart, 0o755); err != nil {
		t.Fatal(err)
	}
	model := p.put("model.txt", "> I was there.\n")
	for dir, said := range map[string]string{tree: "said in the worktree", apart: "said elsewhere"} {
		c := p.adze("-p", said, "--model", "script/"+model)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	x := p.ui(100, 30, "> Two.\n")
	x.until(`What shall be done here`)
	x.keys("/resume", enter)
	x.until(`said in the worktree`)
	x.keys("\x01") // Ctrl+A
	x.until(`said elsewhere`)
	x.keys("elsewhere")
	x.gone(`said in the worktree`)
	x.keys(enter)
	x.until(`cd .*apart && adze --resume`)
	x.keys("here it begins", enter)
	x.until(`● Two\.`)
	x.keys("/resume said nowhere", enter)
	x.until(`there is no session "said nowhere"`)
	x.keys("/resume elsewhere", enter)
	x.until(`(?s)said nowhere.*cd .*apart && adze --resume`)
	x.keys("and goes on", enter)
	x.until(`(?s)and goes on.*no more replies`)
	x.keys("/resume", enter)
	x.until(`said in the worktree`)
	x.keys(enter)
	s := x.until(`● I was there\.`)
	if strings.Contains(s, "this session was in") {
		t.Errorf("a cd was offered:\n%s", s)
	}
}

// What is typed before adze has the terminal is a prompt, and its Enter sends it.
func TestUITypedAhead(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "? prompt contains \"early\"\n> It came.\n---\n? else\n> It did not.\n")
	x.keys("typed early\n") // as the terminal hands it on after it edited the line
	x.until(`● It came\.`)
}
