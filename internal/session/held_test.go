package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
)

// A session that has no commands says so of each.
func TestNoCommands(t *testing.T) {
	r := start(t, nil, nil)
	r.refused(op.Prompt{Text: "/fmt x", Command: true}, op.NoCommand)
	if st := r.State(); st.Running != "" || len(st.Queue) != 0 {
		t.Errorf("it waits all the same: %+v", st.Queue)
	}
}

// gone has a command until it is taken away.
type gone struct{ away bool }

func (g *gone) Find(name string) error {
	if g.away {
		return errors.New("there is no command /" + name)
	}
	return nil
}

func (*gone) Expand(context.Context, string, string) (session.Expansion, error) {
	return session.Expansion{Text: "expanded"}, nil
}

// A command that went away while its prompt waited is not sent, and the person reads why.
func TestCommandThatWentAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gone{}
		r := start(t, nil, func(c *session.Config) { c.Commands = g }, fake.Use(call("a", "look", "", 1000)), fake.Say("one"))
		r.prompt("go")
		synctest.Wait()
		if err := r.Submit(t.Context(), op.Prompt{Text: "/fmt x", Command: true}); err != nil {
			t.Fatal(err)
		}
		g.away = true
		es := r.turns(1, nil)
		if n := all[event.Noted](es); len(n) != 1 || n[0].Level != "warning" || !strings.Contains(n[0].Text, "there is no command /fmt") {
			t.Errorf("told: %+v", n)
		}
		for _, q := range r.model.Requests() {
			if s := spoken(q.Messages); strings.Contains(s, "fmt") || strings.Contains(s, "expanded") {
				t.Errorf("the model reads %q", s)
			}
		}
		r.Close()
	})
}

// What a prompt's skill changed on disk belongs to the prompt, and only that.
func TestWhatACommandChanged(t *testing.T) {
	file := effect.Change{Path: "/w/a", After: effect.Version{Kind: effect.IsFile, Hash: "a"}}
	for name, want := range map[string]effect.Changed{"something": {Files: []effect.Change{file}}, "nothing": {}} {
		r := start(t, nil, func(c *session.Config) {
			c.Commands = commands(func(string, string) (session.Expansion, error) {
				return session.Expansion{Text: "x", Changed: want}, nil
			})
		}, fake.Say("ok"))
		if err := r.Submit(t.Context(), op.Prompt{Text: "/fmt", Command: true}); err != nil {
			t.Fatal(err)
		}
		r.turns(1, nil)
		in := newest[event.InputAccepted](r)
		if (in.Changed != nil) != want.Any() || in.Changed != nil && cmp.Diff(want, *in.Changed) != "" {
			t.Errorf("%s: %+v", name, in.Changed)
		}
		r.Close()
	}
}

// After a rewind the model knows the files that it knew then, and no others.
func TestRewindKnowsTheFilesOfThen(t *testing.T) {
	seen := func(path string) event.Body {
		return event.ToolFinished{Call: "c" + path, Name: "Read", Effects: []effect.Effect{effect.Saw{Files: []effect.File{{Path: path, Hash: "h"}}}}}
	}
	use := func(path string) event.Body {
		return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "c" + path, Name: "Read", Input: []byte(`{}`)}}}, Stop: "tool_use"}
	}
	log := &mem.Log{}
	r := start(t, log, nil, fake.Say("A1"))
	r.prompt("Q1")
	r.turns(1, nil)
	r.Close()
	log = reopened(t, log, event.InputAccepted{ID: "two", Text: "Q2"}, event.TurnStarted{ID: "t2"}, use("/w/early"), seen("/w/early"), event.TurnEnded{ID: "t2", How: event.Done},
		event.InputAccepted{ID: "three", Text: "Q3"}, event.TurnStarted{ID: "t3"}, use("/w/late"), seen("/w/late"), event.TurnEnded{ID: "t3", How: event.Done})
	files := &takenBack{}
	r = start(t, log, func(c *session.Config) { c.Files = files })
	if err := r.Submit(t.Context(), op.Rewind{To: "three", Conversation: true}); err != nil {
		t.Fatal(err)
	}
	if len(files.seen) != 1 || files.seen[0].Path != "/w/early" {
		t.Errorf("known: %+v", files.seen)
	}
	if got := newest[event.Rewound](r).Seen; len(got) != 1 || got[0].Path != "/w/early" {
		t.Errorf("recorded: %+v", got)
	}
	r.Close()
}

// To go back past a rewind of files takes back also what that rewind changed.
func TestRewindPastARewind(t *testing.T) {
	version := func(hash string) effect.Version { return effect.Version{Kind: effect.IsFile, Hash: hash} }
	log := &mem.Log{}
	r := start(t, log, nil, fake.Say("A1"))
	r.prompt("Q1")
	r.turns(1, nil)
	r.Close()
	was := []effect.Change{{Path: "/w/a", Before: version("2"), After: version("1")}}
	log = reopened(t, log, event.InputAccepted{ID: "two", Text: "Q2", Changed: &effect.Changed{Files: []effect.Change{{Path: "/w/a", Before: version("1"), After: version("2")}}}},
		event.Rewound{To: 5, Code: true, Changes: was})
	files := &takenBack{}
	r = start(t, log, func(c *session.Config) { c.Files = files })
	if err := r.Submit(t.Context(), op.Rewind{To: "two", Code: true}); err != nil {
		t.Fatal(err)
	}
	if len(files.changes) != 2 || cmp.Diff(was[0], files.changes[1]) != "" {
		t.Errorf("taken back: %+v", files.changes)
	}
	r.Close()
}

// A compaction is not taken back while something runs, nor from a log that cannot be read.
func TestCompactionIsNotTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &unreadable{Log: &mem.Log{}}
		r := talked(t, func(c *session.Config) { c.Log = log }, fake.Say("the summary"), fake.Use(call("c9", "look", "", 1000)), fake.Say("answer four"))
		if err := r.Submit(t.Context(), op.Compact{}); err != nil {
			t.Fatal(err)
		}
		r.turns(4, nil)
		r.prompt("prompt four")
		synctest.Wait()
		r.refused(op.Compact{Undo: true}, op.Busy)
		r.turns(5, nil)
		log.on = true
		if err := r.Submit(t.Context(), op.Compact{Undo: true}); !errors.Is(err, errDisk) {
			t.Errorf("from a log that cannot be read: %v", err)
		}
		if s := spoken(r.State().Messages()); !strings.Contains(s, "the summary") {
			t.Errorf("the conversation is %q", s)
		}
		r.Close()
	})
}

// Of many files that a call had changed as its process ended, the model is told some
// names and how many there are besides.
func TestCutCallOfManyFiles(t *testing.T) {
	for n, want := range map[int]string{1: "on disk: /w/0", 20: "/w/19", 23: "/w/19 and 3 more"} {
		var cut effect.Changed
		for i := range n {
			cut.Files = append(cut.Files, effect.Change{Path: fmt.Sprint("/w/", i), After: effect.Version{Kind: effect.IsFile, Hash: "a"}})
		}
		log := &mem.Log{}
		r := start(t, log, nil, fake.Say("A1"))
		r.prompt("Q1")
		r.turns(1, nil)
		r.Close()
		reply := event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "c1", Name: "Bash", Input: []byte(`{}`)}}}, Stop: "tool_use"}
		log = reopened(t, log, event.InputAccepted{ID: "second", Text: "Q2"}, event.TurnStarted{ID: "t2"}, reply, event.ToolStarted{Call: "c1", Name: "Bash"})
		r = start(t, log, func(c *session.Config) { c.Files = &takenBack{cut: cut} })
		if got := newest[event.ToolFinished](r).Text; !strings.HasSuffix(got, want) {
			t.Errorf("of %d files: %q", n, got)
		}
		r.Close()
	}
}

// answering is a hook that answers questions in a person's stead.
type answering struct {
	hooks
	answer op.Answer
	asked  *int
}

func (answering) Hooked(e hook.Event) bool { return e == hook.PermissionRequest }

func (a answering) Asks(context.Context, agent.Question, agent.Verdict) (op.Answer, bool) {
	*a.asked++
	return a.answer, true
}

// Rules that a hook's answer brings hold for the session, where nobody saves them too.
func TestRulesOfAHook(t *testing.T) {
	for name, a := range map[string]op.Answer{
		"rules":   {Allow: true, By: "h", Rules: []string{"risk"}},
		"changes": {Allow: true, By: "h", Changes: []op.RuleChange{{Kind: op.AddRules, Effect: policy.Allow, Rules: []string{"risk"}}}},
	} {
		bubble(name, t, func(t *testing.T) {
			asked := 0
			r := start(t, nil, func(c *session.Config) { c.Hooks = answering{answer: a, asked: &asked} },
				fake.Use(call("c1", "risk", "", 0)), fake.Use(call("c2", "risk", "", 0)), fake.Say("ok"))
			r.prompt("go")
			es := r.turns(1, nil)
			if n := all[event.Noted](es); asked != 1 || len(n) != 0 || result(es, "c1") != "risk:" || result(es, "c2") != "risk:" {
				t.Errorf("asked %d times, noted %+v, c1: %q, c2: %q", asked, n, result(es, "c1"), result(es, "c2"))
			}
			r.Close()
		})
	}
}

// A file that a prompt names brings along what begins to apply with it.
func TestNamedFilesBringWhatApplies(t *testing.T) {
	r := start(t, nil, func(c *session.Config) {
		c.Attach = func(context.Context, session.Naming) []event.Attached {
			return []event.Attached{{Name: "a.go", Text: "the file", Saw: []effect.File{{Path: "/w/a.go"}}}}
		}
		c.Loop.Touched = func(_ event.Seq, paths []string) []string { return []string{"rules of " + paths[0]} }
	}, fake.Say("ok"))
	r.prompt("see @a.go")
	in := all[event.InputAccepted](r.turns(1, nil))
	if a := in[0].Attached; len(a) != 1 || a[0].Text != "the file\nrules of /w/a.go" {
		t.Errorf("%+v", a)
	}
	r.Close()
}

// What is reported before the first prompt is in the log once there is one: the newest
// of each server, and of no other.
func TestReportsBeforeTheFirstPrompt(t *testing.T) {
	r := start(t, nil, nil, fake.Say("ok"))
	for _, b := range []event.Body{
		event.ServerChanged{Name: "a", State: event.ServerConnecting}, event.ServerChanged{Name: "b", State: event.ServerConnected},
		event.Extended{}, event.ServerChanged{Name: "a", State: event.ServerConnected}, event.Extended{},
		event.ServerChanged{Name: "c", State: event.ServerConnected},
	} {
		if err := r.Report(b); err != nil {
			t.Fatal(err)
		}
	}
	r.prompt("go")
	r.turns(1, nil)
	want := []event.ServerChanged{{Name: "b", State: event.ServerConnected}, {Name: "a", State: event.ServerConnected}, {Name: "c", State: event.ServerConnected}}
	if got := recorded[event.ServerChanged](r); cmp.Diff(want, got) != "" || times[event.Extended](r) != 1 {
		t.Errorf("%+v, %d times extended", got, times[event.Extended](r))
	}
	r.Close()
}

// Settings that name another model have the next turn ask it.
func TestSettingsChangeTheModel(t *testing.T) {
	other := &fake.Model{Replies: []fake.Reply{fake.Say("from the other")}}
	r := start(t, nil, nil, fake.Say("one"))
	r.prompt("go")
	r.turns(1, nil)
	target := agent.Target{Model: other, Provider: "fake", Name: "o"}
	if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop, Target: &target}, changed); err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop}, changed); err != nil { // none is no change
		t.Fatal(err)
	}
	r.prompt("again")
	r.turns(2, nil)
	if n := len(other.Requests()); n != 1 || r.State().Model != "fake/o" {
		t.Errorf("%d requests, the model is %q", n, r.State().Model)
	}
	r.Close()
}

// A rewind that cannot be had says why: there is none to take back, or the log cannot be read.
func TestRewindThatCannotBe(t *testing.T) {
	log := &unreadable{Log: &mem.Log{}}
	r := start(t, nil, func(c *session.Config) { c.Log = log }, fake.Say("one"))
	r.prompt("go")
	r.turns(1, nil)
	var no *op.Refusal
	if err := r.Submit(t.Context(), op.Rewind{Undo: true, Conversation: true}); !errors.As(err, &no) || no.Text != "there is no rewind to take back" {
		t.Errorf("to take back none: %v", err)
	}
	log.on = true
	for _, o := range []op.Op{op.Rewind{To: "x", Conversation: true}, op.Rewind{Undo: true, Conversation: true}} {
		if err := r.Submit(t.Context(), o); !errors.Is(err, errDisk) {
			t.Errorf("%+v, from a log that cannot be read: %v", o, err)
		}
	}
	r.Close()
}

// An answer with a rule that cannot be read is refused, and the question stays.
func TestAnswerWithABadRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("c1", "risk", "", 0)), fake.Say("ok")).attend()
		r.prompt("go")
		synctest.Wait()
		r.refused(op.Answer{Call: "c1", Allow: true, By: "one", Rules: []string{"Bash("}}, op.BadRule)
		if err := r.Submit(t.Context(), op.Answer{Call: "c1", Allow: true, By: "one"}); err != nil {
			t.Error(err)
		}
		es := r.turns(1, nil)
		if got := result(es, "c1"); got != "risk:" {
			t.Errorf("%q", got)
		}
		if a := all[event.Answered](es); len(a) != 1 || a[0].By != event.Client("one") || a[0].Answer.By != "" { // as it is read again
			t.Errorf("%+v", a)
		}
		r.Close()
	})
}

// Between turns the rules of a tool count for what goes on in the background.
func TestRulesBetweenTurns(t *testing.T) {
	r := start(t, nil, func(c *session.Config) {
		c.Rules = policy.Rules{Dir: "/w", Dirs: []string{"/w"}, List: []policy.Rule{settingsRule(t, "risk", policy.Allow, policy.User)}}
	})
	for tool, want := range map[string]policy.Effect{"risk": policy.Allow, "look": policy.Deny} {
		q := agent.Question{Tool: tool, Plan: planOf(policy.Exec{Argv: []string{"danger"}})}
		if v, err := r.Permit(t.Context(), q); v.Effect != want || (want == policy.Allow) != (err == nil) {
			t.Errorf("%s: %+v, %v", tool, v, err)
		}
	}
	r.Close()
}

func planOf(a ...policy.Action) tool.Plan { return tool.Plan{Actions: a} }

// One message is nothing to compact yet.
func TestNothingToCompact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Fail(llm.Error{Kind: llm.BadRequest, Provider: "fake", Status: 400, Err: errors.New("as asked")}))
		r.refused(op.Compact{}, op.Idle)
		r.prompt("go")
		r.turns(1, nil)
		if n := len(r.State().Messages()); n != 1 {
			t.Fatalf("%d messages", n)
		}
		r.refused(op.Compact{}, op.Idle)
		r.Close()
	})
}
