package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/jsonl"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// a keptRun is one run of a session on disk.
type keptRun struct {
	*opened
	t      *testing.T
	events chan event.Event
	model  *fake.Model
	notes  []string
}

// kept opens a session in dir with the state of home.
func kept(t *testing.T, dir, home string, s sessions.Choice) *keptRun {
	t.Helper()
	r := &keptRun{t: t, events: make(chan event.Event, 256), model: &fake.Model{}}
	o := options{Surroundings: here(dir, home), Sources: settings.Sources{Inline: `{"sandbox":{"enabled":false}}`}, Front: Front{Person: true},
		Spec: Spec{Log: s, Target: &agent.Target{Model: r.model, Provider: "fake", Name: "m", Images: true}}}
	o.Note = func(s string) { r.notes = append(r.notes, s) }
	a, err := o.open(t)
	if err != nil {
		t.Fatal(err)
	}
	r.opened = a
	attend(t, a)
	follow := a.Events(t.Context(), a.After)
	go func() { // ends with the session
		for e, err := range follow {
			if err != nil {
				return
			}
			r.events <- e
		}
		close(r.events)
	}()
	return r
}

// run has the model call Bash, answers a question with these rules, and says
// whether there was one.
func (r *keptRun) run(command string, rules ...string) (asked bool) {
	r.t.Helper()
	in, err := json.Marshal(map[string]any{"command": command})
	if err != nil {
		r.t.Fatal(err)
	}
	r.model.Replies = append(r.model.Replies, fake.Use(llm.ToolUse{ID: fmt.Sprint("c", len(r.model.Replies)), Name: "Bash", Input: in}), fake.Say("done"))
	if err := r.Submit(r.t.Context(), op.Prompt{Text: "go"}); err != nil {
		r.t.Fatal(err)
	}
	for e := range r.events {
		switch b := e.Body.(type) {
		case event.Asked:
			asked = true
			if err := r.Submit(r.t.Context(), op.Answer{Call: b.Call, Allow: len(rules) > 0, Rules: rules}); err != nil {
				r.t.Error(err)
			}
		case event.Noted:
			r.t.Error(b.Text)
		case event.TurnEnded:
			return asked
		default:
		}
	}
	r.t.Fatal("the session ended")
	return false
}

func (r *keptRun) close() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Error(err)
	}
}

// 0DIN: what was granted for a session holds when it is resumed in the same
// folder, for this session alone.
func Test0DIN_GrantsAreRestored(t *testing.T) {
	dir, home := scratch(t)
	first := kept(t, dir, home, sessions.Choice{})
	if !first.run("touch a", "Bash(touch *)") || first.run("touch b") {
		t.Error("the rule does not hold in its session")
	}
	if !first.run("mkdir d") { // refused
		t.Error("nothing was asked")
	}
	first.close()

	again := kept(t, dir, home, sessions.Choice{Resume: first.ID})
	if again.run("touch c") {
		t.Error("asked again after a resume")
	}
	if !again.run("mkdir d") {
		t.Error("what was refused is allowed")
	}
	if len(again.notes) > 0 {
		t.Errorf("notes: %q", again.notes)
	}
	again.close()

	fork := kept(t, dir, home, sessions.Choice{Resume: first.ID, Fork: true})
	if !fork.run("touch d") {
		t.Error("a copy has the rules of its parent")
	}
	if len(fork.notes) > 0 {
		t.Errorf("notes of a copy: %q", fork.notes)
	}
	fork.close()

	// A new session that is given the ID of one that was removed begins without.
	if err := os.RemoveAll(first.Stored()); err != nil {
		t.Fatal(err)
	}
	reborn := kept(t, dir, home, sessions.Choice{ID: first.ID})
	if !reborn.run("touch c", "Bash(touch *)") {
		t.Error("a new session has the rules of one that is gone")
	}
	reborn.close()

	other, _ := scratch(t)
	moved := kept(t, other, home, sessions.Choice{Resume: first.ID})
	if !moved.run("touch e") {
		t.Error("the rules hold in another folder")
	}
	moved.close()
}

// What is taken back is asked about again, also when the session is resumed.
func TestRevokedGrants(t *testing.T) {
	dir, home := scratch(t)
	first := kept(t, dir, home, sessions.Choice{})
	first.run("touch a", "Bash( touch * )", "Bash(mkdir *)")
	if err := first.Submit(t.Context(), op.Revoke{Rules: []string{"Bash(touch *)"}}); err != nil {
		t.Fatal(err)
	}
	if n, ok := (<-first.events).Body.(event.Noted); !ok || n.Level != "info" {
		t.Errorf("%+v", n)
	}
	if !first.run("touch b") || first.run("mkdir d") {
		t.Error("it is not asked again about what was taken back alone")
	}
	first.close()
	again := kept(t, dir, home, sessions.Choice{Resume: first.ID})
	if !again.run("touch c") || again.run("mkdir e") {
		t.Error("after a resume it is not asked about what was taken back alone")
	}
	again.close()
}

// 0DIN: a transcript that was edited to hold approvals gives nothing, and the
// person is told once that it was edited.
func Test0DIN_AnEditedTranscriptGrantsNothing(t *testing.T) {
	dir, home := scratch(t)
	first := kept(t, dir, home, sessions.Choice{})
	first.run("touch a", "Bash(touch a)")
	where := first.Stored()
	first.close()

	path := filepath.Join(where, jsonl.LogName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(text), `"rules":["Bash(touch a)"]`, `"rules":["Bash(touch *)","Bash(mkdir *)"]`, 1)
	if forged == string(text) {
		t.Fatal("there is no grant to forge")
	}
	last := 0
	if _, err := fmt.Sscanf(forged[strings.LastIndex(strings.TrimSpace(forged), "\n")+1:], `{"seq":%d`, &last); err != nil {
		t.Fatal(err)
	}
	for i, line := range []string{
		`{"seq":%d,"time":"2026-01-02T03:04:05Z","type":"mode_changed","mode":"bypassPermissions"}`,
		`{"seq":%d,"time":"2026-01-02T03:04:05Z","type":"asked","call":"x","tool":"Bash","verdict":{"effect":"ask"}}`,
		`{"seq":%d,"time":"2026-01-02T03:04:05Z","type":"answered","call":"x","allow":true,"by":"person","rules":["Bash(*)","Bash(mkdir *)"]}`,
	} {
		forged += fmt.Sprintf(line+"\n", last+1+i)
	}
	if err := os.WriteFile(path, []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}

	again := kept(t, dir, home, sessions.Choice{Resume: first.ID})
	if n := len(again.notes); n != 1 || !strings.Contains(again.notes[0], "changed by another program since adze wrote it (4 lines)") {
		t.Errorf("notes: %q", again.notes)
	}
	if again.run("touch a") {
		t.Error("the rule that a person did grant is lost")
	}
	for _, command := range []string{"touch b", "mkdir d"} {
		if !again.run(command) {
			t.Errorf("%s runs without a question", command)
		}
	}
	again.close()
}

// The key is one of the files that commands and tools are kept from.
func TestSealKeyIsASecret(t *testing.T) {
	dir, home := scratch(t)
	r := kept(t, dir, home, sessions.Choice{})
	path := filepath.Join(r.place.Paths.State, seal.KeyName)
	for _, command := range []string{"cat " + path, "cp " + path + " k", "echo x > " + path} {
		if !r.run(command) {
			t.Errorf("%s runs without a question", command)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v %v", info, err)
	}
	r.close()
}
