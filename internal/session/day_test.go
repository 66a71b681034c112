package session_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
)

var update = flag.Bool("update", false, "rewrite the golden records")

// A diary is what goes into a session and what comes out of it, a line each: an op
// (>), why it was refused (!), what it has others do (=), requests to models (?), and
// events, those that are not kept with a dot. What happens at the same time stands
// in this order.
type diary struct {
	text bytes.Buffer

	mu    sync.Mutex // guards since
	since map[byte][]string
}

func (d *diary) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	kind := line[0]
	if !strings.Contains(">!=?", line[:1]) {
		kind = 0
	}
	if d.since == nil {
		d.since = map[byte][]string{}
	}
	d.since[kind] = append(d.since[kind], line)
}

// wait waits until nothing happens any more, and notes what did.
func (d *diary) wait() {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, kind := range []byte(">!=?\x00") {
		for _, line := range d.since[kind] {
			d.text.WriteString(line + "\n")
		}
	}
	clear(d.since)
}

// do submits ops, each after what came of the one before is over.
func (d *diary) do(r *rig, os ...op.Op) {
	for _, o := range os {
		b, err := op.Marshal(o)
		if err != nil {
			r.t.Fatal(err)
		}
		d.write("> %s", b)
		d.failed(r.Submit(r.t.Context(), o))
	}
}

// failed notes why something was refused, and what came of it.
func (d *diary) failed(err error) {
	defer d.wait()
	var no *op.Refusal
	switch {
	case errors.As(err, &no):
		d.write("! %s: %s", no.Code, no.Text)
	case err != nil:
		d.write("! %v", err)
	}
}

// follow notes the events of a session until it is closed.
func (d *diary) follow(r *rig) (over <-chan struct{}) {
	done := make(chan struct{})
	go func() { // ends with the session
		defer close(done)
		for e, err := range r.watch {
			if err != nil {
				d.write("! %v", err)
				return
			}
			line, err := event.AppendLive(nil, e)
			if err != nil {
				line = fmt.Appendf(nil, "! %T: %v", e.Body, err)
			}
			if _, live := e.Body.(event.Live); live {
				d.write(". %s", line)
			} else {
				d.write("  %s", line)
			}
		}
	}()
	return done
}

// asks notes what a model is asked before it answers.
func (d *diary) asks(name string, answer fake.Reply) fake.Reply {
	return func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
		var tools, said []string
		for _, t := range q.Tools {
			tools = append(tools, t.Name)
		}
		if n := len(q.Messages); n > 0 {
			said = texts(llm.Request{Messages: q.Messages[n-1:]})
		}
		d.write("? %s: %d messages, the last %q; effort %q %d; tools %s", name, len(q.Messages), said, q.Effort, q.ThinkingTokens, strings.Join(tools, " "))
		answer(ctx, q, yield)
	}
}

// forever is answered the same each time.
func forever(f fake.Reply) []fake.Reply {
	out := make([]fake.Reply, 200)
	for i := range out {
		out[i] = f
	}
	return out
}

// lender is a tool that brings a skill.
func lender(k effect.Skill) tool.Tool {
	return tool.New(tool.Spec{Name: "learn"},
		func(in, tool.Env) (tool.Plan, error) { return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil },
		func(context.Context, in, tool.Env) (tool.Result, error) {
			return tool.Result{Text: "learnt", Effects: []tool.Effect{k}}, nil
		})
}

// inWords answers with the call that the newest words of the person name, as "call
// NAME ARGUMENT", or fails.
func inWords(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
	if strings.Contains(spoken(q.Messages), "under these nine headings") {
		fake.Say("the summary")(ctx, q, yield)
		return
	}
	last := texts(llm.Request{Messages: q.Messages[len(q.Messages)-1:]})
	last = slices.DeleteFunc(last, func(s string) bool { return strings.HasPrefix(s, "about ") }) // a hook's
	if len(last) > 0 {
		switch f := strings.Fields(last[len(last)-1]); f[0] {
		case "call":
			c := call(fmt.Sprint("c", len(q.Messages)), f[1], strings.Join(f[2:], " "), 5)
			if fake.Send(yield, c) && agent.Sleep(ctx, time.Millisecond) == nil { // the call begins before the reply ends
				yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{c}}, Stop: llm.WantTools, Usage: llm.Usage{In: 10, Out: 5}}, nil)
			}
			return
		case "fail":
			kind := llm.BadRequest
			if f[1] == "often" {
				kind = llm.Overloaded
			}
			fake.Fail(llm.Error{Kind: kind, Provider: "fake", Status: 418, Err: errors.New("no coffee"), Fix: "make tea"})(ctx, q, yield)
			return
		}
	}
	_ = agent.Sleep(ctx, time.Millisecond)
	fake.Say("ok")(ctx, q, yield)
}

// All that a session records, shows, refuses and sends in a day in which everything
// happens: whatever of it changes has to be looked at (go test ./internal/session
// -run TestDiary -update).
func TestDiary(t *testing.T) {
	d := &diary{}
	synctest.Test(t, func(t *testing.T) { d.live(t) })
	path := filepath.Join("testdata", "diary.txt")
	if *update {
		if err := os.WriteFile(path, d.text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), d.text.String()); diff != "" {
		t.Errorf("(-recorded +now):\n%s", diff)
	}
}

func (d *diary) live(t *testing.T) {
	other := agent.Target{Model: &fake.Model{Replies: forever(d.asks("other", inWords))}, Provider: "fake", Name: "other"}
	judge := &fake.Model{Replies: forever(func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
		if strings.Contains(spoken(q.Messages), "evil") {
			rule("block", "it is evil")(ctx, q, yield)
			return
		}
		rule("allow", "it was asked for")(ctx, q, yield)
	})}
	files := &takenBack{}
	r := start(t, nil, func(c *session.Config) {
		var have []tool.Tool
		for _, name := range c.Tools.Names() {
			one, _ := c.Tools.Get(name)
			have = append(have, one)
		}
		set, err := tool.NewSet(append(have, lender(effect.Skill{Name: "cook", From: "a plugin", Rules: []string{"risk", "Bash("}, Deny: []string{"look"}, Model: "other", Effort: "low"}))...)
		if err != nil {
			t.Fatal(err)
		}
		c.Tools, c.Files = set, files
		c.Hooks = hooks{prompt: func(_ context.Context, p event.InputQueued) (session.Admission, error) {
			switch {
			case strings.Contains(p.Text, "secret"):
				return session.Admission{Refused: "no secrets"}, nil
			case strings.Contains(p.Text, "unclear"):
				return session.Admission{}, errors.New("the hook fell over")
			}
			return session.Admission{Context: []string{"about " + p.ID}}, nil
		}}
		c.Commands = commands(func(name, args string) (session.Expansion, error) {
			if name == "bad" {
				return session.Expansion{}, errors.New("it cannot be made")
			}
			return session.Expansion{
				Text: name + " with " + args, Skill: &effect.Skill{Name: name, Effort: "boundless", Model: "nobody's"},
				Changed: effect.Changed{Files: []effect.Change{{Path: "/w/made", After: effect.Version{Kind: effect.IsFile, Hash: "h"}}}},
			}, nil
		})
		c.Situation = event.Situated{Parts: []event.Situation{{Name: "env", Text: "there"}}}
		c.Resituate = func(_, _ event.Situated) string { return "you are elsewhere" }
		c.Remind = func(told, now policy.Mode) string {
			if told == now {
				return ""
			}
			return fmt.Sprint("the mode was ", told, " and is ", now)
		}
		c.Resolve = func(_ context.Context, name string) (agent.Target, error) {
			if name != "other" {
				return agent.Target{}, errors.New("there is no model " + name)
			}
			return other, nil
		}
		c.Target.EffortWarning = func(e llm.Effort, tokens int) string {
			if e == llm.EffortHigh || tokens > 0 {
				return "it does not listen"
			}
			return ""
		}
		c.Shell = func(_ context.Context, cmd session.Command, progress func(string)) event.Ran {
			progress("so far")
			time.Sleep(time.Duration(len(cmd.ID+cmd.Text)) * time.Second / 10)
			return event.Ran{Text: cmd.Text + " in " + cmd.Dir}
		}
		c.Keep = func(_ context.Context, tool string, where op.Keep, rules []string) error {
			d.write("= rules of %s are kept for %q: %q", tool, where, rules)
			if where == op.ForUser {
				return errors.New("the file cannot be written")
			}
			return nil
		}
		c.Folders = func(_ context.Context, list []op.FolderChange) error {
			d.write("= folders: %+v", list)
			return nil
		}
		c.Attach = func(_ context.Context, n session.Naming) []event.Attached {
			return []event.Attached{{Name: "a.go", Text: "the file", Saw: []effect.File{{Path: "/w/a.go", Hash: "h"}}}}
		}
		c.Tasks = known{"c1": true, "b1": true}
		c.Auto = &auto.Classifier{Model: auto.Small{Model: judge, Name: "small"}}
		c.Forbidden = map[policy.Mode]string{policy.Bypass: "the settings say so"}
		c.WarnUSD, c.AskDear = 2, true
	}, forever(d.asks("m", inWords))...)
	over := d.follow(r)
	d.wait()
	rest := func() {
		time.Sleep(time.Second)
		d.wait()
	}
	alone := func(os ...op.Op) { // each when the one before has come to its end
		for _, o := range os {
			d.do(r, o)
			rest()
		}
	}
	answer := func(as ...op.Answer) {
		for _, a := range as {
			for call := range r.State().Pending {
				a.Call, a.By = call, "one"
				d.do(r, a)
			}
		}
		rest()
	}
	// Nothing is there yet.
	d.do(r, op.Interrupt{}, op.Unqueue{ID: "p0"}, op.Answer{Call: "c0", Allow: true}, op.Compact{}, op.Compact{Undo: true}, op.Rewind{To: "p0", Conversation: true},
		op.Rewind{Undo: true, Conversation: true}, op.SetMode{Mode: "wild"}, op.SetMode{Mode: "bypassPermissions"}, op.SetEffort{Level: "boundless"}, op.SetModel{Name: "nobody's"},
		op.Shell{Command: " "}, op.Background{Call: "c9"}, op.StopTask{ID: "b9"}, op.Prompt{Text: "/none x", Command: true})
	// Commands of the person's own, two at once, and what the model is told with the prompt.
	d.do(r, op.Notify{Text: "a build is done"}, op.Shell{Command: "ls"}, op.Shell{Command: "pwd"}, op.Shell{ID: "s9", Command: "ps"}, op.Shell{ID: "s9", Command: "ps"})
	rest()
	alone(op.Prompt{Text: "call risk nobody is there"})
	// A queue behind a question.
	d.do(r, op.Attach{Client: "one"}, op.Attach{Client: "two"}, op.Prompt{ID: "p1", Text: "call risk one"}, op.Rewind{To: "p1", Conversation: true}, op.Compact{Undo: true},
		op.Prompt{ID: "p2", Text: "see @a.go", Tokens: 9000}, op.Prompt{Text: "later", Later: true}, op.Prompt{ID: "p3", Text: "a secret"}, op.Prompt{ID: "p4", Text: "taken back"},
		op.Unqueue{ID: "p4"}, op.SetMode{Mode: "acceptEdits"}, op.Detach{Client: "two"})
	answer(op.Answer{Allow: true, Mode: "nowhere"}, op.Answer{Allow: true, Changes: []op.RuleChange{{Kind: "twist"}}}, op.Answer{Allow: true, Rules: []string{"Bash("}}, op.Answer{Comment: "not this one"})
	// Every kind of answer.
	for i, a := range []op.Answer{
		{Allow: true, Comment: "mind the gap", Mode: policy.Default}, {Dismissed: true}, {Comment: "exactly this", Exact: true}, {Comment: "not here", Keep: op.ForLocal},
		{Allow: true, Input: input("rewritten")}, {Allow: true, Folders: []op.FolderChange{{Dirs: []string{"/x"}, Keep: op.ForLocal}}},
		{Allow: true, Rules: []string{"Bash(other)"}, Keep: op.ForUser}, {Allow: true, Keep: op.ForProject},
	} {
		d.do(r, op.Prompt{ID: fmt.Sprint("a", i), Text: fmt.Sprint("call risk answer ", i)})
		answer(a)
	}
	alone(op.Prompt{ID: "r1", Text: "call risk by the rule"})
	d.do(r, op.Prompt{ID: "a8", Text: "call conf"})
	answer(op.Answer{Allow: true, Changes: []op.RuleChange{{Kind: op.RemoveRules, Effect: policy.Allow, Rules: []string{"Bash(danger)"}}, {Kind: op.AddRules, Effect: policy.Deny, Rules: []string{"peek"}}}})
	alone(op.Prompt{ID: "a9", Text: "call peek denied"})
	// Skills, commands, failures, models, efforts.
	alone(op.Prompt{ID: "k1", Text: "call learn"}, op.Prompt{ID: "k2", Text: "/fix it\nall", Command: true}, op.Prompt{ID: "k8", Text: "/fix\nall of it", Command: true}, op.Prompt{ID: "k3", Text: "/bad", Command: true}, op.Prompt{ID: "k4", Text: "unclear"}, op.Prompt{ID: "k5", Text: "fail now"})
	alone(op.SetEffort{Level: "high"}, op.SetEffort{Tokens: 2000}, op.Prompt{ID: "k6", Text: "go"}, op.SetModel{Name: "other"}, op.SetEffort{}, op.Prompt{ID: "k7", Text: "call shell cd /elsewhere"})
	// What happens beside turns.
	d.failed(r.Entitle(t.Context(), "a title", event.Spent{For: "title", Cost: 3}))
	d.do(r, op.Rename{Title: "another"}, op.StopTask{ID: "b1"}, op.Background{Call: "c1"})
	d.failed(r.Report(event.TaskStarted{ID: "b1", Kind: "shell"}))
	d.failed(r.Report(event.TaskEnded{ID: "b1"}))
	d.do(r, op.Prompt{ID: "m0", Text: "call look it became dear"})
	answer(op.Answer{Allow: true})
	// The modes and the classifier; the last person leaves a question behind.
	alone(op.SetMode{Mode: "auto"}, op.Prompt{ID: "m1", Text: "call risk auto"}, op.Prompt{ID: "m2", Text: "call risk evil"}, op.SetMode{Mode: "plan"})
	d.do(r, op.Prompt{ID: "m3", Text: "call risk plan"})
	answer(op.Answer{})
	alone(op.SetMode{Mode: "default"})
	d.do(r, op.Prompt{ID: "m4", Text: "call risk alone"}, op.Detach{Client: "one"})
	rest()
	// Back and forth.
	alone(op.Rewind{To: "m1", Conversation: true, Code: true, Preview: true}, op.Rewind{To: "m1", Conversation: true, Code: true}, op.Prompt{ID: "n1", Text: "again"},
		op.Rewind{To: "n1", Conversation: true}, op.Rewind{Undo: true, Code: true}, op.Rewind{Undo: true, Conversation: true, Code: true}, op.Rewind{To: "k2", Code: true}, op.Rewind{Undo: true, Conversation: true},
		op.Rewind{Undo: true, Code: true, Preview: true}, op.Rewind{Undo: true, Code: true}, op.Compact{}, op.Rewind{To: "k6", Conversation: true}, op.Compact{Undo: true}, op.Rewind{Undo: true, Conversation: true},
		op.Compact{From: "n1", UpTo: "k1"}, op.Compact{From: "nothing"}, op.Compact{UpTo: "k6", Focus: " tea "}, op.Compact{From: "1"}, op.Compact{Undo: true}, op.Compact{}, op.Compact{Undo: true})
	d.do(r, op.Prompt{ID: "n2", Text: "call act for long"})
	time.Sleep(2 * time.Millisecond) // the call runs, and the reply is over
	d.do(r, op.Interrupt{}, op.Prompt{ID: "n3", Text: "the last"})
	rest()
	d.failed(r.Close())
	<-over
	d.wait()
	d.failed(r.Submit(t.Context(), op.Prompt{Text: "too late"}))

	// The next process.
	log := again(t, r.log)
	r = start(t, log, func(c *session.Config) {
		c.Situation = event.Situated{Parts: []event.Situation{{Name: "env", Text: "elsewhere"}}}
		c.Resituate = func(was, now event.Situated) string { return was.Parts[0].Text + " became " + now.Parts[0].Text }
		c.Loop.Fallbacks = []agent.Target{{Model: &fake.Model{Replies: forever(d.asks("spare", fake.Say("from the spare")))}, Provider: "fake", Name: "spare"}}
	}, forever(d.asks("m", inWords))...)
	over = d.follow(r)
	d.wait()
	d.do(r, op.SetModel{Name: "other"}, op.Shell{Command: "ls"}, op.Background{Call: "c1"}, op.StopTask{ID: "b1"}, op.Rewind{To: "n1", Code: true}, op.Prompt{Text: "/fix", Command: true})
	for _, p := range []op.Prompt{{ID: "z1", Text: "and on"}, {ID: "z2", Text: "fail often"}} {
		d.do(r, p)
		time.Sleep(time.Hour)
		d.wait()
	}
	d.failed(r.Close())
	<-over
	d.wait()
}
