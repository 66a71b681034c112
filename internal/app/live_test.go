package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// watched is a session that watches its settings from the start, and runs one
// command for each prompt.
type watched struct {
	*opened
	t         *testing.T
	dir, home string
	events    chan event.Event
	model     *fake.Model
	n         int
}

func watchSettings(t *testing.T, files map[string]string, change func(*options)) *watched {
	t.Helper()
	dir, home := scratch(t)
	r := &watched{t: t, dir: dir, home: home, events: make(chan event.Event, 256), model: &fake.Model{}}
	for name, text := range files {
		r.put(name, text)
	}
	o := options{Surroundings: here(dir, home), Front: Front{Lasting: true},
		Spec: Spec{Log: sessions.Choice{None: true}, Target: &agent.Target{Model: r.model, Provider: "fake", Name: "m"}}}
	if change != nil {
		change(&o)
	}
	before := goleak.IgnoreCurrent()
	a, err := o.open(t)
	if err != nil {
		t.Fatal(err)
	}
	r.opened = a
	if o.Person {
		attend(t, a)
	}
	gone := make(chan struct{})
	follow := a.Events(t.Context(), 0)
	go func() { // ends with the session
		defer close(gone)
		for e, err := range follow {
			if err != nil {
				return
			}
			r.events <- e
		}
	}()
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		<-gone
		goleak.VerifyNone(t, before)
	})
	if o.Lasting {
		a.place.live.Start() // what the session does by itself; now it has been done
	}
	return r
}

// attend puts a person there who can be asked.
func attend(t *testing.T, a *opened) {
	t.Helper()
	if err := a.Submit(t.Context(), op.Attach{Client: "test"}); err != nil {
		t.Fatal(err)
	}
}

// put writes a file of the home ("~/…") or the project the way editors do: to
// another file that is then renamed.
func (r *watched) put(name, text string) {
	r.t.Helper()
	path := r.path(name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path+".new", []byte(text), 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *watched) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(r.home, rest)
	}
	return filepath.Join(r.dir, name)
}

// run has the model run a command, and returns its result and whether it was
// refused.
func (r *watched) run(command string) (text string, denied bool) {
	r.t.Helper()
	r.n++
	in, err := json.Marshal(map[string]any{"command": command})
	if err != nil {
		r.t.Fatal(err)
	}
	r.model.Replies = append(r.model.Replies, fake.Use(llm.ToolUse{ID: fmt.Sprint("c", r.n), Name: "Bash", Input: in}), fake.Say("done"))
	if err := r.Submit(r.t.Context(), op.Prompt{Text: "go"}); err != nil {
		r.t.Fatal(err)
	}
	f := next[event.ToolFinished](r)
	next[event.TurnEnded](r)
	return f.Text, f.Denied
}

// next waits for an event of a kind.
func next[B event.Body](r *watched) (b B) {
	r.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e := <-r.events:
			if b, ok := e.Body.(B); ok {
				return b
			}
		case <-late:
			r.t.Fatalf("no %T came", b)
		}
	}
}

// begun has a first turn behind it, so that changes are recorded at once.
func (r *watched) begun() *watched {
	r.t.Helper()
	if text, denied := r.run("true"); denied {
		r.t.Fatal(text)
	}
	return r
}

const unconfined = `"sandbox":{"enabled":false}`

func TestLiveRulesOfAPerson(t *testing.T) {
	r := watchSettings(t, map[string]string{"~/.adze/settings.json": `{` + unconfined + `,"permissions":{"allow":["Bash(touch *)"]}}`}, nil).begun()
	if text, denied := r.run("touch one"); denied {
		t.Fatal(text)
	}
	r.put("~/.adze/settings.json", `{`+unconfined+`,"permissions":{"allow":["Bash(touch *)"],"deny":["Bash(touch two)"]},"env":{"MY_TOKEN":"planted"}}`)
	b := next[event.SettingsChanged](r)
	counts, _, _ := b.Lines()
	if got := strings.Join(counts, "\n"); !strings.HasPrefix(got, "permissions.deny: added Bash(touch two) ("+r.path("~/.adze/settings.json")+":1:") || !strings.Contains(got, "env: added MY_TOKEN=") || strings.Contains(got, "planted") {
		t.Errorf("told: %s", got)
	}
	if text, denied := r.run("touch two"); !denied || !strings.Contains(text, "Bash(touch two)") {
		t.Errorf("denied %t: %s", denied, text)
	}
	if text, denied := r.run("touch three"); denied {
		t.Error(text)
	}
}

func TestLiveVariablesAndSandbox(t *testing.T) {
	r := watchSettings(t, map[string]string{"~/.adze/settings.json": `{` + unconfined + `,"env":{"GREETING":"one"},"permissions":{"allow":["Bash(touch *)"]},"max_turns":7}`}, nil).begun()
	if text, _ := r.run("touch a; echo $GREETING"); !strings.Contains(text, "one") {
		t.Error(text)
	}
	if _, err := r.place.resolve(t.Context(), "mine"); err == nil {
		t.Error("an alias is known that is not there yet")
	}
	r.put("model.txt", "> hello\n")
	r.put("~/.adze/settings.json", fmt.Sprintf(`{"env":{"GREETING":"two"},"permissions":{"allow":["Bash(touch *)"]},"max_turns":1,"model_aliases":{"mine":"script/%s"}}`, r.path("model.txt")))
	b := next[event.SettingsChanged](r)
	var keys []string
	for _, c := range b.Changes {
		keys = append(keys, c.Key)
	}
	if !slices.Equal(keys, []string{"max_turns", "model_aliases", "env", "sandbox.enabled"}) {
		t.Errorf("told: %v", keys)
	}
	if m, err := r.place.resolve(t.Context(), "mine"); err != nil || m.Provider != "script" {
		t.Errorf("the new alias leads to %v %v", m, err)
	}
	if now, _ := r.sandboxes.Wants(); now != nil {
		t.Error("the sandbox counts before the next turn")
	}
	if text, _ := r.run("touch a; echo $GREETING"); !strings.Contains(text, "two") {
		t.Error(text)
	}
	if now, _ := r.sandboxes.Wants(); now == nil {
		t.Error("the sandbox does not count in the next turn")
	}
}

// An allow rule of a project counts when its content is trusted, and not before.
func TestLiveProjectNeedsTrust(t *testing.T) {
	r := watchSettings(t, map[string]string{"~/.adze/settings.json": `{` + unconfined + `}`}, nil).begun()
	r.put(".adze/settings.json", `{"permissions":{"allow":["Bash(touch *)"],"deny":["Bash(touch never)"]}}`)
	b := next[event.SettingsChanged](r)
	if len(b.Changes) != 1 || b.Changes[0].Key != "permissions.deny" || !slices.Equal(b.Untrusted, []string{r.path(".adze/settings.json")}) {
		t.Errorf("told: %+v", b)
	}
	if _, denied := r.run("touch a"); !denied {
		t.Error("a rule of a project counts that nobody trusts")
	}
	r.trust()
	if b := next[event.SettingsChanged](r); len(b.Changes) != 1 || b.Changes[0].Key != "permissions.allow" || len(b.Untrusted) != 0 {
		t.Errorf("told: %+v", b)
	}
	if text, denied := r.run("touch a"); denied {
		t.Error(text)
	}
	if _, denied := r.run("touch never"); !denied {
		t.Error("a deny rule of a project does not count")
	}
	// Changed again: what loosens waits, what was trusted and still stands stays.
	r.put(".adze/settings.json", `{"permissions":{"allow":["Bash(touch *)","Bash(mkdir *)"]}}`)
	next[event.SettingsChanged](r)
	for command, want := range map[string]bool{"touch a": false, "mkdir b": true, "touch never": true} {
		if text, denied := r.run(command); denied != want {
			t.Errorf("%s: denied %t: %s", command, denied, text)
		}
	}
	// Trust that is taken back.
	if _, err := r.place.Paths.Trust().Revoke(t.Context(), r.place.Paths.Root); err != nil {
		t.Fatal(err)
	}
	next[event.SettingsChanged](r)
	if _, denied := r.run("touch a"); !denied {
		t.Error("a rule counts whose trust was taken back")
	}
}

func (r *watched) trust() {
	r.t.Helper()
	v, err := r.place.Paths.Trust().Check(r.place.Paths.TrustFolder())
	if err == nil {
		err = r.place.Paths.Trust().Grant(r.t.Context(), v)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// --trust is for what the folder held at the start.
func TestLiveTrustFlagIsForTheStart(t *testing.T) {
	r := watchSettings(t, map[string]string{"~/.adze/settings.json": `{` + unconfined + `}`, ".adze/settings.json": `{"permissions":{"allow":["Bash(touch *)"]}}`},
		func(o *options) { o.Trusted = true }).begun()
	r.put(".adze/settings.json", `{"permissions":{"allow":["Bash(touch *)","Bash(mkdir *)"]}}`)
	if b := next[event.SettingsChanged](r); len(b.Untrusted) != 1 || len(b.Changes) != 0 {
		t.Errorf("told: %+v", b)
	}
	for command, want := range map[string]bool{"touch a": false, "mkdir b": true} {
		if text, denied := r.run(command); denied != want {
			t.Errorf("%s: denied %t: %s", command, denied, text)
		}
	}
}

// A file that breaks keeps its rules, and nothing passes without a question.
func TestLiveBrokenFile(t *testing.T) {
	const text = `{` + unconfined + `,"permissions":{"allow":["Bash(touch *)"],"deny":["Bash(touch never)"]}}`
	r := watchSettings(t, map[string]string{"~/.adze/settings.json": text}, nil).begun()
	r.put("~/.adze/settings.json", text[:len(text)-5])
	b := next[event.SettingsChanged](r)
	if len(b.Changes) != 0 || !strings.Contains(strings.Join(b.Problems, "\n"), "nothing passes without a question until this is mended") {
		t.Errorf("told: %+v", b)
	}
	if text, denied := r.run("touch never"); !denied || !strings.Contains(text, "Bash(touch never)") {
		t.Error(text)
	}
	if text, denied := r.run("touch a"); !denied || !strings.Contains(text, "settings.json") {
		t.Error(text)
	}
	r.put("~/.adze/settings.json", text+"\n")
	mended := []string{r.path("~/.adze/settings.json") + " can be read again, and counts", "what rules and the mode allow passes without a question again"}
	if b := next[event.SettingsChanged](r); !slices.Equal(b.Mended, mended) || len(b.Problems) != 0 {
		t.Errorf("told: %+v", b)
	}
	if text, denied := r.run("touch a"); denied {
		t.Error(text)
	}
}

// What of a changed file is not used is told at once, each thing once, with its place;
// that nothing passes without a question because of it, and that it does again, too.
func TestLiveMistakesAreTold(t *testing.T) {
	file := "~/.adze/settings.json"
	r := watchSettings(t, map[string]string{file: `{` + unconfined + `,"permissions":{"allow":["Bash(touch *)"]}}`}, nil).begun()
	told := func(text string, problems, mended []string) {
		t.Helper()
		r.put(file, `{`+unconfined+`,`+text+`}`)
		b := next[event.SettingsChanged](r)
		for _, c := range b.Changes {
			if slices.Contains(c.Added, "Bash(((") {
				t.Errorf("%s: what is not used is told as news: %+v", text, c)
			}
		}
		for i, s := range b.Problems {
			b.Problems[i] = strings.ReplaceAll(s, r.path(file), "FILE")
		}
		if strings.Join(b.Problems, "\n") != strings.Join(problems, "\n") || !slices.Equal(b.Mended, mended) {
			t.Errorf("%s: told %q, and mended %q", text, b.Problems, b.Mended)
		}
	}
	const rule = `permissions.allow: rule "Bash(((" is not used: `
	told(`"colour":1,"permissions":{"allow":["Bash(touch *)","Bash((("]}`, []string{
		`colour: not a setting this version knows; it is kept in the file and not used (FILE:1:30)`,
		rule + `the closing parenthesis is missing (FILE:1:81)`,
	}, nil)
	told(`"colour":1,"permissions":{"allow":["Bash(touch *)","Bash((("]},"max_turns":7`, nil, nil)
	told(`"permissions":{"allow":["Bash(touch *)"],"deny":["Bash((("]}`, []string{
		`permissions.deny: rule "Bash(((" is not used: the closing parenthesis is missing (FILE:1:79)`,
		`nothing passes without a question until this is mended: the deny rule "Bash(((" at FILE:1:79 cannot be read: the closing parenthesis is missing`,
	}, nil)
	if text, denied := r.run("touch a"); !denied || !strings.Contains(text, "cannot be read") {
		t.Error(text)
	}
	told(`"permissions":{"allow":["Bash(touch *)"]}`, nil, []string{"what rules and the mode allow passes without a question again"})
	if text, denied := r.run("touch a"); denied {
		t.Error(text)
	}
}

// waitFor waits for what no event tells.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(time.Minute); !is(); <-tick.C {
		if time.Now().After(late) {
			t.Fatalf("not %s", what)
		}
	}
}

// What this process wrote itself is no news, whenever it is noticed.
func TestLiveOwnWritesAreNoNews(t *testing.T) {
	r := watchSettings(t, map[string]string{"~/.adze/settings.json": `{` + unconfined + `}`}, func(o *options) { o.Person = true })
	r.model.Replies = append(r.model.Replies, fake.Use(llm.ToolUse{ID: "q", Name: "Bash", Input: json.RawMessage(`{"command":"touch a"}`)}), fake.Say("done"))
	if err := r.Submit(t.Context(), op.Prompt{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	q := next[event.Asked](r)
	if err := r.Submit(t.Context(), op.Answer{Call: q.Call, Allow: true, Rules: []string{"Bash(touch *)"}, Keep: op.ForLocal}); err != nil {
		t.Fatal(err)
	}
	next[event.TurnEnded](r)
	waitFor(r.t, "loaded", func() (is bool) {
		r.place.live.Hold(func() { is = len(r.place.Config().Permissions.Allow) == 1 })
		return is
	})
	r.put("~/.adze/settings.json", `{`+unconfined+`,"permissions":{"deny":["Bash(x)"]}}`)
	if b := next[event.SettingsChanged](r); len(b.Changes) != 1 || b.Changes[0].Key != "permissions.deny" {
		t.Errorf("told: %+v", b)
	}
}

// Files that are not there yet, links, and folders that go.
func TestLiveFilesThatComeAndGo(t *testing.T) {
	r := watchSettings(t, nil, nil)
	for i, step := range []struct {
		what string
		do   func()
	}{
		{"a first file", func() { r.put("~/.adze/settings.json", `{"permissions":{"deny":["Bash(a)"]}}`) }},
		{"the other agent's", func() { r.put("~/.claude/settings.json", `{"permissions":{"deny":["Bash(b)"]}}`) }},
		{"a link", func() {
			r.put("~/dots.json", `{"permissions":{"deny":["Bash(c)"]}}`)
			r.do(os.Remove(r.path("~/.adze/settings.json")), os.Symlink("../dots.json", r.path("~/.adze/settings.json")))
		}},
		{"behind the link", func() { r.put("~/dots.json", `{"permissions":{"deny":["Bash(d)"]}}`) }},
		{"a local file", func() { r.put(".adze/settings.local.json", `{"permissions":{"deny":["Bash(e)"]}}`) }},
		{"its folder is gone", func() { r.do(os.RemoveAll(r.path("~/.adze"))) }},
	} {
		step.do()
		want := []string{"a", "a b", "b c", "b d", "b d e", "b e"}[i]
		waitFor(r.t, step.what+": "+want, func() bool {
			have := map[string]bool{}
			for _, d := range r.place.Config().Permissions.Deny {
				have[strings.TrimSuffix(strings.TrimPrefix(d.Text, "Bash("), ")")] = true
			}
			return strings.Join(slices.Sorted(maps.Keys(have)), " ") == want
		})
	}
}

func (r *watched) do(errs ...error) {
	r.t.Helper()
	for _, err := range errs {
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// A run watches nothing before what it read is not fresh any more.
func TestOneBriefAnswerWatchesNothing(t *testing.T) {
	began := time.Now()
	r := watchSettings(t, nil, func(o *options) { o.Lasting = false })
	r.model.Replies = []fake.Reply{fake.Say("hello")}
	if err := r.Submit(t.Context(), op.Prompt{Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	next[event.TurnEnded](r)
	if is := r.place.live.Watching(); is && time.Since(began) < time.Second {
		t.Error("settings are watched")
	}
	waitFor(r.t, "watched, though the run goes on", r.place.live.Watching)
}
